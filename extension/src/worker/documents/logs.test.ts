import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginLogParams } from '../../../../wire/wire.gen.ts';
import type { Doc } from './docs.ts';
import { makeLogs } from './logs.ts';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'] });
  const sentLogs: PluginLogParams[] = [];
  const logs = makeLogs({
    isRunning: (id, plugin) => id === 'd1' && plugin === 'demo',
    send: (params) => sentLogs.push(params),
  });
  const doc = (documentId: string): Doc => ({ tabId: 7, frameId: 0, documentId, url: '', post: () => undefined });
  return { logs, sentLogs, d1: doc('d1'), d2: doc('d2'), tick: (ms: number) => t.mock.timers.tick(ms) };
}

const makeEntries = (...messages: string[]) =>
  JSON.stringify(messages.map((message) => ({ level: 'info', message, atMs: 1 })));
const makeLogMessage = (text: string, dropped = 0, plugin = 'demo') =>
  ({ op: 'log', plugin, entries: text, dropped }) as const;

test('the worker forwards log entries with the tab of their document', (t) => {
  const { logs, sentLogs, d1 } = makeFixture(t);
  logs.add(d1, makeLogMessage('[{"level":"error","message":"m","data":[1,{"a":[]}],"atMs":5.5}]', 3));
  assert.deepEqual(sentLogs, [
    {
      tabId: 7,
      plugin: 'demo',
      entries: [{ level: 'error', message: 'm', data: [1, { a: [] }], atMs: 5.5 }],
      dropped: 3,
    },
  ]);
});

test('log entries of a plugin that does not run in the document are ignored', (t) => {
  const { logs, sentLogs, d1, d2 } = makeFixture(t);
  logs.add(d1, makeLogMessage(makeEntries('x'), 0, 'other'));
  logs.add(d2, makeLogMessage(makeEntries('x')));
  assert.deepEqual(sentLogs, []);
});

test('invalid log entries count as dropped, and their number is sent with the next entries', (t) => {
  const { logs, sentLogs, d1 } = makeFixture(t);
  for (const malformedEntries of [
    'no json',
    '{}',
    '[5]',
    '[{"level":"loud","message":"m","atMs":1}]',
    makeEntries(...Array(51).fill('x')),
  ]) {
    logs.add(d1, makeLogMessage(malformedEntries));
  }
  assert.equal(sentLogs.length, 0);
  logs.add(d1, makeLogMessage(makeEntries('x')));
  assert.equal(sentLogs[0]?.dropped, 4 + 51);
  logs.add(d1, makeLogMessage(makeEntries('y')));
  assert.equal(sentLogs[1]?.dropped, undefined);
});

test('a document can send 20 log messages per second, and further log entries are only counted', (t) => {
  const { logs, sentLogs, d1, tick } = makeFixture(t);
  for (let i = 0; i < 30; i++) logs.add(d1, makeLogMessage(makeEntries('a', 'b'), i === 29 ? 5 : 0));
  assert.equal(sentLogs.length, 20);
  tick(999);
  logs.add(d1, makeLogMessage(makeEntries('a')));
  assert.equal(sentLogs.length, 20);
  tick(1);
  logs.add(d1, makeLogMessage(makeEntries('z')));
  assert.deepEqual([sentLogs.length, sentLogs.at(-1)?.dropped], [21, 10 * 2 + 5 + 1]);
});
