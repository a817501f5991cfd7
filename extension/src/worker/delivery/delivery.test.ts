import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import { demoPlugin } from '../../../test/demo-plugin.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { StartedPlugin, WorkerToBridgeMessage } from '../../port-message.ts';
import { type Doc, makeDocs } from '../documents/docs.ts';
import { AdapterDelivery } from './delivery.ts';
import { makeStartAfterLoadScript } from './entry-points.ts';

const demoWithExclude: PluginInfo = { ...demoPlugin, excludes: ['https://demo.example/not'] };

function makeFixture(t: TestContext, plugin: PluginInfo = demoWithExclude) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(console, 'warn', () => undefined);
  const docs = makeDocs();
  const receivedMessages: WorkerToBridgeMessage[] = [];
  const executedScripts: string[] = [];
  const usedPlugins: string[] = [];
  const browserState = { plugins: [plugin], refuses: false, hangs: false, noCode: 0, canStartLate: true, syntax: '' };
  let parsedCount = 0;
  const delivery = new AdapterDelivery({
    docs,
    entryPoints: { deriveName: async (name) => `_${name}` },
    plugins: () => browserState.plugins,
    canInjectAfterLoad: () => browserState.canStartLate,
    code: async () => {
      if (browserState.noCode-- > 0) throw new Error('there is no link to the server');
      return { code: 'function () {}', options: '{"name":"demo"}' };
    },
    host: async () => 'HOST',
    syntax: {
      problem: async () => {
        parsedCount++;
        return browserState.syntax === '' ? undefined : browserState.syntax;
      },
      findLastProblem: () => undefined,
    },
    run: async (doc, _, code) => {
      executedScripts.push(`${doc.documentId} ${code}`);
      return browserState.hangs ? new Promise(() => undefined) : !browserState.refuses;
    },
    nonce: () => 'n',
    recordPluginUse: (name) => usedPlugins.push(name),
  });
  const addDocument = (
    documentId: string,
    documentFields: {
      usesBase?: boolean;
      started?: StartedPlugin[];
      live?: string[];
      url?: string;
      frameId?: number;
    } = {},
  ) => {
    const {
      usesBase = true,
      started: startedPlugins = [],
      live: livePlugins = [],
      url = 'https://demo.example/',
      frameId = 0,
    } = documentFields;
    const doc: Doc = { tabId: 1, frameId, documentId, url, post: (message) => receivedMessages.push(message) };
    docs.add(doc);
    docs.setPlugins(
      documentId,
      livePlugins.map((name) => ({ name, hash: 'h' })),
    );
    docs.setStarted(documentId, startedPlugins, usesBase);
    delivery.onDocumentReported(doc);
    return doc;
  };
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  return {
    docs,
    delivery,
    receivedMessages,
    ranScripts: executedScripts,
    usedPlugins,
    browserState,
    addDocument,
    advanceTime,
    parsedCount: () => parsedCount,
  };
}

test("the worker passes the adapter to the base's entry point once the entry point is ready", async (t) => {
  const { delivery, receivedMessages, ranScripts, usedPlugins, addDocument, advanceTime } = makeFixture(t);
  const doc = addDocument('d');
  await runPendingPromises();
  assert.deepEqual(receivedMessages, [
    { op: 'prepareHost', plugin: 'demo', hash: 'h', nonce: 'n', options: '{"name":"demo"}' },
  ]);
  delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'other', usesBase: true });
  await runPendingPromises();
  assert.deepEqual(ranScripts, []);
  delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
  await runPendingPromises();
  assert.deepEqual(ranScripts, [`d typeof _ === 'function' && _("n", "h", function () {}\n)`]);
  assert.deepEqual([usedPlugins, delivery.expects('d', 'demo')], [['demo'], true]);
  addDocument('d', { live: ['demo'] });
  assert.equal(delivery.expects('d', 'demo'), false);
  await advanceTime(60_000);
  assert.equal(ranScripts.length, 1);
});

test('the worker injects an adapter again if Chrome does not run the code', async (t) => {
  const { delivery, receivedMessages, ranScripts, browserState, addDocument, advanceTime } = makeFixture(t);
  browserState.hangs = true;
  const doc = addDocument('d');
  await runPendingPromises();
  delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, ranScripts.length], [1, 1]);
  await advanceTime(20_000);
  await advanceTime(400);
  assert.equal(receivedMessages.length, 2);
});

test('expects returns false 15 s after a host started without a live adapter', async (t) => {
  const { delivery, addDocument, advanceTime } = makeFixture(t);
  addDocument('d', { started: [{ name: 'demo', hash: 'h', awaitsAdapter: false }] });
  assert.equal(delivery.expects('d', 'demo'), true);
  await advanceTime(14_999);
  assert.equal(delivery.expects('d', 'demo'), true);
  await advanceTime(1);
  assert.equal(delivery.expects('d', 'demo'), false);
  addDocument('d', { live: ['demo'] });
  assert.equal(delivery.expects('d', 'demo'), false);
  addDocument('d', { started: [{ name: 'demo', hash: 'h2', awaitsAdapter: false }] });
  assert.equal(delivery.expects('d', 'demo'), true);
});

test('the worker injects no plugin that is live or starting, does not match, or cannot start late', async (t) => {
  const { delivery, receivedMessages, browserState, addDocument } = makeFixture(t);
  addDocument('live', { live: ['demo'] });
  addDocument('ahead', { started: [{ name: 'demo', hash: 'h', awaitsAdapter: false }] });
  addDocument('elsewhere', { url: 'https://other.example/' });
  addDocument('excluded', { url: 'https://demo.example/not' });
  addDocument('frame', { frameId: 3 });
  addDocument('no base', { usesBase: false });
  browserState.canStartLate = false;
  addDocument('too late');
  await runPendingPromises();
  assert.deepEqual(receivedMessages, []);
  assert.deepEqual([delivery.expects('ahead', 'demo'), delivery.expects('no base', 'demo')], [true, false]);
  addDocument('pre-script', { started: [{ name: 'demo', hash: 'h', awaitsAdapter: true }] });
  await runPendingPromises();
  assert.equal(receivedMessages.length, 1);
});

test('a document gets the adapter when its URL changes to a matching URL', async (t) => {
  const { delivery, receivedMessages, addDocument } = makeFixture(t);
  addDocument('d', { url: 'https://demo.example/not' });
  delivery.onUrlChanged(1, 'https://demo.example/');
  delivery.onUrlChanged(1, 'https://demo.example/');
  await runPendingPromises();
  assert.equal(receivedMessages.length, 1);
});

test('in an isolated world, the worker starts a late host once the bridge waits for the host', async (t) => {
  const { delivery, receivedMessages, ranScripts, addDocument } = makeFixture(t, {
    ...demoWithExclude,
    world: 'isolated',
  });
  const doc = addDocument('d', { usesBase: false });
  await runPendingPromises();
  assert.deepEqual(receivedMessages, [{ op: 'awaitLateHost', plugin: 'demo', hash: 'h', nonce: 'n' }]);
  delivery.entryPointReady(doc, {
    op: 'entryPointReady',
    plugin: 'demo',
    nonce: 'n',
    usesBase: false,
    isHostLate: true,
  });
  await runPendingPromises();
  const start = `HOST(true)("{\\"name\\":\\"demo\\",\\"meet\\":\\"n\\"}", function () {}\n)`;
  assert.deepEqual(ranScripts, [`d ${makeStartAfterLoadScript('_demo', start)}`]);
});

test('the worker restarts a host that failed to start', async (t) => {
  const { delivery, receivedMessages, ranScripts, browserState, addDocument, advanceTime } = makeFixture(t, {
    ...demoWithExclude,
    world: 'isolated',
  });
  const entryPointMessage = {
    op: 'entryPointReady',
    plugin: 'demo',
    nonce: 'n',
    usesBase: false,
    isHostLate: true,
  } as const;
  browserState.refuses = true;
  const doc = addDocument('d', { usesBase: false });
  await runPendingPromises();
  delivery.entryPointReady(doc, entryPointMessage);
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, ranScripts.length], [1, 1]);
  await advanceTime(400);
  browserState.refuses = false;
  delivery.entryPointReady(doc, entryPointMessage);
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, ranScripts.length, delivery.expects('d', 'demo')], [2, 2, true]);
});

test('an accepted adapter that does not become live is injected again, up to three times', async (t) => {
  const { delivery, receivedMessages, ranScripts, addDocument, advanceTime } = makeFixture(t);
  const doc = addDocument('d');
  for (let i = 0; i < 5; i++) {
    await runPendingPromises();
    delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
    await runPendingPromises();
    await advanceTime(5000);
  }
  assert.deepEqual([receivedMessages.length, ranScripts.length, delivery.expects('d', 'demo')], [3, 3, false]);
  assert.equal(delivery.problem('d', 'demo'), undefined);
  delivery.onPluginsSynced();
  await runPendingPromises();
  assert.equal(receivedMessages.length, 4);
});

test('the worker does not inject the code of a plugin that is no longer wanted', async (t) => {
  const { delivery, receivedMessages, ranScripts, browserState, addDocument } = makeFixture(t);
  const doc = addDocument('d');
  await runPendingPromises();
  browserState.plugins = [];
  delivery.onPluginsSynced();
  delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, ranScripts.length, delivery.expects('d', 'demo')], [1, 0, false]);
});

test('failed injections are retried and then reported, and the next plugin sync starts again', async (t) => {
  const { delivery, receivedMessages, browserState, addDocument, advanceTime } = makeFixture(t);
  browserState.noCode = 2;
  addDocument('d');
  await runPendingPromises();
  for (const ms of [400, 800]) await advanceTime(ms);
  assert.equal(receivedMessages.length, 1);
  browserState.noCode = 100;
  delivery.onPluginsSynced();
  await advanceTime(10_000);
  for (let i = 0; i < 10; i++) await advanceTime(10_000);
  assert.equal(delivery.expects('d', 'demo'), false);
  assert.match(delivery.problem('d', 'demo') ?? '', /no link to the server/);
  browserState.noCode = 0;
  delivery.onPluginsSynced();
  await runPendingPromises();
  assert.deepEqual([delivery.problem('d', 'demo'), receivedMessages.length], [undefined, 2]);
});

test('the removal of a document ends its injections', async (t) => {
  const { docs, delivery, ranScripts, addDocument, advanceTime } = makeFixture(t);
  const doc = addDocument('d');
  await runPendingPromises();
  docs.remove('d');
  delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
  await runPendingPromises();
  await advanceTime(60_000);
  assert.deepEqual([ranScripts, delivery.expects('d', 'demo')], [[], false]);
});

test('a plugin with a syntax error counts as broken at once, until other code is wanted', async (t) => {
  const { delivery, receivedMessages, browserState, addDocument, advanceTime } = makeFixture(t);
  Object.assign(browserState, { refuses: true, syntax: 'SyntaxError' });
  const doc = addDocument('d');
  await runPendingPromises();
  const reportEntryPoint = () =>
    delivery.entryPointReady(doc, { op: 'entryPointReady', plugin: 'demo', nonce: 'n', usesBase: true });
  reportEntryPoint();
  await runPendingPromises();
  const readProblems = () => [
    delivery.problem('d', 'demo'),
    delivery.isBroken('d', 'demo'),
    delivery.expects('d', 'demo'),
  ];
  assert.deepEqual(readProblems(), ['SyntaxError', true, false]);
  await advanceTime(60_000);
  delivery.onPluginsSynced();
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, readProblems()], [1, ['SyntaxError', true, false]]);
  Object.assign(browserState, { plugins: [{ ...demoWithExclude, script: 's2' }], refuses: false });
  delivery.onPluginsSynced();
  await runPendingPromises();
  reportEntryPoint();
  await runPendingPromises();
  assert.deepEqual([receivedMessages.length, readProblems()], [2, [undefined, false, true]]);
});

test('a plugin that starts only with the document counts as broken if its code has a syntax error', async (t) => {
  const { delivery, receivedMessages, browserState, addDocument, parsedCount } = makeFixture(t);
  browserState.canStartLate = false;
  addDocument('fine');
  await runPendingPromises();
  browserState.syntax = 'SyntaxError';
  addDocument('d');
  addDocument('started', { started: [{ name: 'demo', hash: 'h', awaitsAdapter: false }] });
  await runPendingPromises();
  const readProblems = ['fine', 'd', 'started'].map((id) => delivery.problem(id, 'demo'));
  assert.deepEqual([receivedMessages, readProblems, parsedCount()], [[], [undefined, 'SyntaxError', undefined], 2]);
  delivery.onPluginsSynced();
  await runPendingPromises();
  assert.deepEqual([delivery.isBroken('d', 'demo'), parsedCount()], [true, 2]);
});
