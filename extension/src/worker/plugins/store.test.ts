import assert from 'node:assert/strict';
import test from 'node:test';
import { settle } from '../../../test/server.ts';
import { makeCodeStore } from './store.ts';

function makeFixture() {
  const cached = new Map<string, string>();
  const asked: string[] = [];
  const state = { full: false };
  const make = () =>
    makeCodeStore({
      fetch: async ({ name = '', script }) => {
        asked.push(`${name}/${script}`);
        if (script === 'gone') throw new Error('the plugin has another script now');
        return { code: `code of ${name}`, ...(name === '' ? {} : { options: '{}' }) };
      },
      readCached: async (key) => cached.get(key),
      writeCached: async (key, text) => {
        if (state.full) throw new Error('QuotaExceededError');
        cached.set(key, text);
      },
      listCachedKeys: async () => [...cached.keys()],
      removeCached: async (key) => void cached.delete(key),
    });
  return { cached, asked, state, make, store: make() };
}

test('code is fetched from the server once, and then read from the cache, even by a new worker', async () => {
  const { asked, make, store } = makeFixture();
  const [one, same] = await Promise.all([store.get('a', '1'), store.get('a', '1')]);
  assert.deepEqual([one, same], [{ code: 'code of a', options: '{}' }, one]);
  await settle();
  assert.deepEqual(await make().get('a', '1'), one);
  assert.deepEqual(await store.get('', 'h'), { code: 'code of ' });
  assert.deepEqual(asked, ['a/1', '/h']);
});

test('a refusal is not cached', async () => {
  const { asked, store, cached } = makeFixture();
  await assert.rejects(store.get('a', 'gone'), /another script/);
  await assert.rejects(store.get('a', 'gone'), /another script/);
  assert.deepEqual([asked.length, cached.size], [2, 0]);
});

test('a full or damaged cache is ignored', async (t) => {
  t.mock.method(console, 'warn', () => undefined);
  const { cached, state, asked, store } = makeFixture();
  cached.set('a/1', '{"code":');
  state.full = true;
  assert.equal((await store.get('a', '1')).code, 'code of a');
  assert.deepEqual(asked, ['a/1']);
});

test('code of plugins that no longer exist is removed', async () => {
  const { cached, store } = makeFixture();
  await store.get('a', '1');
  await store.get('b', '1');
  await settle();
  await store.removeOthers([{ name: 'b', script: '1' }]);
  assert.deepEqual([...cached.keys()], ['b/1']);
});
