import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import type { BridgeToWorkerMessage } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import type { Host } from './hosts.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
afterEach(() => mock.timers.reset());

function makeFixture() {
  const postedMessages: BridgeToWorkerMessage[] = [];
  const calls = new BridgeCalls((postedMessage) => {
    postedMessages.push(postedMessage);
    return true;
  });
  const messagesToHost: string[] = [];
  const host: Host = {
    plugin: 'p',
    hash: 'h1',
    base: 'b',
    sendText: (hostMessageText) => messagesToHost.push(hostMessageText),
  };
  calls.plugins.addHost(host);
  const receiveFromHost = (hostMessageText: string) => calls.receiveFromHost(host, hostMessageText);
  const call = (id: string) =>
    calls.receiveFromWorker({ op: 'call', id, plugin: 'p', tool: 't', maxBytes: 9, args: '{}' });
  const startAdapterSwap = (hash = 'h2') =>
    calls.receiveFromWorker({ op: 'replaceAdapter', plugin: 'p', hash, nonce: 'n', waitMs: 1000 });
  receiveFromHost('ready');
  call('x');
  postedMessages.splice(0);
  messagesToHost.splice(0);
  return {
    calls,
    postedMessages,
    toHost: messagesToHost,
    fromHost: receiveFromHost,
    call,
    renewAdapter: startAdapterSwap,
  };
}

test('an adapter is replaced once its calls have ended, and new calls wait', () => {
  const { postedMessages, toHost, fromHost, call, renewAdapter, calls } = makeFixture();
  renewAdapter();
  call('y');
  call('z');
  calls.receiveFromWorker({ op: 'cancel', id: 'z', reason: 'r' });
  assert.deepEqual(toHost, []);
  assert.deepEqual(postedMessages.splice(0), [{ op: 'cancelled', id: 'z', outcome: 'aborted' }]);
  fromHost('r 1 "old"');
  assert.deepEqual(toHost.splice(0), ['["renew","n","h2"]']);
  fromHost('armed n');
  assert.deepEqual(postedMessages.splice(1), [{ op: 'entryPointReady', plugin: 'p', nonce: 'n', usesBase: false }]);
  postedMessages.splice(0);
  fromHost('renewed h2');
  assert.deepEqual(toHost.splice(0), ['["call",2,"t",9,{},false]']);
  assert.deepEqual(
    postedMessages.splice(0).map(({ op }) => op),
    ['documentState', 'adapterReplaced'],
  );
  fromHost('r 2 "new"');
  assert.deepEqual(postedMessages.splice(0), [{ op: 'result', id: 'y', text: '"new"' }]);
});

test('calls that still run when the hot reload stops waiting are cancelled and fail with plugin_updated', () => {
  const { postedMessages, toHost, fromHost, renewAdapter } = makeFixture();
  renewAdapter('h2');
  mock.timers.tick(900);
  renewAdapter('h3'); // a newer adapter does not extend the time limit of the running calls
  mock.timers.tick(99);
  assert.deepEqual([toHost, postedMessages], [[], []]);
  mock.timers.tick(1);
  const replacedReason = 'a new version of the plugin p replaced the one that ran the call';
  assert.deepEqual(toHost, [`["cancel",1,"${replacedReason}"]`, '["renew","n","h3"]']);
  assert.deepEqual(postedMessages.splice(0), [
    { op: 'error', id: 'x', error: JSON.stringify({ code: 'plugin_updated', message: replacedReason }) },
  ]);
  for (const hostMessageText of ['a 1', 'r 1 "late"']) fromHost(hostMessageText);
  assert.deepEqual(postedMessages, []);
});

test('waiting calls run in the old adapter if the new adapter is missing or rejected', () => {
  for (const hostReply of ['kept a typo', 'nothing', 'another worker']) {
    const { calls, toHost, fromHost, call, renewAdapter } = makeFixture();
    fromHost('r 1 "old"');
    renewAdapter();
    call('y');
    assert.deepEqual(toHost.splice(0), ['["renew","n","h2"]']);
    if (hostReply === 'nothing') mock.timers.tick(10_000);
    else if (hostReply === 'another worker') calls.connected();
    else fromHost(hostReply);
    assert.deepEqual(toHost, ['["call",2,"t",9,{},false]'], hostReply);
  }
});

test('a call that waits for a new adapter when its document is left never starts, even if the document returns', () => {
  const { calls, postedMessages, toHost, call, renewAdapter } = makeFixture();
  renewAdapter();
  call('y');
  calls.reportStartedCalls();
  assert.deepEqual(postedMessages.splice(0), [{ op: 'leaving', begunCalls: ['x'] }]);
  calls.connected();
  assert.deepEqual(toHost, []);
});

test('a call that waits for a new adapter fails as not started if the plugin is removed', () => {
  const { calls, postedMessages, call, renewAdapter } = makeFixture();
  renewAdapter();
  call('y');
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  assert.match(JSON.stringify(postedMessages), /"id":"y","error":"{.*navigated.*notStarted.*true}"/);
});

test('if the new adapter of a removed plugin does not start, the bridge reports the plugin as failed', () => {
  const { calls, postedMessages, fromHost, renewAdapter } = makeFixture();
  fromHost('r 1 1');
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  renewAdapter();
  postedMessages.splice(0);
  fromHost('kept a typo');
  assert.deepEqual(postedMessages, [
    { op: 'documentState', plugins: [{ name: 'p', hash: 'h2', base: 'b', problem: 'a typo' }], running: [] },
    { op: 'adapterReplaced', plugin: 'p', hash: 'h2', problem: 'a typo' },
  ]);
});

test('the bridge reports a plugin as removed until the plugin gets another adapter', () => {
  const { calls, postedMessages, toHost, fromHost, renewAdapter } = makeFixture();
  fromHost('r 1 1');
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  assert.deepEqual(postedMessages.splice(0).at(-1), {
    op: 'documentState',
    plugins: [],
    removedPlugins: [{ name: 'p', base: 'b' }],
    running: [],
  });
  calls.plugins.onDocumentParsed();
  assert.deepEqual(toHost.splice(0), ['["remove"]']);
  renewAdapter();
  fromHost('armed n');
  fromHost('renewed h2');
  assert.deepEqual(postedMessages.splice(1)[0], {
    op: 'documentState',
    plugins: [{ name: 'p', hash: 'h2', base: 'b' }],
    running: [],
  });
  assert.deepEqual(toHost, ['["renew","n","h2"]', '["probe"]']);
});
