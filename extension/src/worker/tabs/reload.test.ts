import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { demoPlugin } from '../../../test/demo-plugin.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { FrameState, PageState, TabState } from '../../chrome.ts';
import { TabReloader } from './reload.ts';

const pageBusyMs = 8000;

/** untouchedPage is the state of a page without a bridge in which the user has not clicked or typed. */
const untouchedPage: PageState = {
  hasUserInteracted: false,
  startedAtMs: 5000,
  audible: false,
  documentId: 'd',
  hasBridge: false,
};

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 5000 });
  const reloadedTabs: number[] = [];
  const orphanedDocuments: string[] = [];
  const pages = new Map<number, PageState | 'busy' | 'error'>();
  const tabStates = new Map<number, TabState>();
  const liveTabs = new Set<number>();
  const closedTabs = new Set<number>();
  const loadingTabs = new Set<number>();
  const frames = new Map<number, FrameState[]>();
  const reloadedFrames: string[] = [];
  const inspectedTabs: number[] = [];
  const pingedDocuments: string[] = [];
  const unresponsiveDocuments = new Set<string>();
  const fetchedPlugins: string[] = [];
  const environment = { isRegistered: true, isConnected: true };
  const tabReloader = new TabReloader({
    query: async () =>
      [...pages.keys()].map((id) => ({
        id,
        windowId: 1,
        url: id < 100 ? 'https://demo.example/' : 'https://other.example/',
        title: '',
        active: false,
        loading: loadingTabs.has(id),
        discarded: false,
        frozen: false,
        lastAccessed: 0,
      })),
    tabState: async (id) => tabStates.get(id) ?? 'open',
    readPage: async (id) => {
      inspectedTabs.push(id);
      const page = pages.get(id);
      if (page !== 'busy') return page;
      return new Promise((resolve) => setTimeout(() => resolve(untouchedPage), pageBusyMs));
    },
    reloadTab: async (id) => {
      if (closedTabs.has(id)) throw new Error(`No tab with id: ${id}.`);
      reloadedTabs.push(id);
    },
    plugins: () => [
      { ...demoPlugin, frames: true },
      {
        ...demoPlugin,
        name: 'barred',
        displayName: 'Barred',
        world: 'isolated',
        matches: ['<all>', 'https://*/*'],
      },
    ],
    listFrames: async (id) => frames.get(id) ?? [],
    readFrames: async (id) => {
      inspectedTabs.push(id);
      return frames.get(id) ?? [];
    },
    reloadFrame: async (_, documentId) => void reloadedFrames.push(documentId),
    isLive: (id, _, frame) => liveTabs.has(id) && frame !== 'f-without',
    liveDocument: (id) => (liveTabs.has(id) ? `d${id}` : undefined),
    answersPing: async (documentId) => {
      pingedDocuments.push(documentId);
      return !unresponsiveDocuments.has(documentId);
    },
    isRegistered: () => environment.isRegistered,
    beforeReload: (plugins) => fetchedPlugins.push(...plugins.map(({ name }) => name)),
    isConnected: () => environment.isConnected,
    canRun: (plugin) => plugin.name === 'demo',
  });
  tabReloader.orphanSignal.addListener((documentId) => orphanedDocuments.push(documentId));
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await runPendingPromises();
  };
  const simulateRegistration = async (fromMs: number, firstRegistrationMs: number | undefined = Date.now()) => {
    tabReloader.recordRegistration({ fromMs, firstMs: firstRegistrationMs });
    await advanceTime(0);
  };
  const reloadFixture = {
    inspectedTabs,
    pingedDocuments,
    deafDocuments: unresponsiveDocuments,
    fetchedPlugins,
    environment,
  };
  return {
    tabReloader,
    simulateRegistration,
    frames,
    reframedTabs: reloadedFrames,
    reloadedTabs,
    orphanedDocuments,
    pages,
    tabStates,
    liveTabs,
    goneTabs: closedTabs,
    loadingTabs,
    advanceTime,
    ...reloadFixture,
  };
}

test('an error page is reloaded only when a call needs the tab', async (t) => {
  const { tabReloader, simulateRegistration, reloadedTabs, pages, advanceTime } = makeFixture(t);
  pages.set(1, 'error');
  assert.equal(await tabReloader.load(1), true);
  assert.deepEqual(reloadedTabs, [1]);
  await simulateRegistration(0);
  for (let i = 0; i < 20; i++) await advanceTime(1000);
  assert.deepEqual([reloadedTabs, tabReloader.expectsReload(1)], [[1], false]);
});

test('a tab is reloaded for a call only if the reload cannot lose user input or stop sound', async (t) => {
  const { tabReloader, reloadedTabs, pages, tabStates, liveTabs } = makeFixture(t);
  pages.set(1, untouchedPage);
  pages.set(2, { ...untouchedPage, hasUserInteracted: true });
  pages.set(3, { ...untouchedPage, audible: true });
  pages.set(4, { ...untouchedPage, hasUserInteracted: true });
  tabStates.set(4, 'discarded');
  pages.set(5, { ...untouchedPage, hasUserInteracted: true });
  tabStates.set(5, 'crashed');
  pages.set(6, untouchedPage);
  liveTabs.add(6);
  pages.set(100, untouchedPage);
  const crashedTabs: string[] = [];
  tabReloader.crashSignal.addListener((tabId) =>
    crashedTabs.push(`${tabId} of ${reloadedTabs.includes(tabId) ? 'a new page' : 'its page'}`),
  );
  const reloadAnswers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 100].map((id) => tabReloader.load(id)));
  // The plugin already runs in tab 6, so load returns true without a reload.
  assert.deepEqual(reloadAnswers, [true, false, false, true, true, true, false, false]);
  assert.deepEqual(reloadedTabs.sort(), [1, 4, 5]);
  assert.deepEqual(crashedTabs, ['5 of its page'], 'the crash of tab 5 must be reported before its reload');
});

test('a page that does not answer is not reloaded', async (t) => {
  const { tabReloader, reloadedTabs, pages, advanceTime } = makeFixture(t);
  pages.set(1, 'busy');
  const answer = tabReloader.load(1);
  await runPendingPromises();
  await advanceTime(1000);
  assert.deepEqual([await answer, reloadedTabs], [false, []]);
});

test('load waits for a page that is loading, unless the user has interacted with the page', async (t) => {
  const { tabReloader, reloadedTabs, pages, loadingTabs, advanceTime } = makeFixture(t);
  pages.set(1, 'busy');
  pages.set(2, { ...untouchedPage, hasUserInteracted: true });
  loadingTabs.add(1).add(2);
  const reloadAnswers = Promise.all([tabReloader.load(1), tabReloader.load(2)]);
  await runPendingPromises();
  await advanceTime(1000);
  assert.deepEqual([await reloadAnswers, reloadedTabs], [[true, false], []]);
});

test('only documents that started while scripts were being registered are reloaded at once', async (t) => {
  const { tabReloader, simulateRegistration, reloadedTabs, fetchedPlugins, pages, liveTabs, advanceTime } =
    makeFixture(t);
  for (const [id, startedMs] of [
    [1, 4900],
    [2, 5000],
    [3, 6050],
    [4, 6250],
    [5, 5050],
    [6, 5050],
  ] as const) {
    pages.set(id, { ...untouchedPage, startedAtMs: startedMs, hasUserInteracted: id === 6 });
  }
  liveTabs.add(5);
  await advanceTime(60);
  await simulateRegistration(5000);
  assert.deepEqual(
    [reloadedTabs, fetchedPlugins],
    [
      [2, 3],
      ['demo', 'demo'],
    ],
  );
  assert.deepEqual([1, 2, 6].map(tabReloader.expectsReload.bind(tabReloader)), [false, true, false]);
});

test('a document that probably has its scripts is inspected only if it does not connect', async (t) => {
  const { tabReloader, simulateRegistration, reloadedTabs, inspectedTabs, pages, liveTabs, advanceTime } =
    makeFixture(t);
  for (const id of [1, 2, 3]) pages.set(id, untouchedPage);
  await advanceTime(100);
  // The document of tab 1 started before the registration of the scripts, and the document of tab 2 during it.
  tabReloader.recordDocumentStart(1, 5040);
  tabReloader.recordDocumentStart(2, 5060);
  tabReloader.recordDocumentStart(3, 5080);
  await simulateRegistration(4000, 5050);
  assert.deepEqual(
    [inspectedTabs, reloadedTabs],
    [[1, 1], [1]],
    'only tab 1, which started before the registrations, must be reloaded',
  );
  liveTabs.add(1).add(2);
  await advanceTime(300);
  assert.deepEqual(
    [inspectedTabs.slice(2), reloadedTabs],
    [
      [3, 3],
      [1, 3],
    ],
  );
  assert.equal(tabReloader.expectsReload(2), false);
});

test('no inspection script runs in pages that start soon after a registration and get their plugins', async (t) => {
  const {
    tabReloader,
    simulateRegistration,
    inspectedTabs,
    pingedDocuments,
    reloadedTabs,
    pages,
    liveTabs,
    loadingTabs,
    advanceTime,
  } = makeFixture(t);
  pages.set(1, untouchedPage);
  pages.set(2, untouchedPage);
  liveTabs.add(1).add(2);
  await simulateRegistration(0);
  // Tab 1 navigates immediately. Tab 2 navigates only after Chrome has distributed the registered scripts.
  tabReloader.recordDocumentStart(1, 5010);
  liveTabs.delete(1);
  loadingTabs.add(1).add(2);
  await advanceTime(10);
  await simulateRegistration(2000, 5000);
  await advanceTime(150);
  liveTabs.add(1);
  loadingTabs.delete(1);
  await advanceTime(900);
  liveTabs.delete(2);
  tabReloader.recordDocumentStart(2, 6050);
  for (let i = 0; i < 10; i++) await advanceTime(300);
  loadingTabs.delete(2);
  await advanceTime(300);
  assert.deepEqual([inspectedTabs, reloadedTabs, new Set(pingedDocuments)], [[], [], new Set(['d1', 'd2'])]);
  assert.deepEqual([tabReloader.expectsReload(1), tabReloader.expectsReload(2)], [false, false]);
});

test('a page whose bridge starts late or has not connected is checked again', async (t) => {
  const { simulateRegistration, reloadedTabs, inspectedTabs, pages, liveTabs, environment, advanceTime } =
    makeFixture(t);
  let isBridgeConnected = false;
  pages.set(1, {
    ...untouchedPage,
    get hasBridge() {
      const wasBridgeConnected = isBridgeConnected;
      isBridgeConnected = true;
      return wasBridgeConnected;
    },
  });
  environment.isConnected = false;
  await simulateRegistration(5000);
  assert.deepEqual([inspectedTabs, reloadedTabs], [[1, 1], []]);
  for (let i = 0; i < 10; i++) await advanceTime(300);
  assert.deepEqual(reloadedTabs, []);
  liveTabs.add(1);
  await advanceTime(300);
  const inspectionCount = inspectedTabs.length;
  await advanceTime(10_000);
  assert.deepEqual([inspectedTabs.length, reloadedTabs], [inspectionCount, []]);
});

test('a tab with a plugin that is not registered yet is reloaded after the registration', async (t) => {
  const { simulateRegistration, reloadedTabs, inspectedTabs, pages, environment, advanceTime } = makeFixture(t);
  pages.set(1, untouchedPage);
  environment.isRegistered = false;
  await simulateRegistration(0);
  await advanceTime(300);
  assert.deepEqual([inspectedTabs, reloadedTabs], [[], []]);
  environment.isRegistered = true;
  await simulateRegistration(0);
  assert.deepEqual(reloadedTabs, [1]);
});

test('a reloaded tab is checked until its plugins are live, and is reloaded at most twice', async (t) => {
  const { tabReloader, simulateRegistration, reloadedTabs, pages, liveTabs, advanceTime } = makeFixture(t);
  pages.set(1, untouchedPage);
  pages.set(2, untouchedPage);
  await simulateRegistration(5000);
  assert.deepEqual(reloadedTabs, [1, 2]);
  liveTabs.add(1);
  for (let i = 0; i < 9; i++) await advanceTime(300);
  assert.deepEqual(reloadedTabs, [1, 2], 'a tab must not be reloaded twice while it loads');
  assert.deepEqual([tabReloader.expectsReload(1), tabReloader.expectsReload(2)], [false, true]);
  for (let i = 0; i < 30; i++) await advanceTime(300);
  assert.deepEqual(reloadedTabs, [1, 2, 2]);
  assert.equal(tabReloader.expectsReload(2), false);
});

test('a busy tab, or a tab that cannot be reloaded yet, delays no other tab and is checked again', async (t) => {
  const { simulateRegistration, reloadedTabs, pages, liveTabs, goneTabs, advanceTime } = makeFixture(t);
  const warnMock = t.mock.method(console, 'warn', () => undefined);
  pages.set(1, 'busy');
  pages.set(2, untouchedPage);
  goneTabs.add(2);
  pages.set(3, untouchedPage);
  await simulateRegistration(5000);
  assert.deepEqual(reloadedTabs, [3]);
  liveTabs.add(3);
  goneTabs.delete(2);
  await advanceTime(300);
  assert.deepEqual(reloadedTabs, [3, 2], 'a busy page must not delay other pages');
  liveTabs.add(2);
  await advanceTime(pageBusyMs);
  await advanceTime(pageBusyMs);
  assert.deepEqual(reloadedTabs, [3, 2, 1]);
  assert.match(String(warnMock.mock.calls[0]?.arguments[0]), /No tab with id: 2/);
});

test('a frame that started while scripts were being registered is reloaded without its tab', async (t) => {
  const { simulateRegistration, reloadedTabs, reframedTabs, inspectedTabs, frames, pages, liveTabs, advanceTime } =
    makeFixture(t);
  pages.set(1, untouchedPage);
  liveTabs.add(1);
  const frame = { url: 'https://demo.example/in', startedAtMs: 5000, hasUserInteracted: false };
  await advanceTime(50);
  frames.set(1, [
    { ...frame, documentId: 'f-live' },
    { ...frame, documentId: 'f-without', url: 'https://other.example/' },
    { ...frame, documentId: 'f-without', url: 'about:blank' },
  ]);
  await simulateRegistration(5000);
  assert.deepEqual([reframedTabs, inspectedTabs], [[], []], 'no frame may be reloaded if none lacks a plugin');
  frames.set(1, [
    { ...frame, documentId: 'f-without', hasUserInteracted: true },
    { ...frame, documentId: 'f-without', startedAtMs: 10 },
  ]);
  await simulateRegistration(5000);
  assert.deepEqual([reframedTabs, inspectedTabs], [[], [1]]);
  frames.set(1, [{ ...frame, documentId: 'f-without' }]);
  await simulateRegistration(5000);
  assert.deepEqual([reframedTabs, reloadedTabs], [['f-without'], []]);
});

test('a frame that probably has its scripts gets time to connect', async (t) => {
  const { simulateRegistration, reframedTabs, frames, pages, liveTabs, advanceTime } = makeFixture(t);
  pages.set(1, untouchedPage);
  liveTabs.add(1);
  const frame = { url: 'https://demo.example/in', startedAtMs: 5000, hasUserInteracted: false };
  frames.set(1, [{ ...frame, documentId: 'f-without' }]);
  await simulateRegistration(0, 5000);
  assert.deepEqual(reframedTabs, []);
  await advanceTime(300);
  assert.deepEqual(reframedTabs, ['f-without']);
});

test('a document with the bridge of the extension from before a reload is dropped and reloaded', async (t) => {
  const { simulateRegistration, reloadedTabs, orphanedDocuments, inspectedTabs, deafDocuments, pages, liveTabs } =
    makeFixture(t);
  pages.set(1, untouchedPage);
  pages.set(2, { ...untouchedPage, startedAtMs: 1, documentId: 'd2' });
  pages.set(3, { ...untouchedPage, documentId: 'd3', hasUserInteracted: true });
  // The page of tab 4 is busy and answers late.
  pages.set(4, { ...untouchedPage, documentId: 'd4', hasBridge: true });
  for (const id of pages.keys()) liveTabs.add(id);
  for (const id of ['d2', 'd3', 'd4']) deafDocuments.add(id);
  await simulateRegistration(0);
  assert.deepEqual([orphanedDocuments, reloadedTabs, inspectedTabs], [['d2', 'd3'], [2], [2, 3, 4]]);
});
