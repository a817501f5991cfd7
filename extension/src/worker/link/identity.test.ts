import assert from 'node:assert/strict';
import test from 'node:test';
import { BrowserIdentity, readConnection, type Storage } from './identity.ts';

function makeStorage(file?: string) {
  const local = new Map<string, string>();
  const session = new Map<string, string>();
  const storage: Storage = {
    readSetting: async (key) => local.get(key),
    writeSetting: async (key, value) => void local.set(key, value),
    readSessionValue: async (key) => session.get(key),
    writeSessionValue: async (key, value) => void session.set(key, value),
    readOwnFile: async (name) => (name === 'connection.json' ? file : undefined),
    platformName: async () => 'Linux',
    extensionVersion: () => '1.2.3',
  };
  return { storage, session };
}

test('a browser keeps its ID, and its boot ID until it restarts', async () => {
  const { storage, session } = makeStorage();
  const identity = new BrowserIdentity(storage);
  const first = await identity.hello();
  assert.deepEqual([first.protocol, first.browserName, first.extensionVersion], [1, 'Chrome on Linux', '1.2.3']);
  assert.deepEqual(await new BrowserIdentity(storage).hello(), first);
  session.clear();
  const second = await identity.hello();
  assert.equal(second.browserId, first.browserId);
  assert.notEqual(second.bootId, first.bootId);
});

test('the user names the browser', async () => {
  const identity = new BrowserIdentity(makeStorage().storage);
  await identity.rename(`  Work ${'x'.repeat(100)}`);
  assert.equal((await identity.hello()).browserName, `Work ${'x'.repeat(55)}`);
  assert.equal(identity.name, `Work ${'x'.repeat(55)}`);
  await identity.rename(' ');
  assert.equal((await identity.hello()).browserName, 'Chrome on Linux');
});

test('readConnection accepts a valid connection.json only', async () => {
  assert.deepEqual(await readConnection(makeStorage('{"port":9527,"key":"t"}').storage), { port: 9527, key: 't' });
  const bad = [
    undefined,
    '',
    '{',
    '[]',
    '{"port":"9527","key":"t"}',
    '{"port":0,"key":"t"}',
    '{"port":70000,"key":"t"}',
  ];
  for (const file of [...bad, '{"port":1.5,"key":"t"}', '{"port":1,"key":""}', '{"port":1}']) {
    assert.equal(await readConnection(makeStorage(file).storage), undefined, file);
  }
});
