import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';
import type { FromBridge } from '../port-message.ts';
import { makeDesk } from './calls.ts';
import type { Host } from './hosts.ts';

// Adapters that are not ready are asked again and again.
beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
afterEach(() => mock.timers.reset());

/** makeBench returns a desk in a document that has just begun, and its hosts by name. */
function makeBench(...names: string[]) {
  const posted: FromBridge[] = [];
  const page = { visible: true, port: true };
  const desk = makeDesk(
    (message) => {
      if (page.port) posted.push(message);
      return page.port;
    },
    () => page.visible,
  );
  const told: string[] = [];
  const host = (plugin: string): Host => ({ plugin, hash: 'h', send: (text) => told.push(`${plugin} ${text}`) });
  const hosts = names.map(host);
  for (const one of hosts) desk.plugins.took(one);
  const say = (plugin: string, text: string) => {
    const found = hosts.find((one) => one.plugin === plugin);
    assert.ok(found);
    desk.fromHost(found, text);
  };
  return { desk, plugins: desk.plugins, posted, told, say, page };
}

const live = (posted: FromBridge[]) =>
  posted.splice(0).flatMap((message) => (message.op === 'live' ? [message.plugins] : []));

test('all hosts are told when the document is parsed, and those that are live are asked whether they are ready', () => {
  const { plugins, told, say } = makeBench('now', 'late', 'odd');
  say('now', 'ready');
  assert.deepEqual(told, []);
  plugins.parsed();
  assert.deepEqual(told.splice(0), ['now ["begin"]', 'late ["begin"]', 'odd ["begin"]', 'now ["probe"]']);
  say('late', 'ready');
  assert.deepEqual(told.splice(0), ['late ["probe"]']);
  say('odd', 'broken it does not work');
  assert.deepEqual(told, []);
  plugins.loaded();
  assert.deepEqual(told.splice(0), ['now ["probe"]', 'late ["probe"]']);
  say('now', 's 1');
  plugins.loaded();
  assert.deepEqual(told, ['late ["probe"]']);
});

test('fault 13: readiness is told of the plugin whose host says so, and with every greeting', () => {
  const { posted, say, desk } = makeBench('a', 'b');
  say('a', 'ready');
  say('b', 'ready');
  posted.splice(0);
  say('b', 's 0');
  say('b', 's 1');
  assert.deepEqual(posted.splice(0), [
    { op: 'ready', plugin: 'b', ready: false },
    { op: 'ready', plugin: 'b', ready: true },
  ]);
  assert.deepEqual(live([desk.greeting()]), [
    [
      { name: 'a', hash: 'h' },
      { name: 'b', hash: 'h', ready: true },
    ],
  ]);
});

test('adapters that are not ready are asked less and less often, those that are not at all, and none in a hidden tab', () => {
  const { plugins, told, say, page } = makeBench('a', 'b', 'c');
  for (const name of ['a', 'b']) say(name, 'ready');
  say('c', 'broken it does not work');
  plugins.parsed();
  told.splice(0);
  say('a', 's 1');
  say('b', 's 0');
  const after = (ms: number) => {
    mock.timers.tick(ms);
    return told.splice(0).join();
  };
  const ask = 'b ["probe"]';
  assert.deepEqual([after(999), after(1), after(3999), after(1), after(15_000)], ['', ask, '', ask, ask]);
  assert.deepEqual([after(29_999), after(1), after(30_000)], ['', ask, ask]);
  page.visible = false;
  assert.deepEqual([after(30_000), after(600_000)], ['', '']);
  plugins.shown();
  assert.equal(after(0), '');
  page.visible = true;
  plugins.shown();
  assert.deepEqual([after(0), after(1000)], [ask, ask]);
  say('b', 's 1');
  assert.equal(after(600_000), '');
  say('a', 's 0');
  assert.deepEqual([after(1000), after(600_000) === ''], ['a ["probe"]', false]);
});

test('a navigation within the document has all asked soon, but not for each of many', () => {
  const { plugins, told, say } = makeBench('a', 'b');
  for (const name of ['a', 'b']) {
    say(name, 'ready');
    say(name, 's 1');
  }
  plugins.moved();
  plugins.moved();
  mock.timers.tick(249);
  assert.deepEqual(told, []);
  mock.timers.tick(1);
  assert.deepEqual(told.splice(0), ['a ["probe"]', 'b ["probe"]']);
  for (let ms = 0; ms < 10_000; ms += 50) {
    plugins.moved();
    mock.timers.tick(50);
  }
  assert.ok(told.length <= 2 * 10, `${told.length}`);
});

test('settings, a probe and a renewal reach the host of their plugin and no other', () => {
  const { desk, told } = makeBench('a', 'b');
  desk.fromWorker({ op: 'settings', plugin: 'a', settings: { values: { key: 'v' } } });
  desk.fromWorker({ op: 'probe', plugin: 'b' });
  desk.fromWorker({ op: 'renew', plugin: 'b', hash: 'h2', nonce: 'n', waitMs: 1000 });
  desk.fromWorker({ op: 'settings', plugin: 'none', settings: {} });
  assert.deepEqual(told.splice(0, 2), ['a ["settings",{"values":{"key":"v"}}]', 'b ["probe"]']);
  assert.deepEqual(told, ['b ["renew","n","h2"]']);
});

test('a renewed adapter is live with its hash and asked anew; one that was kept is live as before', () => {
  const { posted, told, say, plugins } = makeBench('a');
  say('a', 'ready');
  plugins.parsed();
  say('a', 's 1');
  posted.splice(0);
  told.splice(0);
  say('a', 'renewed h2');
  assert.deepEqual(posted.splice(0), [
    { op: 'live', plugins: [{ name: 'a', hash: 'h2' }], running: [] },
    { op: 'renewed', plugin: 'a', hash: 'h2' },
  ]);
  assert.deepEqual(told, ['a ["probe"]']);
  say('a', 'kept a typo in line 1');
  assert.deepEqual(posted, [{ op: 'renewed', plugin: 'a', hash: 'h2', problem: 'a typo in line 1' }]);
});

test('a plugin that is gone is torn down and not live any more; its calls end nevertheless', () => {
  const { desk, posted, told, say } = makeBench('a', 'b');
  say('a', 'ready');
  say('b', 'ready');
  desk.fromWorker({ op: 'call', id: 'x', plugin: 'a', tool: 't', maxBytes: 9, args: '{}' });
  posted.splice(0);
  desk.fromWorker({ op: 'remove', plugin: 'a' });
  desk.fromWorker({ op: 'remove', plugin: 'a' });
  assert.deepEqual(told.slice(1), ['a ["remove"]']);
  assert.deepEqual(posted.splice(0), [
    { op: 'live', plugins: [{ name: 'b', hash: 'h' }], vacant: [{ name: 'a' }], running: [{ id: 'x', plugin: 'a' }] },
  ]);
  for (const text of ['ready', 's 1', 'l 1 0 [{}]']) say('a', text);
  assert.deepEqual(posted, []);
  say('a', 'r 1 7');
  assert.deepEqual(posted.splice(0), [{ op: 'result', id: 'x', text: '7' }]);
  desk.fromWorker({ op: 'call', id: 'y', plugin: 'a', tool: 't', maxBytes: 9, args: '{}' });
  assert.match(JSON.stringify(posted), /not live/);
});

test('logs go at once, and together where they come fast; a port that is gone loses none', () => {
  const { posted, say, page, desk } = makeBench('a', 'b');
  say('a', 'l 1 0 [{"message":"1 x"}]');
  say('a', 'l 2 0 [{"message":"2"},{"message":"3"}]');
  say('a', 'l 1 0 [{"message":"4"}]');
  say('b', 'l 0 7 []');
  const log = (plugin: string, entries: string, dropped = 0) => ({ op: 'log', plugin, entries, dropped });
  assert.deepEqual(posted.splice(0), [log('a', '[{"message":"1 x"}]')]);
  mock.timers.tick(100);
  assert.deepEqual(posted.splice(0), [
    log('a', '[{"message":"2"},{"message":"3"},{"message":"4"}]'),
    log('b', '[]', 7),
  ]);
  mock.timers.tick(1000);
  page.port = false;
  say('a', 'l 1 0 [{"message":"5"}]');
  mock.timers.tick(1000);
  page.port = true;
  desk.connected();
  assert.deepEqual(posted.splice(0), [log('a', '[{"message":"5"}]')]);
  say('a', 'l 1 0 [6]');
  say('a', 'l 1 0 [7]');
  say('a', 'l 1 0 [8]');
  desk.leaving();
  assert.deepEqual(
    posted.filter((message) => message.op === 'log'),
    [log('a', '[6]'), log('a', '[7,8]')],
  );
});

test('what waits of logs is bounded; the oldest give way and are counted', () => {
  const { posted, say, page, desk } = makeBench('a', 'b');
  page.port = false;
  say('b', 'l 1 0 [0]');
  for (let i = 0; i < 60; i++) say('a', `l 25 0 [${Array.from({ length: 25 }, () => i).join()}]`);
  page.port = true;
  desk.connected();
  const logs = posted.filter((message) => message.op === 'log');
  const count = (text: string) => JSON.parse(text).length;
  const sent = logs.reduce((sum, { entries }) => sum + count(entries), 0);
  const dropped = logs.reduce((sum, message) => sum + message.dropped, 0);
  assert.deepEqual([sent + dropped, sent], [1501, 1000]);
  assert.ok(logs.every(({ entries }) => count(entries) <= 50));
  const [b] = logs.filter(({ plugin }) => plugin === 'b');
  assert.deepEqual(b, { op: 'log', plugin: 'b', entries: '[]', dropped: 1 });
});
