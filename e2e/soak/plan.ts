/**
 * Computes the plan of a soak test: its calls, its faults and their times. The plan depends only on the seed and the
 * duration, so a run can be repeated.
 */

import { SeededRandom } from './random.ts';
import type { ClientKind } from './soak-client.ts';

/** TimeoutLimits selects the daemon's time limits: the real limits, or short limits that many calls reach. */
export type TimeoutLimits = 'short' | 'real';

export const limitsByName = {
  short: { idleMs: 8_000, hardMs: 30_000 },
  real: { idleMs: 30_000, hardMs: 300_000 },
} as const;

/**
 * maxResultBytes is the daemon's limit for the size of a tool's result during the soak test. A few planned calls return
 * a result that is larger than maxResultBytes.
 */
export const maxResultBytes = 20 << 20;
/**
 * maxRunning is the daemon's limit for running calls during the soak test. A planned flood starts more concurrent calls
 * than maxRunning.
 */
export const maxRunning = 100;

/** callKinds maps each kind of call to its weight in the random choice. */
export const callKinds = {
  echo: 34,
  steps: 16,
  noProgress: 4,
  long: 5,
  silent: 3,
  ignoresAbort: 2,
  forever: 1,
  big: 4,
  tooBig: 1,
  fails: 4,
  throws: 2,
  invalid: 3,
  unknown: 2,
  cancelled: 9,
  disconnected: 4,
  flood: 0.6,
} as const;
export type CallKind = keyof typeof callKinds;

/** faultKinds maps each kind of fault to its weight in the random choice. */
export const faultKinds = {
  'worker stopped': 3,
  'link cut': 3,
  'link half-open': 2,
  'server SIGTERM': 1,
  'server SIGKILL': 1,
  'server SIGSTOP': 1.5,
  'tab reloaded': 2,
  'tab navigated': 2,
  'tab away and back': 1.5,
  'tab closed': 1.5,
  'tab discarded': 1,
  'tab frozen': 1,
  'extension reloaded': 1,
  'browser SIGKILL': 0.7,
  'session deleted': 1.5,
  'client killed': 1.5,
  'panel opened': 1,
} as const;
export type FaultKind = keyof typeof faultKinds;

/**
 * PlannedCall is one call in the plan of a soak test. atMs is the call's planned time since the start, in milliseconds.
 */
export interface PlannedCall {
  readonly atMs: number;
  /** The field `client` is the index, in the list of test clients, of the client that makes the call. */
  readonly client: number;
  readonly kind: CallKind;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly stopAfterMs?: number;
  /**
   * The field `tab` is the number of the tab that the call's arguments name. If `tab` is absent, the daemon chooses a
   * tab for the call.
   */
  readonly tab?: number;
}

/** PlannedFault is one fault of a soak test's plan. forMs is the duration of the fault, or 0 for a momentary fault. */
export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly forMs: number;
  /** The fields `tab` and `client` are the indexes of the tab and the client that the fault may affect. */
  readonly tab: number;
  readonly client: number;
  /** limits are the daemon's time limits after a planned restart. */
  readonly limits: TimeoutLimits;
}

/** SoakPlan contains all calls and faults of a soak test, ordered by time. */
export interface SoakPlan {
  readonly seed: number;
  readonly durationMs: number;
  readonly clients: readonly ClientKind[];
  readonly tabs: number;
  readonly calls: readonly PlannedCall[];
  readonly plannedFaults: readonly PlannedFault[];
}

const meanCallGapMs = 110;
const floodCallCount = 200;

/**
 * sdkStdioMaxBytes limits the size of results for the official stdio client, which disconnects after a message of 10
 * MiB. A message contains each tool result twice: as text and as structured content.
 */
const sdkStdioMaxBytes = 4_000_000;

/** makePlan computes the plan of a soak test from a seed. */
export function makePlan(randomSeed: number, durationMs: number): SoakPlan {
  const seededRandom = new SeededRandom(randomSeed);
  const clients: ClientKind[] = ['http', 'http', 'http', 'http', 'http-sdk', 'http-sdk', 'stdio', 'stdio', 'stdio-sdk'];
  const tabs = 3;
  const plannedFaults = planFaults(seededRandom, durationMs, clients.length, tabs);
  const calls: PlannedCall[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += seededRandom.nextFraction() * 2 * meanCallGapMs) {
    const currentLimits = findTimeoutLimitsAt(plannedFaults, atMs);
    const client = seededRandom.nextWholeNumber(0, clients.length - 1);
    const tab = seededRandom.nextFraction() < 0.25 ? { tab: seededRandom.nextWholeNumber(0, tabs - 1) } : {};
    const kind = seededRandom.pickWeighted(callKinds);
    const count = kind === 'flood' ? floodCallCount : 1;
    for (let i = 0; i < count; i++) {
      calls.push({
        atMs,
        client,
        ...tab,
        ...planCallContent(seededRandom, kind, currentLimits, `k${calls.length}`, clients[client]),
      });
    }
  }
  return { seed: randomSeed, durationMs, clients, tabs, calls, plannedFaults };
}

function planFaults(seededRandom: SeededRandom, durationMs: number, clients: number, tabs: number): PlannedFault[] {
  const plannedFaults: PlannedFault[] = [];
  let currentLimits: TimeoutLimits = 'short';
  // The last 10 s of the plan contain no faults, so that the soak test observes the effects of the last fault.
  for (let atMs = 6_000; atMs < durationMs - 10_000; atMs += 3_000 + seededRandom.nextFraction() * 11_000) {
    const kind = seededRandom.pickWeighted(faultKinds);
    const randomFraction = seededRandom.nextFraction();
    if (kind === 'server SIGTERM' || kind === 'server SIGKILL') currentLimits = randomFraction < 0.3 ? 'real' : 'short';
    const forMs = planFaultDuration(kind, seededRandom.nextFraction());
    const tab = seededRandom.nextWholeNumber(0, tabs - 1);
    plannedFaults.push({
      atMs,
      kind,
      forMs,
      tab,
      client: seededRandom.nextWholeNumber(0, clients - 1),
      limits: currentLimits,
    });
  }
  return plannedFaults;
}

function planFaultDuration(kind: FaultKind, randomFraction: number): number {
  switch (kind) {
    case 'link cut':
      return randomFraction * 3_000;
    case 'link half-open':
      return 1_000 + randomFraction * 5_000;
    case 'server SIGSTOP':
      return 300 + randomFraction * 5_000;
    case 'tab frozen':
      return 500 + randomFraction * 2_000;
    case 'tab away and back':
    case 'panel opened':
      return 200 + randomFraction * 2_000;
    default:
      return 0;
  }
}

/**
 * findTimeoutLimitsAt returns the daemon's time limits at a moment of the plan. In a soak test, the daemon's limits can
 * change later than planned, because a restart can be slow.
 */
function findTimeoutLimitsAt(plannedFaults: readonly PlannedFault[], atMs: number): TimeoutLimits {
  return (
    plannedFaults.findLast((plannedFault) => plannedFault.atMs <= atMs && plannedFault.kind.startsWith('server SIG'))
      ?.limits ?? 'short'
  );
}

type PlannedCallContent = Pick<PlannedCall, 'kind' | 'tool' | 'args' | 'stopAfterMs'>;

/** planCallContent randomly chooses the tool and the arguments of one call. */
function planCallContent(
  seededRandom: SeededRandom,
  kind: CallKind,
  currentLimits: TimeoutLimits,
  key: string,
  client: ClientKind | undefined,
): PlannedCallContent {
  const { idleMs } = limitsByName[currentLimits];
  switch (kind) {
    case 'echo':
      return {
        kind,
        tool: 'echo',
        args: {
          key,
          value: { n: seededRandom.nextFraction(), text: 'x'.repeat(seededRandom.nextWholeNumber(0, 2000)) },
        },
      };
    case 'steps':
    case 'noProgress':
      return {
        kind,
        tool: 'steps',
        args: { key, count: seededRandom.nextWholeNumber(2, 40), everyMs: seededRandom.nextWholeNumber(5, 200) },
      };
    case 'long':
      return {
        kind,
        tool: 'beat',
        args: {
          key,
          everyMs: seededRandom.nextWholeNumber(700, 1500),
          forMs: idleMs * (1.2 + seededRandom.nextFraction()),
        },
      };
    case 'silent':
      return { kind, tool: 'silent', args: { key, forMs: 600_000 } };
    case 'ignoresAbort':
      return { kind, tool: 'silent', args: { key, forMs: idleMs + 5_000, ignoreAbort: true } };
    case 'forever': // the real hard limit of 5 min is tested by make soak ONLY=limits
      return { kind, tool: 'beat', args: { key, everyMs: 500, forMs: currentLimits === 'short' ? 0 : 40_000 } };
    case 'big':
      return {
        kind,
        tool: 'big',
        args: {
          key,
          bytes: seededRandom.nextWholeNumber(200_000, client === 'stdio-sdk' ? sdkStdioMaxBytes : 12_000_000),
        },
      };
    case 'tooBig':
      return { kind, tool: 'big', args: { key, bytes: maxResultBytes + 1_000_000 } };
    case 'fails':
    case 'throws':
      return { kind, tool: 'fail', args: { key, plain: kind === 'throws' } };
    case 'invalid':
      return { kind, tool: 'steps', args: { key: 7, count: 'many', everyMs: -1 } };
    case 'unknown':
      return { kind, tool: 'nothing', args: { key } };
    case 'cancelled':
    case 'disconnected':
      return {
        kind,
        tool: 'beat',
        args: { key, everyMs: 300, forMs: 60_000 },
        stopAfterMs: seededRandom.nextWholeNumber(0, 2_000),
      };
    case 'flood': {
      // The client cancels a third of the calls of a flood, often while the call is queued.
      const stopAfterMs = seededRandom.nextWholeNumber(0, 300);
      const randomStopOptions = seededRandom.nextFraction() < 0.33 ? { stopAfterMs } : {};
      return { kind, tool: 'steps', args: { key, count: 2, everyMs: 40 }, ...randomStopOptions };
    }
  }
}
