/** What a soak does and when: all of it follows from the seed, before anything runs. */
import type { ClientKind } from './ending.ts';
import { Random } from './random.ts';

/** Limits are what calls run under: the real ones, or short ones so that many calls reach them. */
export type Limits = 'short' | 'real';

export const limits = {
  short: { idleMs: 8_000, hardMs: 30_000 },
  real: { idleMs: 30_000, hardMs: 300_000 },
} as const;

/** maxResultBytes and maxRunning are the other limits of the server under test: a few calls reach them too. */
export const maxResultBytes = 20 << 20;
export const maxRunning = 100;

export const callKinds = {
  echo: 34,
  steps: 16,
  untold: 4,
  long: 5,
  silent: 3,
  deaf: 2,
  forever: 1,
  big: 4,
  tooBig: 1,
  fails: 4,
  throws: 2,
  invalid: 3,
  unknown: 2,
  cancelled: 9,
  left: 4,
  flood: 0.6,
} as const;
export type CallKind = keyof typeof callKinds;

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

/** PlannedCall is one call. */
export interface PlannedCall {
  readonly atMs: number;
  /** Which client makes it, counted from 0. */
  readonly client: number;
  readonly kind: CallKind;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly stopAfterMs?: number;
  /** Which tab it names, counted from 0; none lets the server choose. */
  readonly tab?: number;
}

/** PlannedFault is one fault: it lasts forMs, where that means something. */
export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly forMs: number;
  /** The tab or client that is hit, counted from 0. */
  readonly tab: number;
  readonly client: number;
  /** The limits after a restart of the server. */
  readonly limits: Limits;
}

/** Plan is one soak. */
export interface Plan {
  readonly seed: number;
  readonly durationMs: number;
  readonly clients: readonly ClientKind[];
  readonly tabs: number;
  readonly calls: readonly PlannedCall[];
  readonly faults: readonly PlannedFault[];
}

const meanGapMs = 110;
const floodSize = 200;

/** stockStdioBytes: the official client gives up a stdio server after 10 MiB in one message, and a result is in it as text and as data. */
const stockStdioBytes = 4_000_000;

/** makePlan returns the plan of a seed. */
export function makePlan(seed: number, durationMs: number): Plan {
  const random = new Random(seed);
  const clients: ClientKind[] = ['http', 'http', 'http', 'http', 'http-sdk', 'http-sdk', 'stdio', 'stdio', 'stdio-sdk'];
  const tabs = 3;
  const faults = planFaults(random, durationMs, clients.length, tabs);
  const calls: PlannedCall[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.next() * 2 * meanGapMs) {
    const now = limitsAt(faults, atMs);
    const client = random.whole(0, clients.length - 1);
    const tab = random.next() < 0.25 ? { tab: random.whole(0, tabs - 1) } : {};
    const kind = random.pick(callKinds);
    const count = kind === 'flood' ? floodSize : 1;
    for (let i = 0; i < count; i++) {
      calls.push({ atMs, client, ...tab, ...planCall(random, kind, now, `k${calls.length}`, clients[client]) });
    }
  }
  return { seed, durationMs, clients, tabs, calls, faults };
}

function planFaults(random: Random, durationMs: number, clients: number, tabs: number): PlannedFault[] {
  const faults: PlannedFault[] = [];
  let now: Limits = 'short';
  // The last stretch is quiet, so that what follows the last fault is seen too.
  for (let atMs = 6_000; atMs < durationMs - 10_000; atMs += 3_000 + random.next() * 11_000) {
    const kind = random.pick(faultKinds);
    const drawn = random.next();
    if (kind === 'server SIGTERM' || kind === 'server SIGKILL') now = drawn < 0.3 ? 'real' : 'short';
    const forMs = faultMs(kind, random.next());
    const tab = random.whole(0, tabs - 1);
    faults.push({ atMs, kind, forMs, tab, client: random.whole(0, clients - 1), limits: now });
  }
  return faults;
}

function faultMs(kind: FaultKind, drawn: number): number {
  switch (kind) {
    case 'link cut':
      return drawn * 3_000;
    case 'link half-open':
      return 1_000 + drawn * 5_000;
    case 'server SIGSTOP':
      return 300 + drawn * 5_000;
    case 'tab frozen':
      return 500 + drawn * 2_000;
    case 'tab away and back':
    case 'panel opened':
      return 200 + drawn * 2_000;
    default:
      return 0;
  }
}

/** limitsAt returns the limits in force at a moment of the plan; a fault that takes long shifts those of the soak. */
function limitsAt(faults: readonly PlannedFault[], atMs: number): Limits {
  return faults.findLast((f) => f.atMs <= atMs && f.kind.startsWith('server SIG'))?.limits ?? 'short';
}

type Drawn = Pick<PlannedCall, 'kind' | 'tool' | 'args' | 'stopAfterMs'>;

/** planCall draws what one call does. */
function planCall(random: Random, kind: CallKind, now: Limits, key: string, client: ClientKind | undefined): Drawn {
  const { idleMs } = limits[now];
  switch (kind) {
    case 'echo':
      return {
        kind,
        tool: 'echo',
        args: { key, value: { n: random.next(), text: 'x'.repeat(random.whole(0, 2000)) } },
      };
    case 'steps':
    case 'untold':
      return { kind, tool: 'steps', args: { key, count: random.whole(2, 40), everyMs: random.whole(5, 200) } };
    case 'long':
      return {
        kind,
        tool: 'beat',
        args: { key, everyMs: random.whole(700, 1500), forMs: idleMs * (1.2 + random.next()) },
      };
    case 'silent':
      return { kind, tool: 'silent', args: { key, forMs: 600_000 } };
    case 'deaf':
      return { kind, tool: 'silent', args: { key, forMs: idleMs + 5_000, deaf: true } };
    case 'forever': // the real deadline is five minutes; make soak ONLY=limits waits for it
      return { kind, tool: 'beat', args: { key, everyMs: 500, forMs: now === 'short' ? 0 : 40_000 } };
    case 'big':
      return {
        kind,
        tool: 'big',
        args: { key, bytes: random.whole(200_000, client === 'stdio-sdk' ? stockStdioBytes : 12_000_000) },
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
    case 'left':
      return {
        kind,
        tool: 'beat',
        args: { key, everyMs: 300, forMs: 60_000 },
        stopAfterMs: random.whole(0, 2_000),
      };
    case 'flood': {
      // A third is cancelled, many of them while they wait.
      const stopAfterMs = random.whole(0, 300);
      const stop = random.next() < 0.33 ? { stopAfterMs } : {};
      return { kind, tool: 'steps', args: { key, count: 2, everyMs: 40 }, ...stop };
    }
  }
}
