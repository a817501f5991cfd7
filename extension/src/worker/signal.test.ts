import assert from 'node:assert/strict';
import test from 'node:test';
import { Signal } from './signal.ts';

test('listeners get the arguments in the order in which they were added', () => {
  const signal = new Signal<[name: string, count: number]>();
  signal.emit('early', 0);
  const got: string[] = [];
  signal.addListener((name, count) => got.push(`first ${name} ${count}`));
  signal.addListener((name) => got.push(`second ${name}`));
  signal.emit('a', 1);
  assert.deepEqual(got, ['first a 1', 'second a']);
});
