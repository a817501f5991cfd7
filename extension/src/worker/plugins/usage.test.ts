import assert from 'node:assert/strict';
import test from 'node:test';
import { settle } from '../../../test/server.ts';
import { PluginUsage } from './usage.ts';

test('recent uses are stored after a delay, newest first', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const state = { text: 'b c', writes: 0, changes: 0 };
  const usage = new PluginUsage({
    read: async () => state.text,
    write: async (text) => {
      state.text = text;
      state.writes++;
    },
  });
  usage.changed.addListener(() => state.changes++);
  for (const name of ['a', 'c', 'a', 'a']) void usage.recordUse(name);
  await settle();
  assert.deepEqual(await usage.readNames(), ['a', 'c', 'b']);
  assert.equal(state.writes, 0);
  t.mock.timers.tick(5000);
  await settle();
  assert.deepEqual([state.text, state.writes, state.changes], ['a c b', 1, 1]);
  for (let i = 0; i < 100; i++) void usage.recordUse(`p${i}`);
  await settle();
  assert.equal((await usage.readNames()).length, 64);
});

test('if the stored usage cannot be read, no plugin counts as recently used', async () => {
  const usage = new PluginUsage({
    read: async () => {
      throw new Error('no disk');
    },
    write: async () => undefined,
  });
  assert.deepEqual(await usage.readNames(), []);
});
