import assert from 'node:assert/strict';
import test from 'node:test';
import { RunningCalls } from './running.ts';

test('calls are found by document and tab, and each change is reported', () => {
  const running = new RunningCalls();
  const sizes: number[] = [];
  running.changed.addListener(() => sizes.push(running.size));
  const add = (id: string, tabId: number, documentId: string) =>
    running.add({ id, plugin: 'p', tabId, documentId, mayHaveBegun: false, ping: 0 });
  add('a', 1, 'd1');
  add('b', 1, 'd2');
  add('c', 2, 'd3');
  const ids = (calls: readonly { readonly id: string }[]) => calls.map(({ id }) => id);
  assert.deepEqual(
    [ids(running.listInDocument('d2')), ids(running.listInTab(1)), running.ids],
    [['b'], ['a', 'b'], ['a', 'b', 'c']],
  );
  assert.deepEqual([running.isBusy('d1'), running.isBusy('d4'), running.has('c')], [true, false, true]);
  running.remove('c');
  running.remove('c');
  assert.deepEqual([sizes, running.get('c')], [[1, 2, 3, 2], undefined]);
});
