import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { hasNotEnded, listVisibleActivities, readVisibleProgress, readVisibleResult } from './audience.ts';

const makeCall = (callFields: Partial<CallView>): CallView => ({
  callId: 'c',
  plugin: 'p',
  tool: 't',
  status: 'running',
  runMs: 0,
  ...callFields,
});

test('readVisibleProgress hides messages that are not for the user, but always shows progress numbers', () => {
  const callWithUserProgress = makeCall({
    progress: 0.5,
    message: 'page 5',
    userProgress: 0.25,
    userMessage: 'reading',
  });
  assert.deepEqual(readVisibleProgress(callWithUserProgress, false), {
    progressShare: 0.5,
    reportMessage: 'reading',
    statusWord: '',
  });
  assert.deepEqual(readVisibleProgress(callWithUserProgress, true), {
    progressShare: 0.5,
    reportMessage: 'page 5',
    statusWord: '',
  });
  const internalCall = makeCall({ progress: 0.5, message: 'page 5' });
  assert.deepEqual(readVisibleProgress(internalCall, false), { progressShare: 0.5, reportMessage: '', statusWord: '' });
});

test('listVisibleActivities hides activities that are not for the user', () => {
  const activities = ['user', 'internal', 'admin', undefined].map((audience, i) => ({
    type: `t${i}`,
    bytes: 1,
    ...(audience === undefined ? {} : { audience }),
  }));
  const listActivityTypes = (showsEverything: boolean) =>
    listVisibleActivities(makeCall({ activities }), showsEverything).map((activityView) => activityView.type);
  assert.deepEqual(listActivityTypes(false), ['t0']);
  assert.deepEqual(listActivityTypes(true), ['t0', 't1', 't2', 't3']);
  assert.deepEqual(listVisibleActivities(makeCall({}), true), []);
});

test('readVisibleResult hides a result that is not for the user', () => {
  const readShownProgress = (showsEverything: boolean, endAudience?: string) =>
    readVisibleResult(
      makeCall({ status: 'done', result: 'Sent.', ...(endAudience === undefined ? {} : { endAudience }) }),
      showsEverything,
    );
  assert.deepEqual(
    [
      readShownProgress(false, 'user'),
      readShownProgress(false, 'internal'),
      readShownProgress(false, 'admin'),
      readShownProgress(false),
    ],
    ['Sent.', '', '', ''],
  );
  assert.equal(readShownProgress(true), 'Sent.');
  assert.equal(readVisibleResult(makeCall({ status: 'done' }), true), '');
});

test('readVisibleProgress shows a status word only to the audience of its message', () => {
  const callWithUserProgress = makeCall({
    message: 'page 5',
    statusWord: 'fetching',
    userMessage: 'reading',
    userStatusWord: 'indexing',
  });
  assert.equal(readVisibleProgress(callWithUserProgress, false).statusWord, 'indexing');
  assert.equal(readVisibleProgress(callWithUserProgress, true).statusWord, 'fetching');
  assert.equal(readVisibleProgress(makeCall({ statusWord: 'fetching' }), false).statusWord, '');
});

test('hasNotEnded accepts pending and running calls', () => {
  const openStates = (['pending', 'running', 'done', 'failed', 'cancelled', 'timed out'] as const).filter(
    (callStatus) => hasNotEnded(makeCall({ status: callStatus })),
  );
  assert.deepEqual(openStates, ['pending', 'running']);
});
