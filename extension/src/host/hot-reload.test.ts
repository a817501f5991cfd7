import assert from 'node:assert/strict';
import test from 'node:test';
import { makeAdapterCode, makeRealm } from '../../test/realm.ts';
import { makeAdapterScript } from '../worker/delivery/entry-points.ts';

const makeVersionCode = (name: string) => `
  log.push('start ${name}'); globalThis.__openTabs.tokenCache.seen = (globalThis.__openTabs.tokenCache.seen ?? '') + '${name}';
  ${makeAdapterCode(
    'demo',
    `{ name: 'run', handle: () => ['${name}', globalThis.__openTabs.tokenCache.seen, globalThis.__openTabs.preScript.demo] }`,
  ).replace('tools:', `teardown() { log.push('end ${name}'); }, tools:`)}`;

async function startAdapter(code = makeVersionCode('1')) {
  const realm = makeRealm();
  realm.run('var log = []');
  realm.start('demo', 'h1', code, { entryPoint: '_entry', preScript: `globalThis.__openTabs.preScript.demo = 'P'` });
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  const log = () => String(realm.run('log.splice(0).join()'));
  const evaluateAdapter = (nonce: string, hash: string, adapterText: string) =>
    realm.run(
      makeAdapterScript('_entry', nonce, hash, `() => function (globalThis, window, self) {\n${adapterText}\n}`),
    );
  const armReplacement = async (nonce: string, hash: string) => {
    port.sendParts('renew', nonce, hash);
    await realm.waitUntilIdle();
  };
  const call = async () => {
    port.sendParts('call', 1, 'run', 1 << 20, {});
    await realm.waitUntilIdle();
    return port.receivedTexts.splice(0).at(-1);
  };
  return { realm, port, log, evaluateAdapter, armReplacement, call };
}

test('a hot reload tears down the old adapter before it starts the new one, and keeps caches', async () => {
  const { port, log, evaluateAdapter, armReplacement, call } = await startAdapter();
  await armReplacement('n', 'h2');
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('2')), true);
  assert.deepEqual(
    [log(), port.receivedTexts.splice(0)],
    ['start 1,end 1,start 2', ['ready', 'armed n', 'renewed h2']],
  );
  assert.equal(await call(), 'r 1 ["2","12","P"]');
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('3')), false);
  assert.equal(await call(), 'r 1 ["2","12","P"]');
});

test('after a hot reload, the host reports the readiness of the new adapter', async () => {
  const { realm, port, evaluateAdapter: sendAdapter, armReplacement } = await startAdapter();
  port.sendParts('probe');
  await realm.waitUntilIdle();
  await armReplacement('n', 'h2');
  sendAdapter('n', 'h2', makeVersionCode('2'));
  port.sendParts('probe');
  await realm.waitUntilIdle();
  assert.deepEqual(port.readinessReports, ['s 1', 's 1']);
});

test('if the new adapter fails to start, the host restarts the old adapter and reports the reason', async () => {
  for (const [brokenCode, expectedReason] of [
    ['throw new Error("typo")', /^kept the adapter threw while it started: typo$/],
    ['globalThis.__openTabs.adapters = {}', /^kept the adapter did not register as demo$/],
  ] as const) {
    const { realm, port, log, evaluateAdapter, armReplacement, call } = await startAdapter();
    await armReplacement('n', 'h2');
    assert.equal(evaluateAdapter('n', 'h2', brokenCode), true);
    realm.runNextTask();
    assert.equal(log(), 'start 1,end 1,start 1');
    assert.match(port.receivedTexts[2] ?? '', expectedReason);
    assert.match(
      port.receivedTexts[3] ?? '',
      /^l 1 0 \[{"level":"error","message":"the new adapter of demo is not used: the adapter/,
    );
    assert.equal(await call(), 'r 1 ["1","11","P"]');
    await armReplacement('m', 'h3');
    assert.equal(evaluateAdapter('m', 'h3', makeVersionCode('3')), true);
    assert.equal(await call(), 'r 1 ["3","113","P"]');
  }
});

test('an adapter that failed to start can be replaced', async () => {
  const { port, evaluateAdapter, armReplacement, call } = await startAdapter('throw new Error("typo")');
  port.sendParts('begin');
  await armReplacement('n', 'h2');
  assert.match(port.receivedTexts.join(), /^broken .*typo,armed n$/);
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('2')), true);
  assert.equal(port.receivedTexts.at(-1), 'renewed h2');
  assert.equal(await call(), 'r 1 ["2","2","P"]');
});

test('the entry point requires the nonce, and a page cannot replace the entry point', async () => {
  const { realm, port, log, evaluateAdapter, armReplacement, call } = await startAdapter();
  log();
  assert.equal(evaluateAdapter('', '', makeVersionCode('evil')), false);
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('evil')), false);
  await armReplacement('n', 'h2');
  for (const [nonce, hash] of [
    ['', ''],
    ['', 'h2'],
    ['n', ''],
    ['n', 'h3'],
    ['undefined', 'h2'],
  ] as const) {
    assert.equal(evaluateAdapter(nonce, hash, makeVersionCode('evil')), false);
  }
  assert.equal(realm.run(`_entry('n', 'h2', 'text')`), false);
  assert.equal(realm.run(`_entry()`), false);
  realm.run(
    `try { _entry = () => true } catch {}; try { delete window._entry } catch {}; globalThis = { _entry: () => true };`,
  );
  realm.run(
    `try { Object.defineProperty(window, '_entry', { value: () => true }) } catch {}; try { _entry.call = 1; } catch {}`,
  );
  assert.equal(realm.run(`Object.keys(_entry).length`), 0);
  assert.deepEqual([log(), port.receivedTexts.splice(0)], ['', ['ready', 'armed n']]);
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('2')), true);
  assert.equal(await call(), 'r 1 ["2","12","P"]');
});

test('the entry point is not among the property names of the window', async () => {
  const realm = makeRealm();
  const names = `Reflect.ownKeys(window).filter((name) => name !== 'event').join()`;
  const propertyNamesBefore = realm.run(names);
  realm.start('demo', 'h', makeAdapterCode('demo', ''), { entryPoint: '_entry' });
  realm.bridge();
  await realm.waitUntilIdle();
  assert.equal(realm.run('typeof _entry'), 'function');
  assert.equal(realm.run(names), propertyNamesBefore);
});

test('after the removal of its adapter, a plugin can start another adapter with the kept values', async () => {
  const { port, log, evaluateAdapter, armReplacement, call } = await startAdapter();
  await armReplacement('n', 'h2');
  port.sendParts('remove');
  await armReplacement('', 'h2');
  assert.equal(evaluateAdapter('n', 'h2', makeVersionCode('2')), false);
  await armReplacement('n', 'h2');
  assert.equal(evaluateAdapter('n', 'h2', 'throw new Error("typo")'), true);
  assert.equal(port.receivedTexts.splice(0)[3], 'kept the adapter threw while it started: typo');
  assert.match((await call()) ?? '', /^e 1 .*did not register/);
  await armReplacement('m', 'h3');
  assert.equal(evaluateAdapter('m', 'h3', makeVersionCode('3')), true);
  assert.equal(log(), 'start 1,end 1,start 3');
  assert.equal(await call(), 'r 1 ["3","13","P"]');
});
