import assert from 'node:assert/strict';
import test from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import { PluginUsage } from './usage.ts';

test('the list of recently used plugins is stored after a delay, newest first', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const usageState = { text: 'b c', writes: 0, changes: 0 };
  const usage = new PluginUsage({
    readUsage: async () => usageState.text,
    write: async (text) => {
      usageState.text = text;
      usageState.writes++;
    },
  });
  usage.changed.addListener(() => usageState.changes++);
  for (const name of ['a', 'c', 'a', 'a']) void usage.recordPluginUse(name);
  await runPendingPromises();
  assert.deepEqual(await usage.readNames(), ['a', 'c', 'b']);
  assert.equal(usageState.writes, 0);
  t.mock.timers.tick(5000);
  await runPendingPromises();
  assert.deepEqual([usageState.text, usageState.writes, usageState.changes], ['a c b', 1, 1]);
  for (let i = 0; i < 100; i++) void usage.recordPluginUse(`p${i}`);
  await runPendingPromises();
  assert.equal((await usage.readNames()).length, 64);
});

test('if the list of recently used plugins cannot be read, no plugin counts as recently used', async () => {
  const usage = new PluginUsage({
    readUsage: async () => {
      throw new Error('no disk');
    },
    write: async () => undefined,
  });
  assert.deepEqual(await usage.readNames(), []);
});
