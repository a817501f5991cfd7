import assert from 'node:assert/strict';
import test from 'node:test';
import { FrameNumbers } from './frame-numbers.ts';

test('the numbers of a frame survive a restart of the worker', async () => {
  const stored = new Map<string, string>();
  const storage = {
    readSessionValue: async (key: string) => stored.get(key),
    writeSessionValue: async (key: string, value: string) => void stored.set(key, value),
  };
  const numbers = new FrameNumbers(storage);
  assert.deepEqual(await numbers.get(1, 0), { ref: 0, snapshot: 0 });
  await Promise.all([numbers.set(1, 0, { ref: 3, snapshot: 1 }), numbers.set(1, 7, { ref: 5, snapshot: 2 })]);
  const restarted = new FrameNumbers(storage);
  assert.deepEqual(await restarted.get(1, 0), { ref: 3, snapshot: 1 });
  assert.deepEqual(await restarted.get(1, 7), { ref: 5, snapshot: 2 });
  for (let tabId = 2; tabId < 1200; tabId++) await restarted.set(tabId, 0, { ref: 1, snapshot: 1 });
  assert.deepEqual(await restarted.get(1, 0), { ref: 0, snapshot: 0 }, 'the oldest frames are forgotten');
});
