import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type HostPort, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

const timerTool = `{ name: 'set', handle: ({ n = 1, ms, everyMs = 0 }) => new Promise((resolve) => {
  let left = n;
  for (let i = 0; i < n; i++) globalThis.__openTabs._setTimer(ms + i * everyMs, () => --left || resolve('over'));
}) }`;
const cancelTool = `{ name: 'cancel', handle: ({ ms }) => { globalThis.__openTabs._setTimer(ms, () => {})(); } }`;

async function openWithTimerTool(t: TestContext): Promise<{ realm: Realm; port: HostPort }> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const realm = makeRealm();
  realm.start('demo', 'h1', makeAdapterCode('demo', `${timerTool}, ${cancelTool}`));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  port.receivedTexts.splice(0);
  return { realm, port };
}

test('the host reports to the bridge when its next timer is due, and a wake message runs a due timer', async (t) => {
  const { realm, port } = await openWithTimerTool(t);
  port.sendParts('call', 1, 'set', 1 << 20, { ms: 1000 });
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['w 1000']);
  port.sendParts('wake');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['w 1000'], 'an early wake must cause a new report');
  t.mock.timers.setTime(1000);
  port.sendParts('wake');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 "over"']);
});

test('without a wake message, the native timer runs the timer of the adapter', async (t) => {
  const { realm, port } = await openWithTimerTool(t);
  port.sendParts('call', 1, 'set', 1 << 20, { ms: 1000 });
  await realm.waitUntilIdle();
  t.mock.timers.tick(999);
  realm.runNextTask();
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['w 1000']);
  t.mock.timers.tick(1);
  realm.runNextTask();
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['w -1', 'r 1 "over"']);
});

test('a thousand timers that one task sets cause one report to the bridge', async (t) => {
  const { realm, port } = await openWithTimerTool(t);
  port.sendParts('call', 1, 'set', 1 << 20, { n: 1000, ms: 1000, everyMs: 0.001 });
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts.splice(0), ['w 1000']);
  t.mock.timers.setTime(1001);
  port.sendParts('wake');
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['r 1 "over"']);
});

test('the host reports a new timer only if the timer is due before all others', async (t) => {
  const { realm, port } = await openWithTimerTool(t);
  for (const ms of [500, 1000, 200]) {
    port.sendParts('call', ms, 'set', 1 << 20, { ms });
    await realm.waitUntilIdle();
  }
  assert.deepEqual(port.receivedTexts, ['w 500', 'w 200']);
});

test('the host does not report a cancelled timer to the bridge', async (t) => {
  const { realm, port } = await openWithTimerTool(t);
  port.sendParts('call', 1, 'cancel', 1 << 20, { ms: 1000 });
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['n 1']);
});

test('invalid timers and errors of callbacks are ignored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const realm = makeRealm();
  const invalidDelayCode = `{ name: 'odd', handle: () => { for (const ms of [NaN, -5, 'x', 1e99]) globalThis.__openTabs._setTimer(ms, () => { throw 1; }); globalThis.__openTabs._setTimer(5); } }`;
  realm.start('demo', 'h1', makeAdapterCode('demo', invalidDelayCode));
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  port.sendParts('call', 1, 'odd', 1 << 20, {});
  await realm.waitUntilIdle();
  t.mock.timers.tick(1);
  realm.runNextTask();
  await realm.waitUntilIdle();
  assert.deepEqual(port.receivedTexts, ['ready', 'n 1', 'w 0', `w ${2 ** 31 - 2}`]);
});
