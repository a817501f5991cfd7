import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import type { BridgeToWorkerMessage } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import type { Host } from './hosts.ts';

// Timers are mocked, because the bridge repeatedly probes adapters that are not ready.
beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
afterEach(() => mock.timers.reset());

function makeFixture(...names: string[]) {
  const postedMessages: BridgeToWorkerMessage[] = [];
  const page = { visible: true, port: true };
  const calls = new BridgeCalls(
    (postedMessage) => {
      if (page.port) postedMessages.push(postedMessage);
      return page.port;
    },
    () => page.visible,
  );
  const messagesToHost: string[] = [];
  const host = (plugin: string): Host => ({
    plugin,
    hash: 'h',
    sendText: (hostMessageText) => messagesToHost.push(`${plugin} ${hostMessageText}`),
  });
  const hosts = names.map(host);
  for (const connectedHost of hosts) calls.plugins.addHost(connectedHost);
  const receiveFromHost = (plugin: string, hostMessageText: string) => {
    const foundHost = hosts.find((connectedHost) => connectedHost.plugin === plugin);
    assert.ok(foundHost);
    calls.receiveFromHost(foundHost, hostMessageText);
  };
  return { calls, plugins: calls.plugins, postedMessages, toHost: messagesToHost, fromHost: receiveFromHost, page };
}

const readLiveAdapters = (postedMessages: BridgeToWorkerMessage[]) =>
  postedMessages
    .splice(0)
    .flatMap((postedMessage) => (postedMessage.op === 'documentState' ? [postedMessage.plugins] : []));

test('when the document is parsed, all hosts start, and the bridge checks whether live adapters are ready', () => {
  const { plugins, toHost, fromHost } = makeFixture('now', 'late', 'odd');
  fromHost('now', 'ready');
  assert.deepEqual(toHost, []);
  plugins.onDocumentParsed();
  assert.deepEqual(toHost.splice(0), ['now ["begin"]', 'late ["begin"]', 'odd ["begin"]', 'now ["probe"]']);
  fromHost('late', 'ready');
  assert.deepEqual(toHost.splice(0), ['late ["probe"]']);
  fromHost('odd', 'broken it does not work');
  assert.deepEqual(toHost, []);
  plugins.onDocumentLoaded();
  assert.deepEqual(toHost.splice(0), ['now ["probe"]', 'late ["probe"]']);
  fromHost('now', 's 1');
  plugins.onDocumentLoaded();
  assert.deepEqual(toHost, ['late ["probe"]']);
});

test('the worker gets the readiness of each plugin, after each change and in every greeting', () => {
  const { postedMessages, fromHost, calls } = makeFixture('a', 'b');
  fromHost('a', 'ready');
  fromHost('b', 'ready');
  postedMessages.splice(0);
  fromHost('b', 's 0');
  fromHost('b', 's 1');
  assert.deepEqual(postedMessages.splice(0), [
    { op: 'ready', plugin: 'b', ready: false },
    { op: 'ready', plugin: 'b', ready: true },
  ]);
  assert.deepEqual(readLiveAdapters([calls.makeGreeting()]), [
    [
      { name: 'a', hash: 'h' },
      { name: 'b', hash: 'h', ready: true },
    ],
  ]);
});

test('the bridge probes adapters that are not ready at growing intervals, but not in a hidden tab', () => {
  const { plugins, toHost, fromHost, page } = makeFixture('a', 'b', 'c');
  for (const name of ['a', 'b']) fromHost(name, 'ready');
  fromHost('c', 'broken it does not work');
  plugins.onDocumentParsed();
  toHost.splice(0);
  fromHost('a', 's 1');
  fromHost('b', 's 0');
  const runAfterDelay = (ms: number) => {
    mock.timers.tick(ms);
    return toHost.splice(0).join();
  };
  const probeAnswer = 'b ["probe"]';
  assert.deepEqual(
    [runAfterDelay(999), runAfterDelay(1), runAfterDelay(3999), runAfterDelay(1), runAfterDelay(15_000)],
    ['', probeAnswer, '', probeAnswer, probeAnswer],
  );
  assert.deepEqual([runAfterDelay(29_999), runAfterDelay(1), runAfterDelay(30_000)], ['', probeAnswer, probeAnswer]);
  page.visible = false;
  assert.deepEqual([runAfterDelay(30_000), runAfterDelay(600_000)], ['', '']);
  plugins.onVisibilityChanged();
  assert.equal(runAfterDelay(0), '');
  page.visible = true;
  plugins.onVisibilityChanged();
  assert.deepEqual([runAfterDelay(0), runAfterDelay(1000)], [probeAnswer, probeAnswer]);
  fromHost('b', 's 1');
  assert.equal(runAfterDelay(600_000), '');
  fromHost('a', 's 0');
  assert.deepEqual([runAfterDelay(1000), runAfterDelay(600_000) === ''], ['a ["probe"]', false]);
});

test('a navigation within the document probes all adapters, at most once per second', () => {
  const { plugins, toHost, fromHost } = makeFixture('a', 'b');
  for (const name of ['a', 'b']) {
    fromHost(name, 'ready');
    fromHost(name, 's 1');
  }
  plugins.onUrlChanged();
  plugins.onUrlChanged();
  mock.timers.tick(249);
  assert.deepEqual(toHost, []);
  mock.timers.tick(1);
  assert.deepEqual(toHost.splice(0), ['a ["probe"]', 'b ["probe"]']);
  for (let ms = 0; ms < 10_000; ms += 50) {
    plugins.onUrlChanged();
    mock.timers.tick(50);
  }
  assert.ok(toHost.length <= 2 * 10, `${toHost.length}`);
});

test('messages about settings, probes and adapter renewals reach only the host of their plugin', () => {
  const { calls, toHost } = makeFixture('a', 'b');
  calls.receiveFromWorker({ op: 'settings', plugin: 'a', settings: { values: { key: 'v' } } });
  calls.receiveFromWorker({ op: 'probe', plugin: 'b' });
  calls.receiveFromWorker({ op: 'replaceAdapter', plugin: 'b', hash: 'h2', nonce: 'n', waitMs: 1000 });
  calls.receiveFromWorker({ op: 'settings', plugin: 'none', settings: {} });
  assert.deepEqual(toHost.splice(0, 2), ['a ["settings",{"values":{"key":"v"}}]', 'b ["probe"]']);
  assert.deepEqual(toHost, ['b ["renew","n","h2"]']);
});

test('a new adapter is live with its new hash and probed again, and an adapter that stays remains live', () => {
  const { postedMessages, toHost, fromHost, plugins } = makeFixture('a');
  fromHost('a', 'ready');
  plugins.onDocumentParsed();
  fromHost('a', 's 1');
  postedMessages.splice(0);
  toHost.splice(0);
  fromHost('a', 'renewed h2');
  assert.deepEqual(postedMessages.splice(0), [
    { op: 'documentState', plugins: [{ name: 'a', hash: 'h2' }], running: [] },
    { op: 'adapterReplaced', plugin: 'a', hash: 'h2' },
  ]);
  assert.deepEqual(toHost, ['a ["probe"]']);
  fromHost('a', 'kept a typo in line 1');
  assert.deepEqual(postedMessages, [{ op: 'adapterReplaced', plugin: 'a', hash: 'h2', problem: 'a typo in line 1' }]);
});

test('a removed plugin is not live, and its calls still end', () => {
  const { calls, postedMessages, toHost, fromHost } = makeFixture('a', 'b');
  fromHost('a', 'ready');
  fromHost('b', 'ready');
  calls.receiveFromWorker({ op: 'call', id: 'x', plugin: 'a', tool: 't', maxBytes: 9, args: '{}' });
  postedMessages.splice(0);
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'a' });
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'a' });
  assert.deepEqual(toHost.slice(1), ['a ["remove"]']);
  assert.deepEqual(postedMessages.splice(0), [
    {
      op: 'documentState',
      plugins: [{ name: 'b', hash: 'h' }],
      removedPlugins: [{ name: 'a' }],
      running: [{ id: 'x', plugin: 'a' }],
    },
  ]);
  for (const hostMessageText of ['ready', 's 1', 'l 1 0 [{}]']) fromHost('a', hostMessageText);
  assert.deepEqual(postedMessages, []);
  fromHost('a', 'r 1 7');
  assert.deepEqual(postedMessages.splice(0), [{ op: 'result', id: 'x', text: '7' }]);
  calls.receiveFromWorker({ op: 'call', id: 'y', plugin: 'a', tool: 't', maxBytes: 9, args: '{}' });
  assert.match(JSON.stringify(postedMessages), /not live/);
});

test('the first log entry is sent at once, later ones in batches, and a closed port loses no entry', () => {
  const { postedMessages, fromHost, page, calls } = makeFixture('a', 'b');
  fromHost('a', 'l 1 0 [{"message":"1 x"}]');
  fromHost('a', 'l 2 0 [{"message":"2"},{"message":"3"}]');
  fromHost('a', 'l 1 0 [{"message":"4"}]');
  fromHost('b', 'l 0 7 []');
  const log = (plugin: string, entriesText: string, droppedCount = 0) => ({
    op: 'log',
    plugin,
    entries: entriesText,
    dropped: droppedCount,
  });
  assert.deepEqual(postedMessages.splice(0), [log('a', '[{"message":"1 x"}]')]);
  mock.timers.tick(100);
  assert.deepEqual(postedMessages.splice(0), [
    log('a', '[{"message":"2"},{"message":"3"},{"message":"4"}]'),
    log('b', '[]', 7),
  ]);
  mock.timers.tick(1000);
  page.port = false;
  fromHost('a', 'l 1 0 [{"message":"5"}]');
  mock.timers.tick(1000);
  page.port = true;
  calls.connected();
  assert.deepEqual(postedMessages.splice(0), [log('a', '[{"message":"5"}]')]);
  fromHost('a', 'l 1 0 [6]');
  fromHost('a', 'l 1 0 [7]');
  fromHost('a', 'l 1 0 [8]');
  calls.reportStartedCalls();
  assert.deepEqual(
    postedMessages.filter((postedMessage) => postedMessage.op === 'log'),
    [log('a', '[6]'), log('a', '[7,8]')],
  );
});

test('the number of waiting log entries is limited, and dropped log entries are counted', () => {
  const { postedMessages, fromHost, page, calls } = makeFixture('a', 'b');
  page.port = false;
  fromHost('b', 'l 1 0 [0]');
  for (let i = 0; i < 60; i++) fromHost('a', `l 25 0 [${Array.from({ length: 25 }, () => i).join()}]`);
  page.port = true;
  calls.connected();
  const logs = postedMessages.filter((postedMessage) => postedMessage.op === 'log');
  const count = (hostMessageText: string) => JSON.parse(hostMessageText).length;
  const sentCount = logs.reduce((sum, { entries: entriesText }) => sum + count(entriesText), 0);
  const droppedCount = logs.reduce((sum, postedMessage) => sum + postedMessage.dropped, 0);
  assert.deepEqual([sentCount + droppedCount, sentCount], [1501, 1000]);
  assert.ok(logs.every(({ entries: entriesText }) => count(entriesText) <= 50));
  const [secondLog] = logs.filter(({ plugin }) => plugin === 'b');
  assert.deepEqual(secondLog, { op: 'log', plugin: 'b', entries: '[]', dropped: 1 });
});
