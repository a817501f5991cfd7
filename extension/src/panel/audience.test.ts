import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { hasNotEnded, listVisibleActivities, readVisibleReport, readVisibleResult } from './audience.ts';

const makeCall = (more: Partial<CallView>): CallView => ({
  callId: 'c',
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...more,
});

test('readVisibleReport hides messages that are not for the user, but never numbers', () => {
  const both = makeCall({ progress: 0.5, message: 'page 5', userProgress: 0.25, userMessage: 'reading' });
  assert.deepEqual(readVisibleReport(both, false), { share: 0.5, message: 'reading', word: '' });
  assert.deepEqual(readVisibleReport(both, true), { share: 0.5, message: 'page 5', word: '' });
  const internal = makeCall({ progress: 0.5, message: 'page 5' });
  assert.deepEqual(readVisibleReport(internal, false), { share: 0.5, message: '', word: '' });
});

test('listVisibleActivities hides activities that are not for the user', () => {
  const activities = ['user', 'internal', 'admin', undefined].map((audience, i) => ({
    type: `t${i}`,
    bytes: 1,
    ...(audience === undefined ? {} : { audience }),
  }));
  const types = (everything: boolean) => listVisibleActivities(makeCall({ activities }), everything).map((a) => a.type);
  assert.deepEqual(types(false), ['t0']);
  assert.deepEqual(types(true), ['t0', 't1', 't2', 't3']);
  assert.deepEqual(listVisibleActivities(makeCall({}), true), []);
});

test('readVisibleResult hides a result that is not for the user', () => {
  const shown = (everything: boolean, endAudience?: string) =>
    readVisibleResult(
      makeCall({ status: 'done', result: 'Sent.', ...(endAudience === undefined ? {} : { endAudience }) }),
      everything,
    );
  assert.deepEqual(
    [shown(false, 'user'), shown(false, 'internal'), shown(false, 'admin'), shown(false)],
    ['Sent.', '', '', ''],
  );
  assert.equal(shown(true), 'Sent.');
  assert.equal(readVisibleResult(makeCall({ status: 'done' }), true), '');
});

test('a status word has the audience of its message', () => {
  const both = makeCall({
    message: 'page 5',
    statusWord: 'fetching',
    userMessage: 'reading',
    userStatusWord: 'indexing',
  });
  assert.equal(readVisibleReport(both, false).word, 'indexing');
  assert.equal(readVisibleReport(both, true).word, 'fetching');
  assert.equal(readVisibleReport(makeCall({ statusWord: 'fetching' }), false).word, '');
});

test('hasNotEnded accepts pending and running calls', () => {
  const open = (['pending', 'running', 'done', 'failed', 'cancelled', 'timed out'] as const).filter((s) =>
    hasNotEnded(makeCall({ status: s })),
  );
  assert.deepEqual(open, ['pending', 'running']);
});
