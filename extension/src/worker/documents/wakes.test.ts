import assert from 'node:assert/strict';
import test from 'node:test';
import { makeWakeTimers } from './wakes.ts';

test('a document is woken once, at the last requested time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const wokenDocuments: string[] = [];
  const doc = (name: string) => ({ post: () => wokenDocuments.push(name) });
  const [firstDocument, secondDocument, goneDocument] = [doc('a'), doc('b'), doc('gone')];
  const wakeTimers = makeWakeTimers();
  wakeTimers.schedule(firstDocument, 100);
  wakeTimers.schedule(secondDocument, 300);
  wakeTimers.schedule(goneDocument, 10);
  wakeTimers.onDocumentDisconnected(goneDocument);
  wakeTimers.schedule(firstDocument, 200);
  t.mock.timers.tick(199);
  assert.deepEqual(wokenDocuments, []);
  t.mock.timers.tick(1);
  assert.deepEqual(wokenDocuments, ['a']);
  t.mock.timers.tick(1000);
  assert.deepEqual(wokenDocuments, ['a', 'b']);
});
