import assert from 'node:assert/strict';
import test from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import { makeDocs } from '../documents/docs.ts';
import { makeUserReload } from './user-reload.ts';

test('an unresponsive page is discarded together with the other unresponsive pages of its site', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const docs = makeDocs();
  const reloadedTabs: string[] = [];
  for (const [tabId, url] of [
    [1, 'https://a.example/x'],
    [2, 'https://a.example/y'],
    [3, 'https://a.example/z'],
    [4, 'https://b.example/x'],
  ] as const) {
    const documentId = `d${tabId}`;
    docs.add({ tabId, frameId: 0, documentId, url, post: () => undefined });
    docs.setPlugins(documentId, []);
  }
  const reloadForUser = makeUserReload({
    docs,
    health: {
      prepareCall: () => 1,
      hasAnswered: (documentId) => documentId === 'd3',
      isSilent: (documentId) => documentId === 'd1',
    },
    unloadTab: async (tabId) => {
      reloadedTabs.push(`unload ${tabId}`);
      return tabId + 100;
    },
    reloadTab: async (tabId) => {
      reloadedTabs.push(`reload ${tabId}`);
    },
  });
  await reloadForUser(4);
  assert.deepEqual(reloadedTabs.splice(0), ['reload 4']);
  const firstReload = reloadForUser(1);
  await runPendingPromises();
  assert.deepEqual(reloadedTabs, []);
  t.mock.timers.tick(1500);
  await firstReload;
  assert.deepEqual(reloadedTabs, ['unload 1', 'unload 2', 'reload 101', 'reload 102']);
});
