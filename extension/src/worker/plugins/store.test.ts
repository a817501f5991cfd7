import assert from 'node:assert/strict';
import test from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import { makeCodeStore } from './store.ts';

function makeFixture() {
  const cachedCode = new Map<string, string>();
  const fetchedNames: string[] = [];
  const storageState = { full: false };
  const makeStore = () =>
    makeCodeStore({
      fetch: async ({ name = '', script }) => {
        fetchedNames.push(`${name}/${script}`);
        if (script === 'gone') throw new Error('the plugin has another script now');
        return { code: `code of ${name}`, ...(name === '' ? {} : { options: '{}' }) };
      },
      readCached: async (key) => cachedCode.get(key),
      writeCached: async (key, text) => {
        if (storageState.full) throw new Error('QuotaExceededError');
        cachedCode.set(key, text);
      },
      listCachedKeys: async () => [...cachedCode.keys()],
      removeCached: async (key) => void cachedCode.delete(key),
    });
  return {
    cachedCode,
    fetchedNames,
    storageState,
    makeStore,
    store: makeStore(),
  };
}

test('code is fetched from the server once, and then read from the cache, even by a new worker', async () => {
  const { fetchedNames, makeStore, store } = makeFixture();
  const [firstResult, concurrentResult] = await Promise.all([store.get('a', '1'), store.get('a', '1')]);
  assert.deepEqual([firstResult, concurrentResult], [{ code: 'code of a', options: '{}' }, firstResult]);
  await runPendingPromises();
  assert.deepEqual(await makeStore().get('a', '1'), firstResult);
  assert.deepEqual(await store.get('', 'h'), { code: 'code of ' });
  assert.deepEqual(fetchedNames, ['a/1', '/h']);
});

test('an error of the server is not cached', async () => {
  const { fetchedNames, store, cachedCode } = makeFixture();
  await assert.rejects(store.get('a', 'gone'), /another script/);
  await assert.rejects(store.get('a', 'gone'), /another script/);
  assert.deepEqual([fetchedNames.length, cachedCode.size], [2, 0]);
});

test('CodeStore works even if the code cache is full or damaged', async (t) => {
  t.mock.method(console, 'warn', () => undefined);
  const { cachedCode, storageState, fetchedNames, store } = makeFixture();
  cachedCode.set('a/1', '{"code":');
  storageState.full = true;
  assert.equal((await store.get('a', '1')).code, 'code of a');
  assert.deepEqual(fetchedNames, ['a/1']);
});

test('code of plugins that no longer exist is removed', async () => {
  const { cachedCode, store } = makeFixture();
  await store.get('a', '1');
  await store.get('b', '1');
  await runPendingPromises();
  await store.removeOtherScripts([{ name: 'b', script: '1' }]);
  assert.deepEqual([...cachedCode.keys()], ['b/1']);
});
