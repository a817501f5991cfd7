import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { updateOpenCalls } from './open-calls.ts';

function makeCall(callId: string, callFields: Partial<CallView> = {}): CallView {
  return { callId, plugin: 'messages', tool: 'post', status: 'running', runMs: 0, ...callFields };
}

test('updateOpenCalls reuses the object of a running call if only the run time has changed', () => {
  const firstOpenCalls = updateOpenCalls([], [makeCall('a', { runMs: 1000 }), makeCall('b', { runMs: 500 })], 10_000);
  assert.deepEqual(
    firstOpenCalls.map(({ startMs }) => startMs),
    [9000, 9500],
  );
  const laterOpenCalls = updateOpenCalls(
    firstOpenCalls,
    [makeCall('a', { runMs: 2040 }), makeCall('b', { runMs: 1500 })],
    11_000,
  );
  assert.equal(laterOpenCalls, firstOpenCalls);
  const openCallsAfterReport = updateOpenCalls(
    firstOpenCalls,
    [makeCall('a', { runMs: 2000 }), makeCall('b', { runMs: 1500, progress: 0.5 })],
    11_000,
  );
  assert.equal(openCallsAfterReport[0], firstOpenCalls[0]);
  assert.notEqual(openCallsAfterReport[1], firstOpenCalls[1]);
});

test('updateOpenCalls corrects a start time after the computer slept, and gives waiting calls no start time', () => {
  const firstOpenCalls = updateOpenCalls([], [makeCall('a', { runMs: 1000 })], 10_000);
  assert.equal(updateOpenCalls(firstOpenCalls, [makeCall('a', { runMs: 1500 })], 70_000)[0]?.startMs, 68_500);
  const waitingForUser = { ticketId: 't', kind: 'user', reason: 'Log in', leftMs: 1000 } as const;
  const [queuedCall, suspendedCall] = updateOpenCalls(
    [],
    [makeCall('b', { status: 'pending' }), makeCall('c', { waiting: waitingForUser, runMs: 7 })],
    10_000,
  );
  assert.equal(queuedCall?.startMs, undefined);
  assert.deepEqual([suspendedCall?.startMs, suspendedCall?.call.runMs], [undefined, 7]);
});
