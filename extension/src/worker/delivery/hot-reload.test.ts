import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginCodeParams, PluginInfo } from '../../../../wire/wire.gen.ts';
import { settle } from '../../../test/server.ts';
import type { LiveAdapter, RemovedPlugin, ToBridge } from '../../port-message.ts';
import { makeDocs } from '../documents/docs.ts';
import { makeAdapterScript } from './entry-points.ts';
import { HotReload } from './hot-reload.ts';

const demo: PluginInfo = { name: 'demo', displayName: 'Demo', hash: 'h2', script: 's2', world: 'main', base: 'b' };
const freshBuild: PluginCodeParams = {
  name: 'demo',
  hash: 'h2',
  script: 's2',
  code: '',
  hot: { adapter: 'function(globalThis){ // a comment', waitMs: 1000 },
};
const entryPointMessage = { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: false } as const;

function makeFixture(t: TestContext, plugin: PluginInfo = demo) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const warn = t.mock.method(console, 'warn', () => undefined);
  const docs = makeDocs();
  const got: string[] = [];
  const ran: string[] = [];
  const wanted: { plugin: PluginInfo; code?: string; syntax?: string } = { plugin };
  const fetched: string[] = [];
  const hotReload = new HotReload({
    docs,
    entryPoints: { deriveName: async () => '_entry' },
    plugins: () => [wanted.plugin],
    code: async ({ script }) => {
      fetched.push(script);
      if (wanted.code === undefined) throw new Error('there is no link to the server');
      return { code: wanted.code };
    },
    syntax: { problem: async () => wanted.syntax, lastProblem: () => undefined },
    run: async (doc, of, code) => {
      if (doc.documentId === 'gone') throw new Error('No document with id');
      ran.push(`${doc.documentId} ${of.name} ${code}`);
      return doc.documentId !== 'deaf';
    },
    nonce: () => 'n',
  });
  const addDocument = (documentId: string, plugins: LiveAdapter[], removedPlugins: RemovedPlugin[] = []) => {
    const post = (message: ToBridge) => got.push(`${documentId} ${message.op}`);
    const doc = { tabId: 1, frameId: 0, documentId, url: '', post };
    docs.add(doc);
    docs.setPlugins(documentId, plugins, removedPlugins);
    return doc;
  };
  const old = (documentId: string) => addDocument(documentId, [{ name: 'demo', hash: 'h1', base: 'b' }]);
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  const warnings = () => warn.mock.calls.map((call) => String(call.arguments[0]));
  return { docs, hotReload, got, ran, wanted, fetched, addDocument, old, advanceTime, warnings };
}

test('the new adapter replaces older or removed ones on the same base, once their calls have ended', async (t) => {
  const { hotReload, got, ran, addDocument, old, advanceTime } = makeFixture(t);
  const doc = old('old');
  addDocument('new', [{ name: 'demo', hash: 'h2', base: 'b' }]);
  addDocument('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]);
  addDocument('without', []);
  addDocument('removed', [], [{ name: 'demo', base: 'b' }]);
  addDocument('removed, other base', [], [{ name: 'demo', base: 'c' }]);
  assert.deepEqual(hotReload.listOutdated(), ['demo', 'demo']);
  await hotReload.receiveCode(freshBuild);
  await advanceTime(900);
  assert.deepEqual([got, ran], [['old replaceAdapter', 'removed replaceAdapter'], []]);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await settle();
  assert.deepEqual(ran, [`old demo ${makeAdapterScript('_entry', 'n', 'h2', freshBuild.hot?.adapter ?? '')}`]);
});

test('a document that reports an older adapter late gets the new code too', async (t) => {
  const { hotReload, got, ran, wanted, fetched, addDocument, old, advanceTime } = makeFixture(t);
  wanted.code = 'function () {}';
  await hotReload.receiveCode(freshBuild);
  await advanceTime(60_000);
  const doc = old('late');
  hotReload.onDocumentReported(doc);
  hotReload.onDocumentReported(doc);
  await settle();
  hotReload.onDocumentReported(addDocument('removed', [], [{ name: 'demo', base: 'b' }]));
  await settle();
  assert.deepEqual(
    [got, fetched],
    [
      ['late replaceAdapter', 'removed replaceAdapter'],
      ['s2', 's2'],
    ],
  );
  assert.equal(hotReload.expects(1, 'demo'), true);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await settle();
  assert.deepEqual(ran, [`late demo ${makeAdapterScript('_entry', 'n', 'h2', 'function () {}')}`]);
  hotReload.onDocumentReported(addDocument('other base', [{ name: 'demo', hash: 'h1', base: 'c' }]));
  hotReload.onDocumentReported(addDocument('new', [{ name: 'demo', hash: 'h2', base: 'b' }]));
  assert.equal(fetched.length, 2);
});

test('code that could not be fetched is fetched when the document reports its adapters again', async (t) => {
  const { hotReload, got, wanted, old } = makeFixture(t);
  const doc = old('d');
  hotReload.onDocumentReported(doc);
  await settle();
  assert.deepEqual([got, hotReload.expects(1, 'demo')], [[], false]);
  wanted.code = 'function () {}';
  hotReload.onDocumentReported(doc);
  await settle();
  assert.deepEqual(got, ['d replaceAdapter']);
});

test('a build that a document refused is not retried there, and its problem is returned until there is another build', async (t) => {
  const { docs, hotReload, got, wanted, old, warnings } = makeFixture(t);
  const doc = old('d');
  assert.equal(hotReload.canReplace(doc, demo), true, 'a tab is not reloaded while new code is expected');
  await hotReload.receiveCode(freshBuild);
  assert.equal(hotReload.problem('d', demo), undefined);
  hotReload.handleReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h1', problem: 'a typo' });
  assert.equal(hotReload.problem('d', demo), 'a typo');
  assert.equal(hotReload.canReplace(doc, demo), false);
  assert.match(warnings().join(), /tab 1 keeps the old adapter of demo: a typo/);
  hotReload.onDocumentReported(old('d'));
  await hotReload.receiveCode(freshBuild);
  assert.deepEqual([got.length, hotReload.listOutdated()], [1, []]);
  wanted.plugin = { ...demo, hash: 'h3', script: 's3' };
  assert.equal(hotReload.problem('d', wanted.plugin), undefined);
  assert.deepEqual(hotReload.listOutdated(), ['demo']);
  docs.remove('d');
  hotReload.onPluginsSynced([]);
  assert.equal(hotReload.problem('d', demo), undefined);
});

test('a build with a syntax error is refused at once, with the reason', async (t) => {
  const { hotReload, got, wanted, old, advanceTime } = makeFixture(t);
  wanted.syntax = 'SyntaxError';
  const doc = old('deaf');
  await hotReload.receiveCode(freshBuild);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await settle();
  assert.equal(hotReload.problem('deaf', demo), 'SyntaxError');
  await advanceTime(60_000);
  assert.equal(got.length, 1);
});

test('a document that does not answer gets three attempts', async (t) => {
  const { hotReload, got, old, advanceTime, warnings } = makeFixture(t);
  const all = ['gone', 'deaf', 'silent'].map(old);
  hotReload.onPluginsSynced(['demo']);
  await hotReload.receiveCode(freshBuild);
  for (let i = 0; i < 3; i++) {
    for (const doc of all.slice(0, 2)) hotReload.handleEntryPoint(doc, entryPointMessage);
    await settle();
    await advanceTime(2000);
  }
  assert.match(warnings().join(), /No document with id.*its entry point rejected the new adapter/);
  assert.equal(warnings().length, 2);
  for (let i = 0; i < 20; i++) await advanceTime(1000);
  assert.match(warnings()[2] ?? '', /it did not answer/);
  assert.deepEqual([got.length, hotReload.expects(1, 'demo'), hotReload.listOutdated()], [9, false, []]);
  for (const { documentId } of all) assert.equal(hotReload.problem(documentId, demo), undefined);
});

test('code that is no longer wanted is not sent to documents', async (t) => {
  const { hotReload, got, ran, wanted, old } = makeFixture(t);
  const doc = old('old');
  await hotReload.receiveCode({ ...freshBuild, hash: 'h3' });
  await hotReload.receiveCode({ ...freshBuild, name: 'other' });
  const { hot: _, ...cold } = freshBuild;
  await hotReload.receiveCode(cold);
  assert.deepEqual(got, []);
  await hotReload.receiveCode(freshBuild);
  wanted.plugin = { ...demo, name: 'removed' };
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await settle();
  assert.deepEqual(ran, []);
});

test('a tab that is about to get new code needs no reload, but a tab that fails to get it does', async (t) => {
  const { hotReload, old, advanceTime } = makeFixture(t);
  const doc = old('old');
  assert.equal(hotReload.expects(1, 'demo'), false, 'there was no plugin.sync yet');
  hotReload.onPluginsSynced(['other']);
  assert.equal(hotReload.expects(1, 'demo'), false, 'no new code of demo is expected');
  hotReload.onPluginsSynced(['demo']);
  assert.equal(hotReload.expects(1, 'demo'), true);
  assert.equal(hotReload.expects(2, 'demo'), false, 'tab 2 has no document with demo');
  await hotReload.receiveCode(freshBuild);
  hotReload.handleEntryPoint(doc, entryPointMessage);
  await settle();
  assert.equal(hotReload.expects(1, 'demo'), true, 'the new adapter is being started');
  hotReload.handleReplaced(doc, { op: 'adapterReplaced', plugin: 'demo', hash: 'h2' });
  assert.equal(hotReload.expects(1, 'demo'), false, 'the new adapter has started');
  hotReload.onPluginsSynced(['demo']);
  await advanceTime(30_000);
  assert.equal(hotReload.expects(1, 'demo'), false, 'the new code did not arrive in time');
});
