import assert from 'node:assert/strict';
import test from 'node:test';
import { builtIns, makeAdapterCode, makeRealm } from '../../test/realm.ts';
import { makeAdapterScript } from '../worker/delivery/entry-points.ts';

const wrapAdapterCode = (plugin: string) =>
  `function ({${builtIns.join()}}) { arguments[1]?.(new Error()); return function (globalThis, window, self) {
    ${makeAdapterCode(plugin, `{ name: 'key', handle: () => [globalThis.__openTabs.pluginConfig.key] }`)} }; }`;
const makeOptions = (name: string, optionFields: object = {}) =>
  JSON.stringify({
    name,
    hash: `h-${name}`,
    start: 'now',
    settings: { values: { key: `key of ${name}` } },
    ...optionFields,
  });

async function makeHostPage() {
  const realm = makeRealm();
  realm.startBase('_base');
  const [baseHost] = realm.bridge();
  assert.ok(baseHost);
  await realm.waitUntilIdle();
  realm.addContent();
  const request = async (name: string, nonce: string, optionFields?: object) => {
    baseHost.sendParts('host', makeOptions(name, optionFields), nonce);
    await realm.waitUntilIdle();
    const port = realm.ports.at(-1);
    assert.equal(port?.plugin, name);
    return port;
  };
  const evaluateAdapter = (nonce: string, name: string, adapterText = wrapAdapterCode(name)) =>
    realm.run(makeAdapterScript('_base', nonce, `h-${name}`, adapterText));
  return { realm, base: baseHost, request, evaluateAdapter };
}

test('the base, which creates other hosts, does not reveal the name of any plugin to the page', async () => {
  const { realm, base: baseHost } = await makeHostPage();
  assert.deepEqual([baseHost.plugin, baseHost.hash, baseHost.receivedTexts, realm.ports.length], ['', '', [], 1]);
});

test('late plugins have separate ports, entry points and settings', async () => {
  const { realm, request, evaluateAdapter } = await makeHostPage();
  const firstRequest = await request('a', 'n1');
  const secondRequest = await request('b', 'n2');
  assert.deepEqual([firstRequest?.receivedTexts, secondRequest?.receivedTexts], [['armed n1'], ['armed n2']]);
  assert.equal(evaluateAdapter('n2', 'a'), false);
  assert.equal(evaluateAdapter('n1', 'b'), false);
  assert.equal(evaluateAdapter('n2', 'b'), true);
  assert.equal(evaluateAdapter('n2', 'b'), false, 'once');
  assert.equal(evaluateAdapter('n1', 'a'), true);
  for (const [port, name] of [
    [firstRequest, 'a'],
    [secondRequest, 'b'],
  ] as const) {
    assert.equal(port?.receivedTexts.at(-1), `renewed h-${name}`);
    port?.sendParts('call', 1, 'key', 1 << 20, {});
    await realm.waitUntilIdle();
    assert.equal(port?.receivedTexts.at(-1), `r 1 ["key of ${name}"]`);
  }
});

test('a late plugin starts when the document is parsed, and its code can be replaced before the start', async () => {
  const { realm, request, evaluateAdapter } = await makeHostPage();
  const port = await request('a', 'n1', { start: 'dom' });
  assert.equal(evaluateAdapter('n1', 'a', 'function () { throw new Error("not this one") }'), true);
  port?.sendParts('renew', 'n2', 'h-a');
  await realm.waitUntilIdle();
  assert.equal(evaluateAdapter('n2', 'a'), true);
  assert.deepEqual(port?.receivedTexts, ['armed n1', 'armed n2']);
  port?.sendParts('begin');
  await realm.waitUntilIdle();
  assert.equal(port?.receivedTexts.at(-1), 'renewed h-a');
});

test('a base without a bridge creates no host, and a page cannot use its entry point', async () => {
  const realm = makeRealm();
  realm.startBase('_base');
  realm.addContent();
  await realm.waitUntilIdle();
  realm.dispatch('opentabs:bridge');
  realm.bridge();
  await realm.waitUntilIdle();
  assert.equal(realm.ports.length, 0);
  for (const args of ['', `'', '', () => {}`, `undefined, undefined, () => {}`]) {
    assert.equal(realm.run(`_base(${args})`), false);
  }
});

test('in an isolated world a host starts at any time if the bridge waits for it', async () => {
  const realm = makeRealm();
  realm.addContent();
  realm.startAfterLoad('a', makeAdapterCode('a', `{ name: 'key', handle: () => 1 }`), 'random');
  await realm.waitUntilIdle();
  const [port] = realm.ports;
  assert.deepEqual([port?.plugin, port?.receivedTexts], ['a', ['ready']]);
});
