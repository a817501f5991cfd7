import assert from 'node:assert/strict';
import test from 'node:test';
import { type Doc, makeDocs } from './docs.ts';

const makeDoc = (tabId: number, documentId: string, frameId = 0): Doc => ({
  tabId,
  frameId,
  documentId,
  url: '',
  post: () => undefined,
});
const demoAdapters = [{ name: 'demo', hash: 'h' }];

test('the newest document of a tab that has reported its adapters is the live one', () => {
  const docs = makeDocs();
  const newestDoc = makeDoc(1, 'd2');
  for (const each of [makeDoc(1, 'd1'), newestDoc]) {
    docs.add(each);
    docs.setPlugins(each.documentId, demoAdapters);
  }
  docs.add(makeDoc(1, 'silent'));
  assert.deepEqual(docs.findTopDoc(1), { doc: newestDoc, plugins: demoAdapters });
  assert.equal(docs.findTopDoc(2), undefined);
  assert.deepEqual(
    [docs.findReported('d2')?.doc, docs.findReported('silent'), docs.findReported('unknown')],
    [newestDoc, undefined, undefined],
  );
  docs.remove('d2');
  assert.equal(docs.findTopDoc(1)?.doc.documentId, 'd1');
  assert.deepEqual(
    docs.listInTab(1).map((d) => d.documentId),
    ['d1', 'silent'],
  );
});

test('frames are separate from the top document, ordered by ID, and removed one by one', () => {
  const docs = makeDocs();
  for (const each of [makeDoc(1, 'f9', 9), makeDoc(1, 'd1'), makeDoc(1, 'f4', 4), makeDoc(2, 'other', 3)]) {
    docs.add(each);
    docs.setPlugins(each.documentId, demoAdapters);
  }
  const frames = () => docs.listReportedFrames(1).map((live) => live.doc.documentId);
  assert.deepEqual([docs.findTopDoc(1)?.doc.documentId, frames()], ['d1', ['f4', 'f9']]);
  docs.remove('f4');
  docs.remove('unknown');
  assert.deepEqual(frames(), ['f9']);
  assert.equal(docs.listReported().length, 3);
});

test('an adapter that failed does not run, and an unknown one is not ready', () => {
  const docs = makeDocs();
  docs.add(makeDoc(1, 'd1'));
  docs.setReady('d1', 'demo', true);
  docs.setPlugins('d1', [...demoAdapters, { name: 'broken', hash: 'h', problem: 'it threw' }]);
  docs.setReady('d1', 'demo', false);
  docs.setReady('d1', 'unknown', true);
  assert.deepEqual(docs.findTopDoc(1)?.plugins[0], { name: 'demo', hash: 'h', ready: false });
  assert.deepEqual(
    [docs.isRunning('d1', 'demo'), docs.isRunning('d1', 'broken'), docs.isRunning('d2', 'demo')],
    [true, false, false],
  );
});
