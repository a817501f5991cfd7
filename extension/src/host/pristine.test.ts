import assert from 'node:assert/strict';
import test from 'node:test';
import { type HostPort, hostileCode, makeAdapterCode, makeRealm, type Realm } from '../../test/realm.ts';

/** The constant `schema` uses built-in functions during parsing, as zod does. */
const schema = `{ safeParse: (data) => ({ success: true, data: Object.fromEntries(Object.keys(data).map((key) => [key, data[key]])) }) }`;
const tools = `
  { name: 'parsed', input: ${schema}, handle: (p) => p },
  { name: 'plain', handle: (p) => [p.limit ?? 'none', p.list.length, p.list[3] ?? 'none', p.list.map((v) => v + 1).join(), p.hasOwnProperty('list'), \`\${p}\`, Array.isArray(p.list)] },
  { name: 'sets', handle: (p) => { p.extra = 1; p.list.push(2); return { ...p }; } },
  { name: 'text', handle: (p) => [encodeURI(' '), new URL('http://a.example/').host, parseInt('7px', 10)] }`;

async function startAdapter(): Promise<{ realm: Realm; port: HostPort }> {
  const realm = makeRealm();
  realm.start('demo', 'h', makeAdapterCode('demo', tools, '() => true'));
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  assert.ok(port);
  port.receivedTexts.splice(0);
  realm.addContent();
  return { realm, port };
}

async function call(realm: Realm, port: HostPort, tool: string, args: object): Promise<string> {
  port.sendParts('call', 1, tool, 1 << 20, args);
  await realm.waitUntilIdle();
  return port.receivedTexts.splice(0).join();
}

test('a schema runs with the built-ins of document_start, and then the page gets its own built-ins back', async () => {
  const { realm, port } = await startAdapter();
  const builtInObjects = realm.run('const { setPrototypeOf } = Reflect; [Object, Object.prototype, Array.prototype]');
  assert.ok(Array.isArray(builtInObjects));
  realm.run(`page = ${hostileCode}; mine = Object.keys; added = 0; const parent = { __proto__: Object.prototype, map() { added++; } };
    Object.defineProperty(Object.prototype, 'added', { configurable: true, get() { added++; } });
    setPrototypeOf(Array.prototype, parent); delete Object.entries; page.watch()`);
  const sharedObjects = [0, 1, 2].map((i): object => builtInObjects[i]);
  const describeBuiltInShapes = () =>
    sharedObjects.map((on) => [Reflect.ownKeys(on).map(String).sort(), Reflect.getPrototypeOf(on)]);
  const builtInShapesBefore = describeBuiltInShapes();
  assert.equal(await call(realm, port, 'parsed', { secret: 'S3CRET' }), 'r 1 {"secret":"S3CRET"}');
  const observedBuiltInUses = realm.run('page.saw');
  assert.deepEqual(
    Array.isArray(observedBuiltInUses) &&
      Array.from({ length: observedBuiltInUses.length }, (_, i) => String(observedBuiltInUses[i])),
    [],
  );
  assert.equal(realm.run('added'), 0);
  assert.deepEqual(describeBuiltInShapes(), builtInShapesBefore);
  assert.equal(realm.run('mine === Object.keys'), true);
});

test('a call fails if the page made a replaced built-in non-configurable, and other replacements stay', async () => {
  for (const [makeNonConfigurableCode, lockedBuiltInName] of [
    [
      "Object.defineProperty(Object, 'keys', { value: () => ['forged'], writable: false, configurable: false })",
      'Object.keys',
    ],
    ["Object.defineProperty(Object.prototype, 'limit', { value: 666 })", 'Object.prototype.limit'],
    [
      'Object.preventExtensions(Object.setPrototypeOf(Array.prototype, { __proto__: Object.prototype }))',
      'the prototype of Array.prototype',
    ],
    ['Object.defineProperty(Array.prototype, 7, { value: 666 })', 'Array.prototype.7'],
  ]) {
    const { realm, port } = await startAdapter();
    realm.run(`mine = () => 1; Function.prototype.bind = mine; ${makeNonConfigurableCode}`);
    assert.equal(
      await call(realm, port, 'parsed', { secret: 'S3CRET' }),
      `e 1 {"code":"unsafe_page","message":"a script of the page has replaced ${lockedBuiltInName} and locked it, so it could read and change the call"}`,
    );
    assert.equal(realm.run('Function.prototype.bind === mine'), true);
  }
});

test('a call runs in a page that adds non-configurable methods or freezes unchanged built-ins', async () => {
  const { realm, port } = await startAdapter();
  realm.run(`Object.defineProperty(Array.prototype, 'last', { value() { return this[this.length - 1]; } });
    Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(Object)`);
  assert.equal(await call(realm, port, 'parsed', { secret: 'S3CRET' }), 'r 1 {"secret":"S3CRET"}');
});

test('arguments of a call inherit the standard methods, but no property that the page added', async () => {
  const { realm, port } = await startAdapter();
  realm.run(`for (const on of [Object.prototype, Array.prototype]) for (const key of ['limit', '3', 'extra', 'map', 'hasOwnProperty'])
    Object.defineProperty(on, key, { configurable: true, get() { taken++; return 'forged'; }, set() { taken++; } }); taken = 0`);
  assert.equal(
    await call(realm, port, 'plain', { list: [1, 2] }),
    'r 1 ["none",2,"none","2,3",true,"[object Object]",true]',
  );
  assert.equal(await call(realm, port, 'sets', { list: [1] }), 'r 1 {"list":[1,2],"extra":1}');
  assert.equal(realm.run('taken'), 0);
});

test('plugin code uses the JavaScript globals of document_start, even if a page script redeclares them', async () => {
  const { realm, port } = await startAdapter();
  realm.run(`let URL = class { host = 'forged' }; const encodeURI = () => 'forged'; window.parseInt = () => 666`);
  assert.equal(await call(realm, port, 'text', {}), 'r 1 ["%20","a.example",7]');
});

test('a late adapter uses the built-ins of document_start', async () => {
  const realm = makeRealm();
  const lateAdapterCode = `const { freeze } = Object; const keys = Object.keys; const tools = [{ name: 'keys', handle: (p) => keys(p) }];
    globalThis.__openTabs.adapters = { demo: freeze({ tools, isReady: () => true }) };`;
  realm.start('demo', 'h', lateAdapterCode, { start: 'dom' });
  const [port] = realm.bridge();
  assert.ok(port);
  await realm.waitUntilIdle();
  realm.addContent();
  realm.run(`taken = 0; for (const key of ['keys', 'freeze']) Object[key] = (given) => { taken++; return given; };
    Object.defineProperty(Object.prototype, 'adapters', { configurable: true, set() { taken++; } })`);
  port.sendParts('begin');
  await realm.waitUntilIdle();
  assert.equal(await call(realm, port, 'keys', { a: 1 }), 'ready,r 1 ["a"]');
  assert.equal(realm.run('taken'), 0);
});
