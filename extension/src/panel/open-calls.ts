import type { CallView } from '../../../wire/wire.gen.ts';
import { reuseItems } from './reuse.ts';

/**
 * MaxStartDriftMs is the largest change of a call's computed start time that the panel ignores, in milliseconds. The
 * panel computes a call's start time from the arrival of each message, so the start time varies by some milliseconds.
 */
const MaxStartDriftMs = 500;

/** OpenCall is a call that has not ended. */
export interface OpenCall {
  /**
   * call is the call as the server sent it, except that runMs is 0 while the call runs (startMs is set). If call
   * contained the real runMs, which grows in each message, an unchanged call would render again.
   */
  readonly call: CallView;
  /** startMs is when the call started to run, in milliseconds since 1970, or undefined if the call is not running. */
  readonly startMs?: number;
}

/**
 * updateOpenCalls converts the open calls in a new message from the service worker, and reuses the previous objects of
 * unchanged calls. The parameter callsAt is when the message arrived, in milliseconds since 1970.
 */
export function updateOpenCalls(
  previous: readonly OpenCall[],
  calls: readonly CallView[],
  callsAt: number,
): readonly OpenCall[] {
  const starts = new Map(previous.map(({ call, startMs }) => [call.callId, startMs]));
  const next = calls.map((call): OpenCall => {
    if (call.status !== 'running' || call.waiting) return { call };
    const newStartMs = callsAt - call.runMs;
    const oldStartMs = starts.get(call.callId);
    const isSame = oldStartMs !== undefined && Math.abs(newStartMs - oldStartMs) < MaxStartDriftMs;
    return { call: { ...call, runMs: 0 }, startMs: isSame ? oldStartMs : newStartMs };
  });
  return reuseItems(previous, next, ({ call }) => call.callId);
}
