import type { CallView } from '../../../wire/wire.gen.ts';
import { reuseItems } from './reuse.ts';

/** MaxStartDriftMs is the largest change of a call's computed start time that the panel ignores, in milliseconds. */
const MaxStartDriftMs = 500;

export interface OpenCall {
  /**
   * In a running call, runMs is 0, because a run time that grows with each message would render an unchanged call
   * again.
   */
  readonly call: CallView;
  /** startMs is when the call started to run, in milliseconds since 1970, or undefined if the call is not running. */
  readonly startMs?: number;
}

/** updateOpenCalls reuses the previous objects of unchanged calls, so that their components do not render again. */
export function updateOpenCalls(
  previousOpenCalls: readonly OpenCall[],
  calls: readonly CallView[],
  callsAt: number,
): readonly OpenCall[] {
  const startTimes = new Map(previousOpenCalls.map(({ call, startMs }) => [call.callId, startMs]));
  const nextOpenCalls = calls.map((call): OpenCall => {
    if (call.status !== 'running' || call.waiting) return { call };
    const newStartMs = callsAt - call.runMs;
    const oldStartMs = startTimes.get(call.callId);
    const keepsStartTime = oldStartMs !== undefined && Math.abs(newStartMs - oldStartMs) < MaxStartDriftMs;
    return { call: { ...call, runMs: 0 }, startMs: keepsStartTime ? oldStartMs : newStartMs };
  });
  return reuseItems(previousOpenCalls, nextOpenCalls, ({ call }) => call.callId);
}
