import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallStatus, CallView } from '../../../wire/wire.gen.ts';
import { activitiesOf, isEndShown, isOpen, reportOf } from './audience.ts';

const call = (more: Partial<CallView>): CallView => ({
  callId: 'c',
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...more,
});

test('of messages only those for people, or all; numbers always', () => {
  const both = call({ progress: 0.5, message: 'page 5', userProgress: 0.25, userMessage: 'reading' });
  assert.deepEqual(reportOf(both, false), { share: 0.5, message: 'reading' });
  assert.deepEqual(reportOf(both, true), { share: 0.5, message: 'page 5' });
  const internal = call({ progress: 0.5, message: 'page 5' });
  assert.deepEqual(reportOf(internal, false), { share: 0.5, message: '' });
});

test('of activities only those for people, or all', () => {
  const activities = ['user', 'internal', 'admin', undefined].map((audience, i) => ({
    type: `t${i}`,
    bytes: 1,
    ...(audience === undefined ? {} : { audience }),
  }));
  const types = (everything: boolean) => activitiesOf(call({ activities }), everything).map((a) => a.type);
  assert.deepEqual(types(false), ['t0']);
  assert.deepEqual(types(true), ['t0', 't1', 't2', 't3']);
  assert.deepEqual(activitiesOf(call({}), true), []);
});

test('failures and stops are always shown, successes if their tool says so', () => {
  const shown = (status: CallStatus, endAudience?: string) =>
    isEndShown(call({ status, ...(endAudience === undefined ? {} : { endAudience }) }), false);
  assert.deepEqual(
    [shown('failed'), shown('failed', 'internal'), shown('cancelled'), shown('done', 'user')],
    [true, true, true, true],
  );
  assert.deepEqual([shown('done'), shown('done', 'internal'), shown('done', 'admin')], [false, false, false]);
  assert.equal(isEndShown(call({ status: 'done' }), true), true);
});

test('open calls', () => {
  const open = (['pending', 'running', 'done', 'failed', 'cancelled'] as const).filter((s) =>
    isOpen(call({ status: s })),
  );
  assert.deepEqual(open, ['pending', 'running']);
});
