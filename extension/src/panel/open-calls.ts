import type { CallView } from '../../../wire/wire.gen.ts';
import { reuseItems } from './reuse.ts';

/** MaxStartChangeMs is the change of a start time that is ignored, because messages travel at different speeds. */
const MaxStartChangeMs = 500;

/** OpenCall is a call that has not ended. */
export interface OpenCall {
  /** call is the call with a runMs of 0 if startMs is set, so that the call of two messages can be equal. */
  readonly call: CallView;
  /** startMs is when the call started to run, in milliseconds since 1970; undefined while the call does not run. */
  readonly startMs?: number;
}

/**
 * updateOpenCalls returns the calls of a new message. Calls that have not changed since the previous message are the
 * previous objects. callsAt is when the message arrived, in milliseconds since 1970.
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
