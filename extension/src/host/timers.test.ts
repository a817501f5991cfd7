import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { adapter, type HostPort, makeRealm, type Realm } from '../../test/realm.ts';

/** set is a tool that sets n timers, the first in ms and each other everyMs later, and returns when all have run. */
const set = `{ name: 'set', handle: ({ n = 1, ms, everyMs = 0 }) => new Promise((resolve) => {
  let left = n;
  for (let i = 0; i < n; i++) globalThis.__openTabs._setTimer(ms + i * everyMs, () => --left || resolve('over'));
}) }`;
const cancelled = `{ name: 'cancel', handle: ({ ms }) => { globalThis.__openTabs._setTimer(ms, () => {})(); } }`;

/** open starts a plugin in virtual time. */
async function open(t: TestContext): Promise<{ realm: Realm; port: HostPort }> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const realm = makeRealm();
  realm.start('demo', 'h1', adapter('demo', `${set}, ${cancelled}`));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.idle();
  port.received.splice(0);
  return { realm, port };
}

test('the bridge is told when the next timer is due, and its wake ends the wait', async (t) => {
  const { realm, port } = await open(t);
  port.send('call', 1, 'set', 1 << 20, { ms: 1000 });
  await realm.idle();
  assert.deepEqual(port.received.splice(0), ['w 1000']);
  port.send('wake');
  await realm.idle();
  assert.deepEqual(port.received.splice(0), ['w 1000'], 'a wake that comes early is asked for again');
  t.mock.timers.setTime(1000);
  port.send('wake');
  await realm.idle();
  assert.deepEqual(port.received, ['r 1 "over"']);
});

test("the page's own timer ends the wait if no wake comes", async (t) => {
  const { realm, port } = await open(t);
  port.send('call', 1, 'set', 1 << 20, { ms: 1000 });
  await realm.idle();
  t.mock.timers.tick(999);
  realm.task();
  await realm.idle();
  assert.deepEqual(port.received.splice(0), ['w 1000']);
  t.mock.timers.tick(1);
  realm.task();
  await realm.idle();
  assert.deepEqual(port.received.splice(0), ['w -1', 'r 1 "over"']);
});

test('a thousand timers need one announcement at a time', async (t) => {
  const { realm, port } = await open(t);
  port.send('call', 1, 'set', 1 << 20, { n: 1000, ms: 1000, everyMs: 0.001 });
  await realm.idle();
  assert.deepEqual(port.received.splice(0), ['w 1000']);
  t.mock.timers.setTime(1001);
  port.send('wake');
  await realm.idle();
  assert.deepEqual(port.received, ['r 1 "over"']);
});

test('an earlier timer is announced, a later one is not', async (t) => {
  const { realm, port } = await open(t);
  for (const ms of [500, 1000, 200]) {
    port.send('call', ms, 'set', 1 << 20, { ms });
    await realm.idle();
  }
  assert.deepEqual(port.received, ['w 500', 'w 200']);
});

test('a timer that is taken back is not announced', async (t) => {
  const { realm, port } = await open(t);
  port.send('call', 1, 'cancel', 1 << 20, { ms: 1000 });
  await realm.idle();
  assert.deepEqual(port.received, ['n 1']);
});

test('nothing but a function is called, and what throws harms nobody', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const realm = makeRealm();
  const odd = `{ name: 'odd', handle: () => { for (const ms of [NaN, -5, 'x', 1e99]) globalThis.__openTabs._setTimer(ms, () => { throw 1; }); globalThis.__openTabs._setTimer(5); } }`;
  realm.start('demo', 'h1', adapter('demo', odd));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.idle();
  port.send('call', 1, 'odd', 1 << 20, {});
  await realm.idle();
  t.mock.timers.tick(1);
  realm.task();
  await realm.idle();
  assert.deepEqual(port.received, ['ready', 'n 1', 'w 0', `w ${2 ** 31 - 2}`]);
});
