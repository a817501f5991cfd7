import type { CallView } from '../../../wire/wire.gen.ts';
import { reuseItems } from './reuse.ts';

/**
 * MaxStartChangeMs is the largest ignored change of a computed start time, in milliseconds. Start times vary
 * because messages are delayed differently.
 */
const MaxStartChangeMs = 500;

/** OpenCall is a call that has not ended. */
export interface OpenCall {
  /**
   * call is the call as the server sent it. If startMs is set, call.runMs is 0, so that an unchanged call is equal
   * in two messages.
   */
  readonly call: CallView;
  /**
   * startMs is when the call started to run, in milliseconds since 1970, or undefined while the call does not run.
   */
  readonly startMs?: number;
}

/**
 * updateOpenCalls returns the open calls of a new message from the worker, reusing the previous objects for
 * unchanged calls. callsAt is when the message arrived, in milliseconds since 1970.
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
    const isSame = oldStartMs !== undefined && Math.abs(newStartMs - oldStartMs) < MaxStartChangeMs;
    return { call: { ...call, runMs: 0 }, startMs: isSame ? oldStartMs : newStartMs };
  });
  return reuseItems(previous, next, ({ call }) => call.callId);
}
