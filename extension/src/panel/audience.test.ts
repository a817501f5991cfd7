import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { activitiesOf, isOpen, reportOf, resultOf } from './audience.ts';

const call = (more: Partial<CallView>): CallView => ({
  callId: 'c',
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...more,
});

test('reportOf hides messages that are not for the user, but never numbers', () => {
  const both = call({ progress: 0.5, message: 'page 5', userProgress: 0.25, userMessage: 'reading' });
  assert.deepEqual(reportOf(both, false), { share: 0.5, message: 'reading', word: '' });
  assert.deepEqual(reportOf(both, true), { share: 0.5, message: 'page 5', word: '' });
  const internal = call({ progress: 0.5, message: 'page 5' });
  assert.deepEqual(reportOf(internal, false), { share: 0.5, message: '', word: '' });
});

test('activitiesOf hides activities that are not for the user', () => {
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

test('resultOf hides a result that is not for the user', () => {
  const shown = (everything: boolean, endAudience?: string) =>
    resultOf(
      call({ status: 'done', result: 'Sent.', ...(endAudience === undefined ? {} : { endAudience }) }),
      everything,
    );
  assert.deepEqual(
    [shown(false, 'user'), shown(false, 'internal'), shown(false, 'admin'), shown(false)],
    ['Sent.', '', '', ''],
  );
  assert.equal(shown(true), 'Sent.');
  assert.equal(resultOf(call({ status: 'done' }), true), '');
});

test('a status word has the audience of its message', () => {
  const both = call({ message: 'page 5', statusWord: 'fetching', userMessage: 'reading', userStatusWord: 'indexing' });
  assert.equal(reportOf(both, false).word, 'indexing');
  assert.equal(reportOf(both, true).word, 'fetching');
  assert.equal(reportOf(call({ statusWord: 'fetching' }), false).word, '');
});

test('isOpen accepts pending and running calls', () => {
  const open = (['pending', 'running', 'done', 'failed', 'cancelled', 'timed out'] as const).filter((s) =>
    isOpen(call({ status: s })),
  );
  assert.deepEqual(open, ['pending', 'running']);
});
