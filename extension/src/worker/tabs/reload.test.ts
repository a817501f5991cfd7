import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { demoPlugin } from '../../../test/demo-plugin.ts';
import { settle } from '../../../test/server.ts';
import type { FrameState, PageState, TabState } from '../../chrome.ts';
import { TabReloader } from './reload.ts';

const busyMs = 8000;

/** The constant `untouched` is the state of a page without a bridge in which the user has not clicked or typed. */
const untouched: PageState = {
  hasUserInteracted: false,
  startedAtMs: 5000,
  audible: false,
  documentId: 'd',
  hasBridge: false,
};

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 5000 });
  const reloaded: number[] = [];
  const orphans: string[] = [];
  const pages = new Map<number, PageState | 'busy' | 'error'>();
  const states = new Map<number, TabState>();
  const live = new Set<number>();
  const gone = new Set<number>();
  const loading = new Set<number>();
  const frames = new Map<number, FrameState[]>();
  const reframed: string[] = [];
  const inspected: number[] = [];
  const pinged: string[] = [];
  const deaf = new Set<string>();
  const fetched: string[] = [];
  const environment = { isRegistered: true, isConnected: true };
  const reload = new TabReloader({
    query: async () =>
      [...pages.keys()].map((id) => ({
        id,
        windowId: 1,
        url: id < 100 ? 'https://demo.example/' : 'https://other.example/',
        title: '',
        active: false,
        loading: loading.has(id),
        discarded: false,
        frozen: false,
        lastAccessed: 0,
      })),
    tabState: async (id) => states.get(id) ?? 'open',
    readPage: async (id) => {
      inspected.push(id);
      const page = pages.get(id);
      if (page !== 'busy') return page;
      return new Promise((resolve) => setTimeout(() => resolve(untouched), busyMs));
    },
    reloadTab: async (id) => {
      if (gone.has(id)) throw new Error(`No tab with id: ${id}.`);
      reloaded.push(id);
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
      inspected.push(id);
      return frames.get(id) ?? [];
    },
    reloadFrame: async (_, documentId) => void reframed.push(documentId),
    isLive: (id, _, frame) => live.has(id) && frame !== 'f-without',
    liveDocument: (id) => (live.has(id) ? `d${id}` : undefined),
    answersSoon: async (documentId) => {
      pinged.push(documentId);
      return !deaf.has(documentId);
    },
    isRegistered: () => environment.isRegistered,
    beforeReload: (plugins) => fetched.push(...plugins.map(({ name }) => name)),
    isConnected: () => environment.isConnected,
    canRun: (plugin) => plugin.name === 'demo',
  });
  reload.orphaned.addListener((documentId) => orphans.push(documentId));
  const advanceTime = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  const registered = async (fromMs: number, firstMs: number | undefined = Date.now()) => {
    reload.recordRegistration({ fromMs, firstMs });
    await advanceTime(0);
  };
  const of = { inspected, pinged, deaf, fetched, environment };
  return {
    reload,
    registered,
    frames,
    reframed,
    reloaded,
    orphans,
    pages,
    states,
    live,
    gone,
    loading,
    advanceTime,
    ...of,
  };
}

test('an error page is reloaded for a call only', async (t) => {
  const { reload, registered, reloaded, pages, advanceTime } = makeFixture(t);
  pages.set(1, 'error');
  assert.equal(await reload.load(1), true);
  assert.deepEqual(reloaded, [1]);
  await registered(0);
  for (let i = 0; i < 20; i++) await advanceTime(1000);
  assert.deepEqual([reloaded, reload.expects(1)], [[1], false]);
});

test('a tab is reloaded for a call if the user has nothing to lose there', async (t) => {
  const { reload, reloaded, pages, states, live } = makeFixture(t);
  pages.set(1, untouched);
  pages.set(2, { ...untouched, hasUserInteracted: true });
  pages.set(3, { ...untouched, audible: true });
  pages.set(4, { ...untouched, hasUserInteracted: true });
  states.set(4, 'discarded');
  pages.set(5, { ...untouched, hasUserInteracted: true });
  states.set(5, 'crashed');
  pages.set(6, untouched);
  live.add(6);
  pages.set(100, untouched);
  const crashes: string[] = [];
  reload.crashed.addListener((tabId) =>
    crashes.push(`${tabId} of ${reloaded.includes(tabId) ? 'a new page' : 'its page'}`),
  );
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 100].map((id) => reload.load(id)));
  // The plugin already runs in tab 6, so the method `load` returns true without a reload.
  assert.deepEqual(answers, [true, false, false, true, true, true, false, false]);
  assert.deepEqual(reloaded.sort(), [1, 4, 5]);
  assert.deepEqual(crashes, ['5 of its page'], 'a crash is reported before the reload');
});

test('a page that does not answer is not reloaded', async (t) => {
  const { reload, reloaded, pages, advanceTime } = makeFixture(t);
  pages.set(1, 'busy');
  const answer = reload.load(1);
  await settle();
  await advanceTime(1000);
  assert.deepEqual([await answer, reloaded], [false, []]);
});

test('load waits for a page that is loading, but not for a touched one', async (t) => {
  const { reload, reloaded, pages, loading, advanceTime } = makeFixture(t);
  pages.set(1, 'busy');
  pages.set(2, { ...untouched, hasUserInteracted: true });
  loading.add(1).add(2);
  const answers = Promise.all([reload.load(1), reload.load(2)]);
  await settle();
  await advanceTime(1000);
  assert.deepEqual([await answers, reloaded], [[true, false], []]);
});

test('documents that began while scripts were registered are reloaded at once, and others are not', async (t) => {
  const { reload, registered, reloaded, fetched, pages, live, advanceTime } = makeFixture(t);
  for (const [id, startedMs] of [
    [1, 4900],
    [2, 5000],
    [3, 6050],
    [4, 6250],
    [5, 5050],
    [6, 5050],
  ] as const) {
    pages.set(id, { ...untouched, startedAtMs: startedMs, hasUserInteracted: id === 6 });
  }
  live.add(5);
  await advanceTime(60);
  await registered(5000);
  assert.deepEqual(
    [reloaded, fetched],
    [
      [2, 3],
      ['demo', 'demo'],
    ],
  );
  assert.deepEqual([1, 2, 6].map(reload.expects.bind(reload)), [false, true, false]);
});

test('a document that may have its scripts is inspected only if it does not connect', async (t) => {
  const { reload, registered, reloaded, inspected, pages, live, advanceTime } = makeFixture(t);
  for (const id of [1, 2, 3]) pages.set(id, untouched);
  await advanceTime(100);
  reload.recordStart(1, 5040); // The document of tab 1 started before the registration of the scripts.
  reload.recordStart(2, 5060); // The document of tab 2 started during the registration of the scripts.
  reload.recordStart(3, 5080);
  await registered(4000, 5050);
  assert.deepEqual(
    [inspected, reloaded],
    [[1, 1], [1]],
    'a document that started before the registrations lacks the scripts',
  );
  live.add(1).add(2);
  await advanceTime(300);
  assert.deepEqual(
    [inspected.slice(2), reloaded],
    [
      [3, 3],
      [1, 3],
    ],
  );
  assert.equal(reload.expects(2), false);
});

test('no script runs in pages that begin soon after a registration and get their plugins', async (t) => {
  const { reload, registered, inspected, pinged, reloaded, pages, live, loading, advanceTime } = makeFixture(t);
  pages.set(1, untouched);
  pages.set(2, untouched);
  live.add(1).add(2);
  await registered(0);
  // Tab 1 navigates immediately. Tab 2 navigates only after Chrome has distributed the registered scripts.
  reload.recordStart(1, 5010);
  live.delete(1);
  loading.add(1).add(2);
  await advanceTime(10);
  await registered(2000, 5000);
  await advanceTime(150);
  live.add(1);
  loading.delete(1);
  await advanceTime(900);
  live.delete(2);
  reload.recordStart(2, 6050);
  for (let i = 0; i < 10; i++) await advanceTime(300);
  loading.delete(2);
  await advanceTime(300);
  assert.deepEqual([inspected, reloaded, new Set(pinged)], [[], [], new Set(['d1', 'd2'])]);
  assert.deepEqual([reload.expects(1), reload.expects(2)], [false, false]);
});

test('a page whose bridge appears late, or has not connected, is rechecked', async (t) => {
  const { registered, reloaded, inspected, pages, live, environment, advanceTime } = makeFixture(t);
  let bridged = false;
  pages.set(1, {
    ...untouched,
    get hasBridge() {
      const before = bridged;
      bridged = true;
      return before;
    },
  });
  environment.isConnected = false;
  await registered(5000);
  assert.deepEqual([inspected, reloaded], [[1, 1], []]);
  for (let i = 0; i < 10; i++) await advanceTime(300);
  assert.deepEqual(reloaded, []);
  live.add(1);
  await advanceTime(300);
  const looks = inspected.length;
  await advanceTime(10_000);
  assert.deepEqual([inspected.length, reloaded], [looks, []]);
});

test('a tab whose plugin is not registered yet is reloaded afterwards', async (t) => {
  const { registered, reloaded, inspected, pages, environment, advanceTime } = makeFixture(t);
  pages.set(1, untouched);
  environment.isRegistered = false;
  await registered(0);
  await advanceTime(300);
  assert.deepEqual([inspected, reloaded], [[], []]);
  environment.isRegistered = true;
  await registered(0);
  assert.deepEqual(reloaded, [1]);
});

test('a reloaded tab is checked until its plugins are live, and reloaded twice at most', async (t) => {
  const { reload, registered, reloaded, pages, live, advanceTime } = makeFixture(t);
  pages.set(1, untouched);
  pages.set(2, untouched);
  await registered(5000);
  assert.deepEqual(reloaded, [1, 2]);
  live.add(1);
  for (let i = 0; i < 9; i++) await advanceTime(300);
  assert.deepEqual(reloaded, [1, 2], 'each tab is reloaded only once while its next document loads');
  assert.deepEqual([reload.expects(1), reload.expects(2)], [false, true]);
  for (let i = 0; i < 30; i++) await advanceTime(300);
  assert.deepEqual(reloaded, [1, 2, 2]);
  assert.equal(reload.expects(2), false);
});

test('a busy tab and a tab that cannot be reloaded yet delay no other and are rechecked', async (t) => {
  const { registered, reloaded, pages, live, gone, advanceTime } = makeFixture(t);
  const warn = t.mock.method(console, 'warn', () => undefined);
  pages.set(1, 'busy');
  pages.set(2, untouched);
  gone.add(2);
  pages.set(3, untouched);
  await registered(5000);
  assert.deepEqual(reloaded, [3]);
  live.add(3);
  gone.delete(2);
  await advanceTime(300);
  assert.deepEqual(reloaded, [3, 2], 'the busy page delays no other page');
  live.add(2);
  await advanceTime(busyMs);
  await advanceTime(busyMs);
  assert.deepEqual(reloaded, [3, 2, 1]);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /No tab with id: 2/);
});

test('a frame that began while scripts were registered is reloaded alone', async (t) => {
  const { registered, reloaded, reframed, inspected, frames, pages, live, advanceTime } = makeFixture(t);
  pages.set(1, untouched);
  live.add(1);
  const frame = { url: 'https://demo.example/in', startedAtMs: 5000, hasUserInteracted: false };
  await advanceTime(50);
  frames.set(1, [
    { ...frame, documentId: 'f-live' },
    { ...frame, documentId: 'f-without', url: 'https://other.example/' },
    { ...frame, documentId: 'f-without', url: 'about:blank' },
  ]);
  await registered(5000);
  assert.deepEqual([reframed, inspected], [[], []], 'no frame that can have a plugin lacks the plugin');
  frames.set(1, [
    { ...frame, documentId: 'f-without', hasUserInteracted: true },
    { ...frame, documentId: 'f-without', startedAtMs: 10 },
  ]);
  await registered(5000);
  assert.deepEqual([reframed, inspected], [[], [1]]);
  frames.set(1, [{ ...frame, documentId: 'f-without' }]);
  await registered(5000);
  assert.deepEqual([reframed, reloaded], [['f-without'], []]);
});

test('a frame that may have its scripts gets time to connect', async (t) => {
  const { registered, reframed, frames, pages, live, advanceTime } = makeFixture(t);
  pages.set(1, untouched);
  live.add(1);
  const frame = { url: 'https://demo.example/in', startedAtMs: 5000, hasUserInteracted: false };
  frames.set(1, [{ ...frame, documentId: 'f-without' }]);
  await registered(0, 5000);
  assert.deepEqual(reframed, []);
  await advanceTime(300);
  assert.deepEqual(reframed, ['f-without']);
});

test('a document that seems live but has the bridge of a removed extension is dropped and reloaded', async (t) => {
  const { registered, reloaded, orphans, inspected, deaf, pages, live } = makeFixture(t);
  pages.set(1, untouched);
  pages.set(2, { ...untouched, startedAtMs: 1, documentId: 'd2' });
  pages.set(3, { ...untouched, documentId: 'd3', hasUserInteracted: true });
  // The page of tab 4 is busy and answers late.
  pages.set(4, { ...untouched, documentId: 'd4', hasBridge: true });
  for (const id of pages.keys()) live.add(id);
  for (const id of ['d2', 'd3', 'd4']) deaf.add(id);
  await registered(0);
  assert.deepEqual([orphans, reloaded, inspected], [['d2', 'd3'], [2], [2, 3, 4]]);
});
