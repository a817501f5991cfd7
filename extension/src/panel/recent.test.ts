import assert from 'node:assert/strict';
import test from 'node:test';
import {
  addRecords,
  canExcludeCalls,
  EmptyFilter,
  filterCalls,
  groupFailures,
  listChoices,
  MaxRecentCalls,
  mergeRecentCalls,
  type RecentCall,
  toRecorderFilter,
} from './recent.ts';

function makeCall(callId: string, callFields: Partial<RecentCall> = {}): RecentCall {
  return { callId, plugin: 'messages', tool: 'post', status: 'done', runMs: 1, ...callFields };
}

const listIds = (calls: readonly RecentCall[]) => calls.map((call) => call.callId).join(' ');

test('mergeRecentCalls keeps each call once, sorts the newest first, and limits the number of calls', () => {
  const [callA, callB, callC] = [makeCall('a'), makeCall('b'), makeCall('c')];
  assert.equal(listIds(mergeRecentCalls([callC, callB], [callB, callA])), 'c b a');
  const olderCalls = [callB, callA];
  assert.equal(mergeRecentCalls([], olderCalls), olderCalls);
  const manyCalls = Array.from({ length: MaxRecentCalls }, (_, i) => makeCall(`m${i}`));
  const mergedCalls = mergeRecentCalls([callC], manyCalls);
  assert.equal(mergedCalls.length, MaxRecentCalls);
  assert.equal(mergedCalls[0], callC);
});

test("toRecorderFilter returns a server filter that selects at least the calls of the panel's filter", () => {
  assert.deepEqual(
    toRecorderFilter({ text: ' a longest b ', failedOnly: true, plugin: 'messages', client: 'Cursor' }),
    {
      text: 'longest',
      failed: true,
      tool: 'messages',
      client: 'Cursor',
    },
  );
  assert.deepEqual(toRecorderFilter(EmptyFilter), {});
  assert.equal(canExcludeCalls(EmptyFilter), false);
  assert.equal(canExcludeCalls({ ...EmptyFilter, text: ' ' }), false);
  assert.equal(canExcludeCalls({ ...EmptyFilter, failedOnly: true }), true);
});

test('filterCalls selects by status, plugin, client and all words of a text', () => {
  const calls = [
    makeCall('a', { client: 'Claude Code', args: '{"channel":"general"}' }),
    makeCall('b', { client: 'Cursor', status: 'failed', error: 'Channel not found', site: 'chat.example' }),
    makeCall('c', { plugin: 'browser', tool: 'browser_click', status: 'cancelled' }),
    makeCall('d', { result: '{"secret":1}' }),
    makeCall('e', { client: 'Codex', status: 'timed out' }),
  ];
  const selectCallIds = (filter: Partial<typeof EmptyFilter>, showsEverything = false) =>
    listIds(filterCalls(calls, { ...EmptyFilter, ...filter }, showsEverything));
  assert.equal(selectCallIds({}), 'a b c d e');
  assert.equal(selectCallIds({ failedOnly: true }), 'b c e');
  assert.equal(selectCallIds({ plugin: 'browser' }), 'c');
  assert.equal(selectCallIds({ client: 'Cursor' }), 'b');
  assert.equal(selectCallIds({ text: 'CHANNEL' }), 'a b');
  assert.equal(selectCallIds({ text: ' chat.example  post ' }), 'b');
  assert.equal(selectCallIds({ text: 'nothing' }), '');
  // The search ignores a result with the audience "internal", because the panel does not show such a result.
  assert.equal(selectCallIds({ text: 'secret' }), '');
  assert.equal(selectCallIds({ text: 'secret' }, true), 'd');
});

test('groupFailures groups consecutive equal failures, but never successful calls', () => {
  const failure = { status: 'failed', error: 'Channel not found' } as const;
  const failureGroups = groupFailures([
    makeCall('a', failure),
    makeCall('b', failure),
    makeCall('c', { ...failure, error: 'Signed out' }),
    makeCall('d'),
    makeCall('e'),
    makeCall('f', failure),
    makeCall('g', { ...failure, status: 'timed out' }),
    makeCall('h', { ...failure, status: 'timed out' }),
    makeCall('i', { ...failure, client: 'Cursor' }),
  ]);
  assert.deepEqual(
    failureGroups.map(({ firstCall, otherCalls }) => listIds([firstCall, ...otherCalls])),
    ['a b', 'c', 'd', 'e', 'f', 'g h', 'i'],
  );
});

test('listChoices returns each plugin and client once, sorted', () => {
  const calls = [makeCall('a', { client: 'b' }), makeCall('b', { plugin: 'a', client: 'a' }), makeCall('c')];
  assert.deepEqual(listChoices(calls), { plugins: ['a', 'messages'], clients: ['a', 'b'] });
});

test('addRecords completes listed calls with their records, and appends older calls', () => {
  const activities = [{ type: 'text', content: '"a"', bytes: 3 }];
  const liveCalls = [makeCall('c', { args: '{"cut', activities }), makeCall('b')];
  const page = [
    { call: makeCall('c', { args: '{"whole":1}' }), endedMs: 3, argsIncomplete: true },
    { call: makeCall('b'), endedMs: 2 },
    { call: makeCall('a'), endedMs: 1 },
  ];
  const mergedCalls = addRecords(liveCalls, page);
  assert.equal(listIds(mergedCalls), 'c b a');
  assert.deepEqual(
    mergedCalls[0],
    makeCall('c', { args: '{"whole":1}', activities, record: { endedMs: 3, argsIncomplete: true } }),
  );
  assert.equal(addRecords(mergedCalls, page)[0], mergedCalls[0]);
});

test('addRecords inserts recorded calls at their position in time', () => {
  const liveCalls = [makeCall('d'), makeCall('b')];
  const page = ['interrupted', 'd', 'c', 'b', 'a'].map((callId) => ({ call: makeCall(callId), endedMs: 1 }));
  assert.equal(listIds(addRecords(liveCalls, page)), 'interrupted d c b a');
});
