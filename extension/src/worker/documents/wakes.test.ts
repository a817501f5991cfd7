import assert from 'node:assert/strict';
import test from 'node:test';
import { makeWakeTimers } from './wakes.ts';

test('a document is woken once, at the last requested time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const woken: string[] = [];
  const doc = (name: string) => ({ post: () => woken.push(name) });
  const [a, b, gone] = [doc('a'), doc('b'), doc('gone')];
  const wakes = makeWakeTimers();
  wakes.schedule(a, 100);
  wakes.schedule(b, 300);
  wakes.schedule(gone, 10);
  wakes.onDocumentDisconnected(gone);
  wakes.schedule(a, 200);
  t.mock.timers.tick(199);
  assert.deepEqual(woken, []);
  t.mock.timers.tick(1);
  assert.deepEqual(woken, ['a']);
  t.mock.timers.tick(1000);
  assert.deepEqual(woken, ['a', 'b']);
});
