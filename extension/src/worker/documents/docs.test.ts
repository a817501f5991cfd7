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

test('findTopDoc returns the newest document of a tab that has reported its adapters', () => {
  const docs = makeDocs();
  const newestDoc = makeDoc(1, 'd2');
  for (const addedDoc of [makeDoc(1, 'd1'), newestDoc]) {
    docs.add(addedDoc);
    docs.setPlugins(addedDoc.documentId, demoAdapters);
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

test('Docs lists the frames of a tab without the top document, ordered by frame ID, until each is removed', () => {
  const docs = makeDocs();
  for (const addedDoc of [makeDoc(1, 'f9', 9), makeDoc(1, 'd1'), makeDoc(1, 'f4', 4), makeDoc(2, 'other', 3)]) {
    docs.add(addedDoc);
    docs.setPlugins(addedDoc.documentId, demoAdapters);
  }
  const frames = () => docs.listReportedFrames(1).map((reportedFrame) => reportedFrame.doc.documentId);
  assert.deepEqual([docs.findTopDoc(1)?.doc.documentId, frames()], ['d1', ['f4', 'f9']]);
  docs.remove('f4');
  docs.remove('unknown');
  assert.deepEqual(frames(), ['f9']);
  assert.equal(docs.listReported().length, 3);
});

test('a failed adapter does not count as running, and an unknown adapter not as ready', () => {
  const docs = makeDocs();
  docs.add(makeDoc(1, 'd1'));
  docs.setPluginReady('d1', 'demo', true);
  docs.setPlugins('d1', [...demoAdapters, { name: 'broken', hash: 'h', problem: 'it threw' }]);
  docs.setPluginReady('d1', 'demo', false);
  docs.setPluginReady('d1', 'unknown', true);
  assert.deepEqual(docs.findTopDoc(1)?.plugins[0], { name: 'demo', hash: 'h', ready: false });
  assert.deepEqual(
    [docs.isRunning('d1', 'demo'), docs.isRunning('d1', 'broken'), docs.isRunning('d2', 'demo')],
    [true, false, false],
  );
});
