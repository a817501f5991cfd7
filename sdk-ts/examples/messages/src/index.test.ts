import assert from 'node:assert/strict';
import test from 'node:test';
import plugin from './index.ts';

test('the plugin is ready while a user is logged in', async (t) => {
  let isLoggedOut = false;
  const documentElement = { hasAttribute: (name: string) => name === 'data-logged-out' && isLoggedOut };
  Object.defineProperty(globalThis, 'document', { value: { documentElement }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  assert.equal(await plugin.isReady(), true);
  isLoggedOut = true;
  assert.equal(await plugin.isReady(), false);
});

test('agents see only tools that are useful for a chat site', () => {
  assert.deepEqual(
    plugin.tools.map(({ name }) => name),
    ['export_messages', 'count_authors', 'compare_channels'],
  );
});
