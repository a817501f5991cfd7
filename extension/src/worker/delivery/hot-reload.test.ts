import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { LiveAdapter, RemovedPlugin, WorkerToBridgeMessage } from '../../port-message.ts';
import { makeDocs } from '../documents/docs.ts';
import { makeAdapterScript } from './entry-points.ts';
import { HotReload } from './hot-reload.ts';

const demoPlugin: PluginInfo = {
  name: 'demo',
  displayName: 'Demo',
  hash: 'h2',
  script: 's2',
  world: 'main',
  base: 'b',
};
const newCode = 'function(globalThis){ // a comment';
const entryPointMessage = { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: false } as const;

function makeFixture(t: TestContext, plugin: PluginInfo = demoPlugin) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const warnMock = t.mock.method(console, 'warn', () => undefined);
  const docs = makeDocs();
  const receivedMessages: string[] = [];
  const executedScripts: string[] = [];
  const wantedBuild: { plugin: PluginInfo; code: string | undefined; syntax?: string } = { plugin, code: newCode };
  const fetchedPlugins: string[] = [];
  const hotReload = new HotReload({
    docs,
    entryPoints: { deriveName: async () => '_entry' },
    plugins: () => [wantedBuild.plugin],
    code: async ({ script }) => {
      fetchedPlugins.push(script);
      if (wantedBuild.code === undefined) throw new Error('there is no link to the server');
      return { code: wantedBuild.code };
    },
    syntax: { problem: async () => wantedBuild.syntax, findLastProblem: () => undefined },
    run: async (doc, of, code) => {
      if (doc.documentId === 'gone') throw new Error('No document with id');
      executedScripts.push(`${doc.documentId} ${of.name} ${code}`);
      return doc.documentId !== 'deaf';
    },
    nonce: () => 'n',
  });
  const addDocument = (documentId: string, plugins: LiveAdapter[], removedPlugins: RemovedPlugin[] = []) => {
    const postMessage = (message: WorkerToBridgeMessage) => receivedMessages.push(`${documentId} ${message.op}`);
    const doc = { tabId: 1, frameId: 0, documentId, url: '', post: postMessage };
    docs.add(doc);
    docs.setPlugins(documentId, plugins, removedPlugins);
    return doc;
  };
  const addOldDocument = (documentId: string) => addDocument(documentId, [{ name: 'demo', hash: 'h1', base: 'b' }]);
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  const syncPlugins = async () => {
    hotReload.onPluginsSynced();
    await runPendingPromises();
  };
  const listWarnings = () => warnMock.mock.calls.map((call) => String(call.arguments[0]));
  return {
    docs,
    hotReload,
    receivedMessages,
    ranScripts: executedScripts,
    wantedBuild,
    fetchedPlugins,
    addDocument,
    addOldDocument,
    advanceTime,
    syncPlugins,
    listWarnings,
  };
}

test('a new adapter replaces old or removed adapters with the same base, once their calls have ended', async (t) => {
  const { hotReload, receivedMessages, ranScripts, addDocument, addOldDocument, advanceTime, syncPlugins } =
    makeFixture(t);
  const doc = addOldDocument('old');
  addDocument('new', [{ name: 'demo', hash: 'h2', base: 'b' }]);
  addDocument('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]);
  addDocument('without', []);
  addDocument('removed', [], [{ name: 'demo', base: 'b' }]);
  addDocument('removed, other base', [], [{ name: 'demo', base: 'c' }]);
  await syncPlugins();
  await advanceTime(900);
  assert.deepEqual([receivedMessages, ranScripts], [['old replaceAdapter', 'removed replaceAdapter'], []]);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await runPendingPromises();
  assert.deepEqual(ranScripts, [`old demo ${makeAdapterScript('_entry', 'n', 'h2', newCode)}`]);
});

test('a document that reports its old adapter late also gets the new code', async (t) => {
  const {
    hotReload,
    receivedMessages,
    ranScripts,
    fetchedPlugins,
    addDocument,
    addOldDocument,
    advanceTime,
    syncPlugins,
  } = makeFixture(t);
  await syncPlugins();
  await advanceTime(60_000);
  const doc = addOldDocument('late');
  hotReload.onDocumentReported(doc);
  hotReload.onDocumentReported(doc);
  await runPendingPromises();
  hotReload.onDocumentReported(addDocument('removed', [], [{ name: 'demo', base: 'b' }]));
  await runPendingPromises();
  assert.deepEqual(
    [receivedMessages, fetchedPlugins],
    [
      ['late replaceAdapter', 'removed replaceAdapter'],
      ['s2', 's2'],
    ],
  );
  assert.equal(hotReload.expects(1, 'demo'), true);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await runPendingPromises();
  assert.deepEqual(ranScripts, [`late demo ${makeAdapterScript('_entry', 'n', 'h2', newCode)}`]);
  hotReload.onDocumentReported(addDocument('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]));
  hotReload.onDocumentReported(addDocument('new', [{ name: 'demo', hash: 'h2', base: 'b' }]));
  assert.equal(fetchedPlugins.length, 2);
});

test('the worker tries three times to fetch code, and again after the next sync', async (t) => {
  const { hotReload, receivedMessages, wantedBuild, fetchedPlugins, addOldDocument, advanceTime, syncPlugins } =
    makeFixture(t);
  const doc = addOldDocument('d');
  wantedBuild.code = undefined;
  await syncPlugins();
  assert.equal(hotReload.expects(1, 'demo'), true, 'expects must be true before the next attempt');
  await advanceTime(1000);
  await advanceTime(2000);
  assert.deepEqual([receivedMessages, fetchedPlugins.length], [[], 3]);
  assert.equal(hotReload.expects(1, 'demo'), false, 'expects must be false if the code cannot be fetched');
  assert.equal(hotReload.canReplace(doc, demoPlugin), false, 'without code, the tab must count as needing a reload');
  hotReload.onDocumentReported(doc);
  await advanceTime(60_000);
  assert.equal(fetchedPlugins.length, 3);
  await syncPlugins();
  wantedBuild.code = newCode;
  await advanceTime(1000);
  assert.deepEqual([receivedMessages, fetchedPlugins.length], [['d replaceAdapter'], 5]);
});

test('a plugin that is switched off and on during a replacement gets a new replacement', async (t) => {
  const { hotReload, receivedMessages, wantedBuild, addOldDocument, syncPlugins } = makeFixture(t);
  addOldDocument('d');
  await syncPlugins();
  wantedBuild.plugin = { ...demoPlugin, name: 'other' };
  await syncPlugins();
  assert.equal(hotReload.expects(1, 'demo'), false);
  wantedBuild.plugin = demoPlugin;
  await syncPlugins();
  assert.deepEqual(receivedMessages, ['d replaceAdapter', 'd replaceAdapter']);
});

test('the result of an earlier build does not end the replacement by a later build', async (t) => {
  const { hotReload, wantedBuild, addOldDocument, syncPlugins } = makeFixture(t);
  const doc = addOldDocument('d');
  await syncPlugins();
  wantedBuild.plugin = { ...demoPlugin, hash: 'h3', script: 's3' };
  await syncPlugins();
  hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h2' });
  assert.equal(hotReload.expects(1, 'demo'), true);
  hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h3' });
  assert.equal(hotReload.expects(1, 'demo'), false);
});

test('a build that failed in a document is not retried there, and its problem stays until the next build', async (t) => {
  const { docs, hotReload, receivedMessages, wantedBuild, addOldDocument, syncPlugins, listWarnings } = makeFixture(t);
  const doc = addOldDocument('d');
  assert.equal(hotReload.canReplace(doc, demoPlugin), true, 'canReplace must be true while new code is expected');
  await syncPlugins();
  assert.equal(hotReload.problem('d', demoPlugin), undefined);
  hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h1', problem: 'a typo' });
  assert.equal(hotReload.problem('d', demoPlugin), 'a typo');
  assert.equal(hotReload.canReplace(doc, demoPlugin), false);
  assert.match(listWarnings().join(), /tab 1 keeps the old adapter of demo: a typo/);
  hotReload.onDocumentReported(addOldDocument('d'));
  await syncPlugins();
  assert.equal(receivedMessages.length, 1);
  wantedBuild.plugin = { ...demoPlugin, hash: 'h3', script: 's3' };
  assert.equal(hotReload.problem('d', wantedBuild.plugin), undefined);
  await syncPlugins();
  assert.equal(receivedMessages.length, 2);
  docs.remove('d');
  await syncPlugins();
  assert.equal(hotReload.problem('d', demoPlugin), undefined);
});

test('a build with a syntax error fails at once, with the syntax error as the reason', async (t) => {
  const { hotReload, receivedMessages, wantedBuild, addOldDocument, advanceTime, syncPlugins } = makeFixture(t);
  wantedBuild.syntax = 'SyntaxError';
  const doc = addOldDocument('deaf');
  await syncPlugins();
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await runPendingPromises();
  assert.equal(hotReload.problem('deaf', demoPlugin), 'SyntaxError');
  await advanceTime(60_000);
  assert.equal(receivedMessages.length, 1);
});

test('an adapter replacement is attempted three times if the document does not answer', async (t) => {
  const { hotReload, receivedMessages, addOldDocument, advanceTime, syncPlugins, listWarnings } = makeFixture(t, {
    ...demoPlugin,
    dev: true,
  });
  const oldDocuments = ['gone', 'deaf', 'silent'].map(addOldDocument);
  await syncPlugins();
  for (let i = 0; i < 3; i++) {
    for (const doc of oldDocuments.slice(0, 2)) hotReload.handleEntryPoint(doc, entryPointMessage);
    await runPendingPromises();
    await advanceTime(2000);
  }
  assert.match(listWarnings().join(), /No document with id.*its entry point rejected the new adapter/);
  assert.equal(listWarnings().length, 2);
  for (let i = 0; i < 20; i++) await advanceTime(1000);
  assert.match(listWarnings()[2] ?? '', /it did not answer/);
  await syncPlugins();
  assert.deepEqual([receivedMessages.length, hotReload.expects(1, 'demo')], [9, false]);
  for (const { documentId } of oldDocuments) assert.equal(hotReload.problem(documentId, demoPlugin), undefined);
});

test('the worker does not send documents code that is no longer wanted', async (t) => {
  const { hotReload, receivedMessages, ranScripts, wantedBuild, addOldDocument, syncPlugins } = makeFixture(t);
  const doc = addOldDocument('old');
  hotReload.onPluginsSynced();
  wantedBuild.plugin = { ...demoPlugin, hash: 'h3', script: 's3' };
  await syncPlugins();
  assert.deepEqual(receivedMessages, ['old replaceAdapter'], 'only the code of the later build must be used');
  wantedBuild.plugin = { ...demoPlugin, name: 'removed' };
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await runPendingPromises();
  assert.deepEqual(ranScripts, []);
});

test('a repeated sync does not restart a replacement of the same build', async (t) => {
  const { hotReload, receivedMessages, addOldDocument, syncPlugins } = makeFixture(t);
  const doc = addOldDocument('old');
  hotReload.onPluginsSynced();
  await syncPlugins();
  await syncPlugins();
  assert.deepEqual([receivedMessages, hotReload.expects(1, 'demo')], [['old replaceAdapter'], true]);
  hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h2' });
  assert.equal(hotReload.expects(1, 'demo'), false);
});

test('waitForReplacements resolves when no document awaits code, or after its time limit', async (t) => {
  const { hotReload, addOldDocument, advanceTime, syncPlugins } = makeFixture(t);
  await hotReload.waitForReplacements(400);
  const oldDocuments = ['a', 'b'].map(addOldDocument);
  await syncPlugins();
  const ended: string[] = [];
  void hotReload.waitForReplacements(400).then(() => ended.push('long wait'));
  void hotReload.waitForReplacements(300).then(() => ended.push('short wait'));
  for (const doc of oldDocuments) {
    await advanceTime(150);
    assert.deepEqual(ended, doc === oldDocuments[0] ? [] : ['short wait']);
    hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h2' });
  }
  await runPendingPromises();
  assert.deepEqual(ended, ['short wait', 'long wait']);
});

test('expects is true only while a tab is about to get new code, which makes a reload unnecessary', async (t) => {
  const { hotReload, wantedBuild, addOldDocument } = makeFixture(t);
  const doc = addOldDocument('old');
  assert.equal(hotReload.expects(1, 'demo'), false, 'expects must be false before the first plugin.sync');
  wantedBuild.plugin = { ...demoPlugin, name: 'other' };
  hotReload.onPluginsSynced();
  assert.equal(hotReload.expects(1, 'demo'), false, 'expects must be false after a sync without new code');
  wantedBuild.plugin = demoPlugin;
  hotReload.onPluginsSynced();
  assert.equal(hotReload.expects(1, 'demo'), true);
  assert.equal(hotReload.expects(2, 'demo'), false, 'expects must be false for a tab without the plugin');
  await runPendingPromises();
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await runPendingPromises();
  assert.equal(hotReload.expects(1, 'demo'), true, 'expects must be true while the new adapter starts');
  hotReload.handleAdapterReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h2' });
  assert.equal(hotReload.expects(1, 'demo'), false, 'expects must be false once the new adapter runs');
});
