/** Computes how a call may end during a soak test, considering the faults that overlapped the call. */

import { type FaultKind, limitsByName, type PlannedCall, type PlannedFault, type TimeoutLimits } from './plan.ts';
import type { CallEnding } from './soak-client.ts';

/** All times of an ObservedFault are in milliseconds since the start of the soak test. */
export interface ObservedFault {
  readonly plan: PlannedFault;
  readonly fromMs: number;
  endedMs?: number;
  /** recoveredMs is the time of the first call that succeeded after the fault. */
  recoveredMs?: number;
  restoredMs?: number;
}

export interface ObservedCall {
  readonly plan: PlannedCall;
  readonly key: string;
  readonly clientName: string;
  readonly limits: TimeoutLimits;
  readonly fromMs: number;
  readonly toMs: number;
  readonly callEnding: CallEnding;
}

/** faultSettleMs is how long a fault that has ended can still change how calls end, in milliseconds. */
const faultSettleMs = 2_000;
/** gracePeriodMs is the daemon's grace period for a lost link, in milliseconds. */
const gracePeriodMs = 10_000;
/** toleranceMs allows for a machine with two cores that runs the whole soak test. */
const toleranceMs = 8_000;

interface ExpectedEnding {
  readonly codes: readonly string[];
  readonly ms: number;
}

function computeExpectedEnding(call: ObservedCall): ExpectedEnding {
  const { kind, stopAfterMs } = call.plan;
  const { codes, ms } = computeUncancelledEnding(call);
  if (stopAfterMs === undefined) return { codes, ms };
  // The daemon may send the call's result just before the cancellation arrives, so the call may end normally.
  const mayEndBeforeCancellation = stopAfterMs + 500 >= ms;
  return {
    codes: kind === 'flood' || mayEndBeforeCancellation ? ['silent', ...codes] : ['silent'],
    ms: stopAfterMs + 3_000,
  };
}

function computeUncancelledEnding(call: ObservedCall): ExpectedEnding {
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

/** While the daemon is down, connections fail; after a restart, the daemon no longer has the client's session. */
const noServerErrorCodes = ['transport', 'refused', 'shutdown', 'silent', 'rpc:-32603', 'rpc:-32001', 'rpc:-32000'];
const noBrowserErrorCodes = [
  'no_browser',
  'browser_lost',
  'link_lost',
  'no_tab',
  'navigated',
  'tab_closed',
  'not_ready',
];

/** A call that names a tab may fail because the tab was closed; a call without a tab can run in any tab. */
function listCodesIfDocumentMissing(call: ObservedCall, ...codes: string[]): readonly string[] {
  return call.plan.tab === undefined ? codes : [...codes, 'no_tab', 'navigated', 'not_ready'];
}

const errorCodesByFault: Readonly<
  Record<
    FaultKind,
    (call: ObservedCall, observedFault: ObservedFault, faultsDuring: readonly ObservedFault[]) => readonly string[]
  >
> = {
  'worker stopped': (...faultEffect) => listErrorCodesOfDelay(...faultEffect),
  'link cut': (...faultEffect) => listErrorCodesOfDelay(...faultEffect),
  'link half-open': (...faultEffect) => listErrorCodesOfDelay(...faultEffect),
  'server SIGTERM': () => [...noServerErrorCodes, ...noBrowserErrorCodes],
  'server SIGKILL': () => [...noServerErrorCodes, ...noBrowserErrorCodes],
  'server SIGSTOP': (...faultEffect) => listErrorCodesOfDelay(...faultEffect),
  'tab reloaded': (call) => listCodesIfDocumentMissing(call, 'navigated'),
  'tab navigated': (call) => listCodesIfDocumentMissing(call, 'navigated'),
  'tab away and back': (call) => listCodesIfDocumentMissing(call, 'navigated'),
  'tab closed': (call) => listCodesIfDocumentMissing(call, 'tab_closed'),
  'tab discarded': (call) => listCodesIfDocumentMissing(call, 'tab_discarded'),
  // A call that names a frozen tab fails at once.
  'tab frozen': (call, observedFault, faultsDuring) => [
    ...listErrorCodesOfDelay(call, observedFault, faultsDuring),
    ...(call.plan.tab === undefined ? [] : ['tab_frozen']),
  ],
  'extension reloaded': () => noBrowserErrorCodes,
  'browser SIGKILL': () => noBrowserErrorCodes,
  'session deleted': (call, observedFault) =>
    isSameClient(call, observedFault) ? ['silent', 'refused', 'transport'] : [],
  'client killed': (call, observedFault) => (isSameClient(call, observedFault) ? ['silent', 'transport'] : []),
  'panel opened': () => [],
};

/** When a broken link returns, the idle timer of each running call restarts. */
const faultsBreakingBrowserLink: ReadonlySet<FaultKind> = new Set([
  'worker stopped',
  'link cut',
  'link half-open',
  'server SIGSTOP',
]);

function isSameClient(call: ObservedCall, observedFault: ObservedFault): boolean {
  return call.plan.client === observedFault.plan.client;
}

/** If a fault delays progress reports longer than the idle limit or hard limit, the call times out. */
function listErrorCodesOfDelay(
  call: ObservedCall,
  observedFault: ObservedFault,
  faultsDuring: readonly ObservedFault[],
): readonly string[] {
  const { idleMs, hardMs } = limitsByName[call.limits];
  const delayMs = (observedFault.restoredMs ?? call.toMs) - findDelayStart(observedFault, faultsDuring);
  const everyMs = Number(Object(call.plan.args).everyMs ?? 0);
  return [
    ...(delayMs + everyMs + 500 >= idleMs ? ['idle_timeout'] : []),
    // After a lost link, the idle timer restarts, so a handler that reports nothing may succeed after the idle limit.
    ...(call.plan.kind === 'ignoresAbort' ? ['ok'] : []),
    ...(delayMs + call.toMs - call.fromMs >= hardMs ? ['deadline_exceeded'] : []),
  ];
}

/** Between two broken links that follow each other within faultSettleMs, a call may receive nothing. */
function findDelayStart(observedFault: ObservedFault, faultsDuring: readonly ObservedFault[]): number {
  const previousFault = faultsDuring.findLast(
    ({ plan, fromMs, restoredMs }) =>
      faultsBreakingBrowserLink.has(plan.kind) &&
      fromMs < observedFault.fromMs &&
      (restoredMs ?? Number.POSITIVE_INFINITY) + faultSettleMs >= observedFault.fromMs,
  );
  return previousFault ? findDelayStart(previousFault, faultsDuring) : observedFault.fromMs;
}

/** A fault can affect calls until faultSettleMs after its end. */
export function isOverlapping(call: ObservedCall, observedFault: ObservedFault): boolean {
  return (
    observedFault.fromMs <= call.toMs &&
    (observedFault.restoredMs ?? Number.POSITIVE_INFINITY) + faultSettleMs >= call.fromMs
  );
}

function mayHaveStaleSession(
  call: ObservedCall,
  observedFaults: readonly ObservedFault[],
  calls: readonly ObservedCall[],
): boolean {
  const serverRestart = observedFaults.findLast(
    (observedFault) => /SIGTERM|SIGKILL/.test(observedFault.plan.kind) && observedFault.plan.kind.startsWith('server'),
  );
  return (
    serverRestart !== undefined &&
    !calls.some(
      (otherCall) =>
        otherCall.plan.client === call.plan.client &&
        otherCall.fromMs > serverRestart.fromMs &&
        otherCall.toMs < call.fromMs &&
        otherCall.callEnding.answerCount > 0,
    )
  );
}

export function findViolations(
  call: ObservedCall,
  observedFaults: readonly ObservedFault[],
  calls: readonly ObservedCall[],
): string[] {
  const violationTexts: string[] = [];
  const faultsDuring = observedFaults.filter((observedFault) => isOverlapping(call, observedFault));
  const { codes, ms } = computeExpectedEnding(call);
  const allowedErrorCodes = new Set([
    ...codes,
    ...faultsDuring.flatMap((observedFault) =>
      errorCodesByFault[observedFault.plan.kind](call, observedFault, faultsDuring),
    ),
  ]);
  const { code, progress, answerCount } = call.callEnding;
  if (code === 'refused' && mayHaveStaleSession(call, observedFaults, calls)) allowedErrorCodes.add(code);
  if (!allowedErrorCodes.has(code))
    violationTexts.push(`the call ended with ${code}; allowed are ${[...allowedErrorCodes].join(', ')}`);
  if (answerCount > 1) violationTexts.push(`the client received ${answerCount} answers to the call, want at most 1`);
  if (answerCount === 1 && (code === 'silent' || code === 'transport'))
    violationTexts.push('the client received an answer although it recorded that the call has no answer');
  for (const [i, progressNumber] of progress.entries()) {
    const previousNumber = progress[i - 1];
    if (previousNumber !== undefined && !(progressNumber > previousNumber))
      violationTexts.push(`the progress went from ${previousNumber} to ${progressNumber}, want increasing numbers`);
  }
  if (call.plan.kind === 'noProgress' && progress.length > 0)
    violationTexts.push('the client received progress for a request without a progress token');
  const { idleMs } = limitsByName[call.limits];
  const delayMs = faultsDuring.reduce(
    (sum, overlappingFault) =>
      sum +
      (overlappingFault.restoredMs ?? call.toMs) -
      overlappingFault.fromMs +
      (faultsBreakingBrowserLink.has(overlappingFault.plan.kind) ? idleMs : 0),
    0,
  );
  const overdueMs = call.toMs - call.fromMs - ms - delayMs - (faultsDuring.length > 0 ? gracePeriodMs : 0);
  if (overdueMs > toleranceMs)
    violationTexts.push(
      `the call lasted ${Math.round(call.toMs - call.fromMs)} ms, ${Math.round(overdueMs)} ms more than allowed`,
    );
  if (code === 'ok') violationTexts.push(...findResultErrors(call));
  return violationTexts;
}

function findResultErrors(call: ObservedCall): string[] {
  const structuredResult = Object(call.callEnding.structured);
  const { args, kind } = call.plan;
  if (structuredResult.key !== call.key) return [`the client received the result of ${structuredResult.key}`];
  if (kind === 'echo' && JSON.stringify(structuredResult.value) !== JSON.stringify(args.value))
    return ['the result is not the value in the arguments'];
  if (kind !== 'big') return [];
  const resultText = String(structuredResult.text);
  if (resultText.length !== args.bytes) return [`the client received ${resultText.length} of ${args.bytes} bytes`];
  for (let offset = 0; offset < resultText.length; offset += 1024) {
    if (!resultText.startsWith(`${offset} `.slice(0, resultText.length - offset), offset))
      return [`the text is wrong at offset ${offset}`];
  }
  return [];
}
