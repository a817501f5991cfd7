import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { settle } from '../../test/server.ts';
import type { FramePage, Page, TabState } from '../chrome.ts';
import { makeReload } from './reload.ts';

/** busyMs is how long a busy page takes to tell of itself. */
const busyMs = 8000;

const untouched: Page = { touched: false, startedMs: 5000, audible: false, documentId: 'd', bridged: true };

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 5000 });
  const reloaded: number[] = [];
  const orphans: string[] = [];
  const pages = new Map<number, Page | 'busy' | 'error'>();
  const states = new Map<number, TabState>();
  const live = new Set<number>();
  const gone = new Set<number>();
  const loading = new Set<number>();
  const frames = new Map<number, FramePage[]>();
  const reframed: string[] = [];
  const reload = makeReload({
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
      const page = pages.get(id);
      if (page !== 'busy') return page;
      return new Promise((resolve) => setTimeout(() => resolve(untouched), busyMs));
    },
    reloadTab: async (id) => {
      if (gone.has(id)) throw new Error(`No tab with id: ${id}.`);
      reloaded.push(id);
    },
    plugins: () => [
      {
        name: 'demo',
        displayName: 'Demo',
        hash: 'h',
        script: 's',
        world: 'main',
        matches: ['https://demo.example/*'],
        frames: true,
      },
      {
        name: 'barred',
        displayName: 'Barred',
        hash: 'h',
        script: 's',
        world: 'isolated',
        matches: ['<all>', 'https://*/*'],
      },
    ],
    readFrames: async (id) => frames.get(id) ?? [],
    reloadFrame: async (_, documentId) => void reframed.push(documentId),
    isLive: (id, _, frame) => live.has(id) && frame !== 'f-without',
    isConnected: () => true,
    changed: () => undefined,
    canRun: (plugin) => plugin.name === 'demo',
    orphaned: (documentId) => orphans.push(documentId),
  });
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await settle();
  };
  return { reload, frames, reframed, reloaded, orphans, pages, states, live, gone, loading, pass };
}

test('an error page is loaded again for a call, and left alone otherwise', async (t) => {
  const { reload, reloaded, pages, pass } = makeBench(t);
  pages.set(1, 'error');
  assert.equal(await reload.load(1), true);
  assert.deepEqual(reloaded, [1]);
  reload.registered(0);
  for (let i = 0; i < 20; i++) await pass(1000);
  assert.deepEqual([reloaded, reload.expects(1)], [[1], false]);
});

test('a tab is loaded for a call if nobody can lose anything by that', async (t) => {
  const { reload, reloaded, pages, states, live } = makeBench(t);
  pages.set(1, untouched);
  pages.set(2, { ...untouched, touched: true });
  pages.set(3, { ...untouched, audible: true });
  pages.set(4, { ...untouched, touched: true });
  states.set(4, 'discarded');
  pages.set(5, { ...untouched, touched: true });
  states.set(5, 'crashed');
  pages.set(6, untouched);
  live.add(6);
  pages.set(100, untouched);
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 100].map((id) => reload.load(id)));
  // 6 is live by now.
  assert.deepEqual(answers, [true, false, false, true, true, true, false, false]);
  assert.deepEqual(reloaded.sort(), [1, 4, 5]);
});

test('a page that does not answer is left alone', async (t) => {
  const { reload, reloaded, pages, pass } = makeBench(t);
  pages.set(1, 'busy');
  const answer = reload.load(1);
  await settle();
  await pass(1000);
  assert.deepEqual([await answer, reloaded], [false, []]);
});

test('a page that does not answer because it is being loaded is awaited, one that was touched is not', async (t) => {
  const { reload, reloaded, pages, loading, pass } = makeBench(t);
  pages.set(1, 'busy');
  pages.set(2, { ...untouched, touched: true });
  loading.add(1).add(2);
  const answers = Promise.all([reload.load(1), reload.load(2)]);
  await settle();
  await pass(1000);
  assert.deepEqual([await answers, reloaded], [[true, false], []]);
});

test('documents that began while scripts were registered are reloaded; others are not', async (t) => {
  const { reload, reloaded, pages, live, pass } = makeBench(t);
  for (const [id, startedMs] of [
    [1, 4900],
    [2, 5000],
    [3, 6050],
    [4, 6250],
    [5, 5050],
    [6, 5050],
  ] as const) {
    pages.set(id, { ...untouched, startedMs, touched: id === 6 });
  }
  live.add(5);
  reload.registered(5000);
  await pass(60);
  reload.registered(5060);
  assert.equal(reload.expects(2), true);
  await pass(199);
  assert.deepEqual(reloaded, []);
  await pass(1);
  assert.deepEqual(reloaded, [2, 3]);
  assert.deepEqual([reload.expects(1), reload.expects(2), reload.expects(6)], [false, true, false]);
});

test('a tab that was reloaded is watched until its plugins are live, and reloaded twice at most', async (t) => {
  const { reload, reloaded, pages, live, pass } = makeBench(t);
  pages.set(1, untouched);
  pages.set(2, untouched);
  reload.registered(5000);
  await pass(200);
  assert.deepEqual(reloaded, [1, 2]);
  live.add(1);
  for (let i = 0; i < 9; i++) await pass(300);
  assert.deepEqual(reloaded, [1, 2], 'the next document takes its time');
  assert.deepEqual([reload.expects(1), reload.expects(2)], [false, true]);
  for (let i = 0; i < 30; i++) await pass(300);
  assert.deepEqual(reloaded, [1, 2, 2]);
  assert.equal(reload.expects(2), false);
});

test('a tab that is busy, and one that can not be reloaded just then, delay no other and are not forgotten', async (t) => {
  const { reload, reloaded, pages, live, gone, pass } = makeBench(t);
  const warn = t.mock.method(console, 'warn', () => undefined);
  pages.set(1, 'busy');
  pages.set(2, untouched);
  gone.add(2);
  pages.set(3, untouched);
  reload.registered(5000);
  await pass(200);
  assert.deepEqual(reloaded, [3]);
  live.add(3);
  gone.delete(2);
  await pass(300);
  assert.deepEqual(reloaded, [3, 2], 'the busy page delays no other');
  live.add(2);
  await pass(busyMs);
  assert.deepEqual(reloaded, [3, 2, 1]);
  assert.match(String(warn.mock.calls[0]?.arguments[0]), /No tab with id: 2/);
});

test('a frame that began while scripts were registered is reloaded by itself', async (t) => {
  const { reload, reloaded, reframed, frames, pages, live, pass } = makeBench(t);
  pages.set(1, untouched);
  live.add(1);
  const frame = { url: 'https://demo.example/in', startedMs: 5000, touched: false };
  frames.set(1, [
    { ...frame, documentId: 'f-live' },
    { ...frame, documentId: 'f-without', touched: true },
    { ...frame, documentId: 'f-without', startedMs: 10 },
    { ...frame, documentId: 'f-without', url: 'https://other.example/' },
  ]);
  reload.registered(5000);
  await pass(200);
  assert.deepEqual(reframed, []);
  frames.set(1, [{ ...frame, documentId: 'f-without' }]);
  reload.registered(5000);
  await pass(200);
  assert.deepEqual([reframed, reloaded], [['f-without'], []]);
});

test('a document that seems live and has the bridge of an extension that is gone is dropped and reloaded', async (t) => {
  const { reload, reloaded, orphans, pages, live, pass } = makeBench(t);
  pages.set(1, untouched);
  pages.set(2, { ...untouched, startedMs: 1, documentId: 'd2', bridged: false });
  pages.set(3, { ...untouched, documentId: 'd3', bridged: false, touched: true });
  for (const id of pages.keys()) live.add(id);
  reload.registered(0);
  await pass(200);
  assert.deepEqual([orphans, reloaded], [['d2', 'd3'], [2]]);
});
