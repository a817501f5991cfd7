import assert from 'node:assert/strict';
import test from 'node:test';
import { makeWakeTimers } from './wakes.ts';

test('a hidden document gets one wake message, at the time that it requested last', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const wokenDocuments: string[] = [];
  const doc = (name: string) => ({ post: () => wokenDocuments.push(name) });
  const [firstDocument, secondDocument, closedDocument] = [doc('a'), doc('b'), doc('gone')];
  const wakeTimers = makeWakeTimers();
  wakeTimers.scheduleWake(firstDocument, 100);
  wakeTimers.scheduleWake(secondDocument, 300);
  wakeTimers.scheduleWake(closedDocument, 10);
  wakeTimers.onDocumentDisconnected(closedDocument);
  wakeTimers.scheduleWake(firstDocument, 200);
  t.mock.timers.tick(199);
  assert.deepEqual(wokenDocuments, []);
  t.mock.timers.tick(1);
  assert.deepEqual(wokenDocuments, ['a']);
  t.mock.timers.tick(1000);
  assert.deepEqual(wokenDocuments, ['a', 'b']);
});
