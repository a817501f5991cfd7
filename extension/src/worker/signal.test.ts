import assert from 'node:assert/strict';
import test from 'node:test';
import { Signal } from './signal.ts';

test('a signal calls its listeners with its arguments, in the order in which the listeners were added', () => {
  const signal = new Signal<[name: string, count: number]>();
  signal.emit('early', 0);
  const receivedValues: string[] = [];
  signal.addListener((name, count) => receivedValues.push(`first ${name} ${count}`));
  signal.addListener((name) => receivedValues.push(`second ${name}`));
  signal.emit('a', 1);
  assert.deepEqual(receivedValues, ['first a 1', 'second a']);
});
