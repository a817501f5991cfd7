import assert from 'node:assert/strict';
import test from 'node:test';
import { adapter, builtIns, makeRealm } from '../../test/realm.ts';
import { enter } from '../worker/entry-points.ts';

const code = (plugin: string) =>
  `function ({${builtIns.join()}}) { return function (globalThis, window, self) {
    ${adapter(plugin, `{ name: 'key', handle: () => [globalThis.__openTabs.pluginConfig.key] }`)} }; }`;
const options = (name: string, more: object = {}) =>
  JSON.stringify({ name, hash: `h-${name}`, start: 'now', settings: { values: { key: `key of ${name}` } }, ...more });

/** makePage is a page whose scripts have run when the first plugin comes. */
async function makePage() {
  const realm = makeRealm();
  realm.startBase('_base');
  const [base] = realm.bridge();
  assert.ok(base);
  await realm.idle();
  realm.addContent();
  const ask = async (name: string, nonce: string, more?: object) => {
    base.send('host', options(name, more), nonce);
    await realm.idle();
    const port = realm.ports.at(-1);
    assert.equal(port?.plugin, name);
    return port;
  };
  const bring = (nonce: string, name: string, text = code(name)) => realm.run(enter('_base', nonce, `h-${name}`, text));
  return { realm, base, ask, bring };
}

test('a page of any plugin starts with the same base, which says nothing', async () => {
  const { realm, base } = await makePage();
  assert.deepEqual([base.plugin, base.hash, base.received, realm.ports.length], ['', '', [], 1]);
});

test('plugins that come later have ports, entry points and settings of their own', async () => {
  const { realm, ask, bring } = await makePage();
  const a = await ask('a', 'n1');
  const b = await ask('b', 'n2');
  assert.deepEqual([a?.received, b?.received], [['armed n1'], ['armed n2']]);
  assert.equal(bring('n2', 'a'), false);
  assert.equal(bring('n1', 'b'), false);
  assert.equal(bring('n2', 'b'), true);
  assert.equal(bring('n2', 'b'), false, 'once');
  assert.equal(bring('n1', 'a'), true);
  for (const [port, name] of [
    [a, 'a'],
    [b, 'b'],
  ] as const) {
    assert.equal(port?.received.at(-1), `renewed h-${name}`);
    port?.send('call', 1, 'key', 1 << 20, {});
    await realm.idle();
    assert.equal(port?.received.at(-1), `r 1 ["key of ${name}"]`);
  }
});

test('a plugin that starts when the document is parsed waits for that, and takes its code once more until then', async () => {
  const { realm, ask, bring } = await makePage();
  const port = await ask('a', 'n1', { start: 'dom' });
  assert.equal(bring('n1', 'a', 'function () { throw new Error("not this one") }'), true);
  port?.send('renew', 'n2', 'h-a');
  await realm.idle();
  assert.equal(bring('n2', 'a'), true);
  assert.deepEqual(port?.received, ['armed n1', 'armed n2']);
  port?.send('begin');
  await realm.idle();
  assert.equal(port?.received.at(-1), 'renewed h-a');
});

test('a base that no bridge has taken makes nothing, and a page can not call it', async () => {
  const realm = makeRealm();
  realm.startBase('_base');
  realm.addContent();
  await realm.idle();
  realm.dispatch('opentabs:bridge');
  realm.bridge();
  await realm.idle();
  assert.equal(realm.ports.length, 0);
  for (const args of ['', `'', '', () => {}`, `undefined, undefined, () => {}`]) {
    assert.equal(realm.run(`_base(${args})`), false);
  }
});

test('in a world of its own a host starts at any time, where the bridge waits for it', async () => {
  const realm = makeRealm();
  realm.addContent();
  realm.startLate('a', adapter('a', `{ name: 'key', handle: () => 1 }`), 'random');
  await realm.idle();
  const [port] = realm.ports;
  assert.deepEqual([port?.plugin, port?.received], ['a', ['ready']]);
});
