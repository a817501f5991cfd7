import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { BridgeCalls } from './calls.ts';
import type { Host } from './hosts.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
afterEach(() => mock.timers.reset());

function makeFixture() {
  const posted: FromBridge[] = [];
  const calls = new BridgeCalls((message) => {
    posted.push(message);
    return true;
  });
  const toHost: string[] = [];
  const host: Host = {
    plugin: 'p',
    hash: 'h1',
    base: 'b',
    send: (text) => toHost.push(text),
  };
  calls.plugins.addHost(host);
  const fromHost = (text: string) => calls.receiveFromHost(host, text);
  const call = (id: string) =>
    calls.receiveFromWorker({ op: 'call', id, plugin: 'p', tool: 't', maxBytes: 9, args: '{}' });
  const renew = (hash = 'h2') =>
    calls.receiveFromWorker({ op: 'replaceAdapter', plugin: 'p', hash, nonce: 'n', waitMs: 1000 });
  fromHost('ready');
  call('x');
  posted.splice(0);
  toHost.splice(0);
  return { calls, posted, toHost, fromHost, call, renew };
}

test('an adapter is replaced once its calls have ended, and new calls wait', () => {
  const { posted, toHost, fromHost, call, renew, calls } = makeFixture();
  renew();
  call('y');
  call('z');
  calls.receiveFromWorker({ op: 'cancel', id: 'z', reason: 'r' });
  assert.deepEqual(toHost, []);
  assert.deepEqual(posted.splice(0), [{ op: 'cancelled', id: 'z', outcome: 'aborted' }]);
  fromHost('r 1 "old"');
  assert.deepEqual(toHost.splice(0), ['["renew","n","h2"]']);
  fromHost('armed n');
  assert.deepEqual(posted.splice(1), [{ op: 'entryPointReady', plugin: 'p', nonce: 'n', usesBase: false }]);
  posted.splice(0);
  fromHost('renewed h2');
  assert.deepEqual(toHost.splice(0), ['["call",2,"t",9,{},false]']);
  assert.deepEqual(
    posted.splice(0).map(({ op }) => op),
    ['documentState', 'adapterReplaced'],
  );
  fromHost('r 2 "new"');
  assert.deepEqual(posted.splice(0), [{ op: 'result', id: 'y', text: '"new"' }]);
});

test('calls that exceed the wait fail with plugin_updated and are cancelled', () => {
  const { posted, toHost, fromHost, renew } = makeFixture();
  renew('h2');
  mock.timers.tick(900);
  renew('h3'); // If a newer adapter arrives during a hot reload, the running calls get no additional time.
  mock.timers.tick(99);
  assert.deepEqual([toHost, posted], [[], []]);
  mock.timers.tick(1);
  const why = 'a new version of the plugin p replaced the one that ran the call';
  assert.deepEqual(toHost, [`["cancel",1,"${why}"]`, '["renew","n","h3"]']);
  assert.deepEqual(posted.splice(0), [
    { op: 'error', id: 'x', error: JSON.stringify({ code: 'plugin_updated', message: why }) },
  ]);
  for (const text of ['a 1', 'r 1 "late"']) fromHost(text);
  assert.deepEqual(posted, []);
});

test('waiting calls run in the old adapter if the new one is missing or rejected', () => {
  for (const end of ['kept a typo', 'nothing', 'another worker']) {
    const { calls, toHost, fromHost, call, renew } = makeFixture();
    fromHost('r 1 "old"');
    renew();
    call('y');
    assert.deepEqual(toHost.splice(0), ['["renew","n","h2"]']);
    if (end === 'nothing') mock.timers.tick(10_000);
    else if (end === 'another worker') calls.connected();
    else fromHost(end);
    assert.deepEqual(toHost, ['["call",2,"t",9,{},false]'], end);
  }
});

test('a call that waits for the new adapter has not begun, and fails if the plugin is removed', () => {
  const { calls, posted, call, renew } = makeFixture();
  renew();
  call('y');
  calls.reportLeaving();
  assert.deepEqual(posted.splice(0), [{ op: 'leaving', begunCalls: ['x'] }]);
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  assert.match(JSON.stringify(posted), /"id":"y","error":"{.*navigated.*notStarted.*true}"/);
});

test('a removed plugin whose new adapter does not start has failed', () => {
  const { calls, posted, fromHost, renew } = makeFixture();
  fromHost('r 1 1');
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  renew();
  posted.splice(0);
  fromHost('kept a typo');
  assert.deepEqual(posted, [
    { op: 'documentState', plugins: [{ name: 'p', hash: 'h2', base: 'b', problem: 'a typo' }], running: [] },
    { op: 'adapterReplaced', plugin: 'p', hash: 'h2', problem: 'a typo' },
  ]);
});

test('a removed plugin is reported until it gets another adapter', () => {
  const { calls, posted, toHost, fromHost, renew } = makeFixture();
  fromHost('r 1 1');
  calls.receiveFromWorker({ op: 'removePlugin', plugin: 'p' });
  assert.deepEqual(posted.splice(0).at(-1), {
    op: 'documentState',
    plugins: [],
    removedPlugins: [{ name: 'p', base: 'b' }],
    running: [],
  });
  calls.plugins.onDocumentParsed();
  assert.deepEqual(toHost.splice(0), ['["remove"]']);
  renew();
  fromHost('armed n');
  fromHost('renewed h2');
  assert.deepEqual(posted.splice(1)[0], {
    op: 'documentState',
    plugins: [{ name: 'p', hash: 'h2', base: 'b' }],
    running: [],
  });
  assert.deepEqual(toHost, ['["renew","n","h2"]', '["probe"]']);
});
