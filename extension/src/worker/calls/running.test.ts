import assert from 'node:assert/strict';
import test from 'node:test';
import { RunningCalls } from './running.ts';

test('RunningCalls finds calls by document and by tab, and reports each change', () => {
  const runningCalls = new RunningCalls();
  const callCounts: number[] = [];
  runningCalls.changed.addListener(() => callCounts.push(runningCalls.size));
  const addCall = (id: string, tabId: number, documentId: string) =>
    runningCalls.add({ id, plugin: 'p', tabId, documentId, mayHaveBegun: false, ping: 0 });
  addCall('a', 1, 'd1');
  addCall('b', 1, 'd2');
  addCall('c', 2, 'd3');
  const ids = (calls: readonly { readonly id: string }[]) => calls.map(({ id }) => id);
  assert.deepEqual(
    [ids(runningCalls.listInDocument('d2')), ids(runningCalls.listInTab(1)), runningCalls.ids],
    [['b'], ['a', 'b'], ['a', 'b', 'c']],
  );
  assert.deepEqual([runningCalls.isBusy('d1'), runningCalls.isBusy('d4'), runningCalls.has('c')], [true, false, true]);
  runningCalls.remove('c');
  runningCalls.remove('c');
  assert.deepEqual([callCounts, runningCalls.get('c')], [[1, 2, 3, 2], undefined]);
});
