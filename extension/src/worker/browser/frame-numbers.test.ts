import assert from 'node:assert/strict';
import test from 'node:test';
import { FrameNumbers } from './frame-numbers.ts';

test('the numbers of a frame survive a restart of the worker', async () => {
  const storedValues = new Map<string, string>();
  const storage = {
    readSessionValue: async (key: string) => storedValues.get(key),
    writeSessionValue: async (key: string, value: string) => void storedValues.set(key, value),
  };
  const frameNumbers = new FrameNumbers(storage);
  assert.deepEqual(await frameNumbers.get(1, 0), { ref: 0, snapshot: 0 });
  await Promise.all([frameNumbers.set(1, 0, { ref: 3, snapshot: 1 }), frameNumbers.set(1, 7, { ref: 5, snapshot: 2 })]);
  const reloadedNumbers = new FrameNumbers(storage);
  assert.deepEqual(await reloadedNumbers.get(1, 0), { ref: 3, snapshot: 1 });
  assert.deepEqual(await reloadedNumbers.get(1, 7), { ref: 5, snapshot: 2 });
  for (let tabId = 2; tabId < 1200; tabId++) await reloadedNumbers.set(tabId, 0, { ref: 1, snapshot: 1 });
  assert.deepEqual(await reloadedNumbers.get(1, 0), { ref: 0, snapshot: 0 }, 'the oldest frame must be dropped');
});
