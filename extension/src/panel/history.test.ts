import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallsHistoryResult, RecordedCall } from '../../../wire/wire.gen.ts';
import type { Action, ActionResult } from '../panel-message.ts';
import { makeHistory } from './history.ts';

const makeRecord = (callId: string): RecordedCall => ({
  call: { callId, plugin: 'p', tool: 't', status: 'done', runMs: 1 },
  endedMs: 2,
});

function makeTestHistory(pages: readonly CallsHistoryResult[]) {
  const requestedPages: (string | undefined)[] = [];
  const receivedIds: string[] = [];
  const sendAction = async (action: Action): Promise<ActionResult> => {
    assert.equal(action.op, 'history');
    requestedPages.push(action.op === 'history' ? action.params.before : undefined);
    const history = pages[requestedPages.length - 1];
    return history ? { history } : { error: 'This server records no calls.' };
  };
  const history = makeHistory(sendAction, (page) => {
    const newCallIds = page.map(({ call }) => call.callId).filter((callId) => !receivedIds.includes(callId));
    receivedIds.push(...newCallIds);
    return newCallIds.length > 0;
  });
  return { history, requestedPages, receivedIds };
}

test('loadOlder reads one page after another, skips empty pages, and stops after the last page', async () => {
  const { history, requestedPages, receivedIds } = makeTestHistory([
    { calls: [makeRecord('c'), makeRecord('b')], next: '1' },
    { next: '2' },
    { calls: [makeRecord('a')] },
  ]);
  assert.equal(await history.loadOlder(), undefined);
  assert.deepEqual([receivedIds.join(), history.hasOlderCalls], ['c,b', true]);
  assert.equal(await history.loadOlder(), undefined);
  assert.deepEqual([receivedIds.join(), history.hasOlderCalls], ['c,b,a', false]);
  assert.deepEqual(requestedPages, [undefined, '1', '2']);
});

test('loadOlder skips pages whose calls the panel already has, until the last page', async () => {
  const { history, requestedPages, receivedIds } = makeTestHistory([
    { calls: [makeRecord('d')], next: '1' },
    { calls: [makeRecord('c')], next: '2' },
    { calls: [makeRecord('b')], next: '3' },
    { calls: [makeRecord('b')] },
  ]);
  receivedIds.push('d', 'c');
  await history.onConnected();
  assert.deepEqual(requestedPages, [undefined], 'an opened panel must request only the newest page');
  assert.equal(await history.loadOlder(), undefined);
  assert.deepEqual([receivedIds.join(), history.hasOlderCalls], ['d,c,b', true]);
  assert.equal(await history.loadOlder(), undefined);
  assert.deepEqual([receivedIds.join(), history.hasOlderCalls], ['d,c,b', false]);
});

test('each connection to the server loads the newest page, and loadOlder continues where it stopped', async () => {
  const { history, requestedPages, receivedIds } = makeTestHistory([
    { calls: [makeRecord('b')], next: '1' },
    { calls: [makeRecord('interrupted'), makeRecord('b')], next: '9' },
    { calls: [makeRecord('a')] },
  ]);
  await history.onConnected();
  await history.onConnected();
  await history.loadOlder();
  assert.deepEqual(requestedPages, [undefined, undefined, '1']);
  assert.deepEqual(receivedIds, ['b', 'interrupted', 'a']);
});

test('searchCalls requests a page with the filter, and passes no calls to the list', async () => {
  const params: unknown[] = [];
  const sendAction = async (action: Action): Promise<ActionResult> => {
    params.push(action.op === 'history' && action.params);
    return { history: { calls: [makeRecord('a')], next: '5' } };
  };
  const history = makeHistory(sendAction, () => assert.fail('search passes no page to receive'));
  const filter = { text: 'a', failed: true };
  assert.deepEqual(await history.searchCalls(filter, '9'), {
    calls: [makeRecord('a')],
    nextPage: '5',
    error: undefined,
  });
  assert.deepEqual(params, [{ limit: 100, before: '9', filter }]);
});

test('loadNewest does not change the next page of loadOlder, which returns the reason of a failure', async () => {
  const { history, requestedPages } = makeTestHistory([
    { calls: [makeRecord('b')], next: '1' },
    { calls: [makeRecord('b')], next: '9' },
  ]);
  await history.loadOlder();
  await history.loadNewest();
  assert.equal(await history.loadOlder(), 'This server records no calls.');
  assert.deepEqual(requestedPages, [undefined, undefined, '1']);
  assert.equal(history.hasOlderCalls, true);
});
