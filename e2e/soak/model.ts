/** Computes the allowed endings of a call from the faults that overlapped the call. */

import { type FaultKind, type Limits, limitsByName, type PlannedCall, type PlannedFault } from './plan.ts';
import type { CallEnding } from './soak-client.ts';

/** ObservedFault is a fault that was injected. Times of faults are milliseconds since the start of the soak. */
export interface ObservedFault {
  readonly plan: PlannedFault;
  readonly fromMs: number;
  /** The time when the fault ended, for example when a stalled link was resumed. */
  endedMs?: number;
  /** The time when a call succeeded again after the fault. */
  recoveredMs?: number;
  /** The time when the plugin was live in all tabs again; absent before that time. */
  restoredMs?: number;
}

/** ObservedCall is a call that was made, with its ending. */
export interface ObservedCall {
  readonly plan: PlannedCall;
  readonly key: string;
  readonly clientName: string;
  /** The limits that the server had when the call started. */
  readonly limits: Limits;
  readonly fromMs: number;
  readonly toMs: number;
  readonly ending: CallEnding;
}

/**
 * settleMs is how long after its end a fault may change endings: the grace period, plus delays of a busy machine.
 */
const settleMs = 2_000;
/** graceMs is how long the server waits for a lost link before it fails calls. */
const graceMs = 10_000;
/** toleranceMs is how late an ending may be on a machine with two cores that runs the whole soak. */
const toleranceMs = 8_000;

/**
 * ExpectedEnding is how a call ends without faults and without a wait in the queue: the allowed codes and the latest
 * time.
 */
interface ExpectedEnding {
  readonly codes: readonly string[];
  readonly ms: number;
}

/** expectEnding returns the expected ending of a call, including calls that the client cancels. */
function expectEnding(call: ObservedCall): ExpectedEnding {
  const { kind, stopAfterMs } = call.plan;
  const { codes, ms } = expectEndingWithoutStop(call);
  if (stopAfterMs === undefined) return { codes, ms };
  // A cancel and the answer may cross on the wire, so the endings of both are allowed.
  const endsNearStop = stopAfterMs + 500 >= ms;
  return { codes: kind === 'flood' || endsNearStop ? ['silent', ...codes] : ['silent'], ms: stopAfterMs + 3_000 };
}

/** expectEndingWithoutStop returns the expected ending of a call that the client does not cancel. */
function expectEndingWithoutStop(call: ObservedCall): ExpectedEnding {
  const { idleMs, hardMs } = limitsByName[call.limits];
  const { count, everyMs, forMs } = Object(call.plan.args);
  switch (call.plan.kind) {
    case 'tooBig':
      return { codes: ['result_too_large'], ms: 0 };
    case 'fails':
    case 'throws':
      return { codes: ['tool_error'], ms: 0 };
    case 'invalid':
      return { codes: ['invalid_arguments'], ms: 0 };
    case 'unknown':
      return { codes: ['rpc:-32602'], ms: 0 };
    case 'silent':
    case 'ignoresAbort':
      return forMs < idleMs ? { codes: ['ok'], ms: forMs } : { codes: ['idle_timeout'], ms: idleMs };
    case 'long':
    case 'forever':
    case 'cancelled':
    case 'disconnected':
      return forMs > 0 && forMs < hardMs ? { codes: ['ok'], ms: forMs } : { codes: ['deadline_exceeded'], ms: hardMs };
    case 'steps':
    case 'noProgress':
    case 'flood':
      return { codes: ['ok'], ms: count * (everyMs + 10) };
    default:
      return { codes: ['ok'], ms: 0 };
  }
}

/**
 * codesWithoutServer are the allowed codes while no server runs. The connection is refused or breaks, or a restarted
 * server does not have the session.
 */
const codesWithoutServer = ['transport', 'refused', 'shutdown', 'silent', 'rpc:-32603', 'rpc:-32001', 'rpc:-32000'];
/** codesWithoutBrowser are the allowed codes while the browser is disconnected or its tabs are loading. */
const codesWithoutBrowser = [
  'no_browser',
  'browser_lost',
  'link_lost',
  'no_tab',
  'navigated',
  'tab_closed',
  'not_ready',
];

/**
 * codesWithoutDocument returns the codes of a call whose document is gone. A call that names its tab may fail because
 * the tab was closed. A call that names no tab runs in another tab.
 */
function codesWithoutDocument(call: ObservedCall, ...codes: string[]): readonly string[] {
  return call.plan.tab === undefined ? codes : [...codes, 'no_tab', 'navigated', 'not_ready'];
}

/** codesByFault returns, for each fault, the additional codes of a call that the fault overlaps. */
const codesByFault: Readonly<Record<FaultKind, (call: ObservedCall, fault: ObservedFault) => readonly string[]>> = {
  'worker stopped': (call, fault) => codesOfDelay(call, fault),
  'link cut': (call, fault) => codesOfDelay(call, fault),
  'link half-open': (call, fault) => codesOfDelay(call, fault),
  'server SIGTERM': () => [...codesWithoutServer, ...codesWithoutBrowser],
  'server SIGKILL': () => [...codesWithoutServer, ...codesWithoutBrowser],
  'server SIGSTOP': (call, fault) => codesOfDelay(call, fault),
  'tab reloaded': (call) => codesWithoutDocument(call, 'navigated'),
  'tab navigated': (call) => codesWithoutDocument(call, 'navigated'),
  'tab away and back': (call) => codesWithoutDocument(call, 'navigated'),
  'tab closed': (call) => codesWithoutDocument(call, 'tab_closed'),
  'tab discarded': (call) => codesWithoutDocument(call, 'tab_discarded'),
  'tab frozen': (call, fault) => codesOfDelay(call, fault),
  'extension reloaded': () => codesWithoutBrowser,
  'browser SIGKILL': () => codesWithoutBrowser,
  'session deleted': (call, fault) => (hitsClient(call, fault) ? ['silent', 'refused', 'transport'] : []),
  'client killed': (call, fault) => (hitsClient(call, fault) ? ['silent', 'transport'] : []),
  'panel opened': () => [],
};

/** linkBreakingFaults are the faults after which the idle limit of a running call starts again. */
const linkBreakingFaults: ReadonlySet<FaultKind> = new Set([
  'worker stopped',
  'link cut',
  'link half-open',
  'server SIGSTOP',
]);

/** hitsClient reports whether the fault ended the session of the call's client. */
function hitsClient(call: ObservedCall, fault: ObservedFault): boolean {
  return call.plan.client === fault.plan.client;
}

/** codesOfDelay returns the codes of a call whose reports arrive late. A delay that exceeds a limit makes the call time out. */
function codesOfDelay(call: ObservedCall, fault: ObservedFault): readonly string[] {
  const { idleMs, hardMs } = limitsByName[call.limits];
  const delayMs = (fault.restoredMs ?? call.toMs) - fault.fromMs;
  const everyMs = Number(Object(call.plan.args).everyMs ?? 0);
  return [
    ...(delayMs + everyMs + 500 >= idleMs ? ['idle_timeout'] : []),
    // The idle limit starts again after a lost link has reconnected, so a silent handler may still succeed slightly
    // after the limit.
    ...(call.plan.kind === 'ignoresAbort' ? ['ok'] : []),
    ...(delayMs + call.toMs - call.fromMs >= hardMs ? ['deadline_exceeded'] : []),
  ];
}

/** isOverlapping reports whether a fault overlaps a call, including the time in which the fault may still change endings. */
export function isOverlapping(call: ObservedCall, fault: ObservedFault): boolean {
  return fault.fromMs <= call.toMs && (fault.restoredMs ?? Number.POSITIVE_INFINITY) + settleMs >= call.fromMs;
}

/** mayHaveStaleSession reports whether the client of a call may still use a session from before a server restart. */
function mayHaveStaleSession(
  call: ObservedCall,
  faults: readonly ObservedFault[],
  calls: readonly ObservedCall[],
): boolean {
  const restart = faults.findLast(
    (fault) => /SIGTERM|SIGKILL/.test(fault.plan.kind) && fault.plan.kind.startsWith('server'),
  );
  return (
    restart !== undefined &&
    !calls.some(
      (other) =>
        other.plan.client === call.plan.client &&
        other.fromMs > restart.fromMs &&
        other.toMs < call.fromMs &&
        other.ending.answerCount > 0,
    )
  );
}

/** findViolations returns what is wrong with the ending of a call; an empty list if the ending is allowed. */
export function findViolations(
  call: ObservedCall,
  faults: readonly ObservedFault[],
  calls: readonly ObservedCall[],
): string[] {
  const violations: string[] = [];
  const faultsDuring = faults.filter((fault) => isOverlapping(call, fault));
  const { codes, ms } = expectEnding(call);
  const allowed = new Set([...codes, ...faultsDuring.flatMap((fault) => codesByFault[fault.plan.kind](call, fault))]);
  const { code, progress, answerCount } = call.ending;
  if (code === 'refused' && mayHaveStaleSession(call, faults, calls)) allowed.add(code);
  if (!allowed.has(code)) violations.push(`the call ended with ${code}; allowed are ${[...allowed].join(', ')}`);
  if (answerCount > 1) violations.push(`the call was answered ${answerCount} times`);
  if (answerCount === 1 && (code === 'silent' || code === 'transport'))
    violations.push('the call was answered although its ending is without an answer');
  for (const [i, n] of progress.entries()) {
    const previous = progress[i - 1];
    if (previous !== undefined && !(n > previous)) violations.push(`progress went from ${previous} to ${n}`);
  }
  if (call.plan.kind === 'noProgress' && progress.length > 0) violations.push('progress came without a token');
  const { idleMs } = limitsByName[call.limits];
  const delayMs = faultsDuring.reduce(
    (sum, f) => sum + (f.restoredMs ?? call.toMs) - f.fromMs + (linkBreakingFaults.has(f.plan.kind) ? idleMs : 0),
    0,
  );
  const lateMs = call.toMs - call.fromMs - ms - delayMs - (faultsDuring.length > 0 ? graceMs : 0);
  if (lateMs > toleranceMs)
    violations.push(
      `the call lasted ${Math.round(call.toMs - call.fromMs)} ms, ${Math.round(lateMs)} ms more than allowed`,
    );
  if (code === 'ok') violations.push(...findResultErrors(call));
  return violations;
}

/** findResultErrors compares a result with the arguments of the call. */
function findResultErrors(call: ObservedCall): string[] {
  const result = Object(call.ending.structured);
  const { args, kind } = call.plan;
  if (result.key !== call.key) return [`the client received the result of ${result.key}`];
  if (kind === 'echo' && JSON.stringify(result.value) !== JSON.stringify(args.value))
    return ['the result is not the value in the arguments'];
  if (kind !== 'big') return [];
  const text = String(result.text);
  if (text.length !== args.bytes) return [`the client received ${text.length} of ${args.bytes} bytes`];
  for (let offset = 0; offset < text.length; offset += 1024) {
    if (!text.startsWith(`${offset} `.slice(0, text.length - offset), offset))
      return [`the text is wrong at offset ${offset}`];
  }
  return [];
}
