import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginInfo, TabInfo } from '../../../wire/wire.gen.ts';
import { settle } from '../../test/server.ts';
import type { Tab } from '../chrome.ts';
import type { Live } from '../port-message.ts';
import type { LiveDoc } from './docs.ts';
import { makeTabs, tabInfo } from './tabs.ts';

const tab = (id: number, more: Partial<Tab> = {}): Tab => ({
  id,
  windowId: 1,
  url: 'https://a.org/',
  title: 'A',
  active: false,
  loading: false,
  discarded: false,
  frozen: false,
  lastAccessed: 5,
  ...more,
});
const plugin = (name: string): PluginInfo => ({
  name,
  displayName: name,
  hash: 'h',
  script: 's',
  world: 'main',
  matches: ['*://a.org/*'],
});
const live = (...plugins: Live[]) => frame(0, ...plugins);
/** frame is a document with these plugins. */
const frame = (frameId: number, ...plugins: Live[]): LiveDoc => ({
  doc: {
    tabId: 1,
    frameId,
    documentId: frameId === 0 ? 'd' : `f${frameId}`,
    url: 'https://a.org/in',
    post: () => undefined,
  },
  plugins,
});

test('what is told of a tab', () => {
  const base = {
    tabId: 1,
    windowId: 1,
    url: 'https://a.org/',
    title: 'A',
    active: false,
    focused: true,
    lastAccessedMs: 5,
  };
  assert.deepEqual(tabInfo(tab(1), 1, [plugin('p'), plugin('q')], live({ name: 'p', hash: 'old' }), []), {
    ...base,
    documentId: 'd',
    plugins: [{ name: 'p', hash: 'old' }],
    needsReload: ['q'],
  });
  assert.deepEqual(tabInfo(tab(1), 2, [plugin('p')], undefined, []), { ...base, focused: false, needsReload: ['p'] });
  assert.deepEqual(tabInfo(tab(1, { loading: true }), 1, [plugin('p')], undefined, []), { ...base, loading: ['p'] });
  assert.equal(
    tabInfo(tab(1, { url: 'https://b.org/' }), 1, [plugin('p')], live({ name: 'p', hash: 'h' }), []),
    undefined,
  );
});

test('an adapter that did not start is not live, and a reload would not mend it', () => {
  const info = tabInfo(tab(1), 1, [plugin('p')], live({ name: 'p', hash: 'h', problem: 'it threw' }), []);
  assert.deepEqual([info?.documentId, info?.plugins, info?.needsReload], [undefined, undefined, undefined]);
  assert.deepEqual(info?.broken, [{ name: 'p', hash: 'h', problem: 'it threw' }]);
});

test('a plugin that does not match the URL any more is not live there', () => {
  const elsewhere = { ...plugin('q'), matches: ['*://b.org/*'] };
  const info = tabInfo(
    tab(1),
    1,
    [plugin('p'), elsewhere],
    live({ name: 'p', hash: 'h' }, { name: 'q', hash: 'h' }),
    [],
  );
  assert.deepEqual(info?.plugins, [{ name: 'p', hash: 'h' }]);
});

test('readiness is told as the adapter said it last, and not before', () => {
  const told = (more: Partial<Live>) =>
    tabInfo(tab(1), 1, [plugin('p')], live({ name: 'p', hash: 'h', ...more }), [])?.plugins;
  assert.deepEqual(told({}), [{ name: 'p', hash: 'h' }]);
  assert.deepEqual(told({ ready: false }), [{ name: 'p', hash: 'h', ready: false }]);
  assert.deepEqual(told({ ready: true }), [{ name: 'p', hash: 'h', ready: true }]);
});

test('a frozen tab runs nothing, so nothing is ready there', () => {
  const info = tabInfo(tab(1, { frozen: true }), 1, [plugin('p')], live({ name: 'p', hash: 'h', ready: true }), []);
  assert.deepEqual(
    [info?.frozen, info?.documentId, info?.plugins],
    [true, 'd', [{ name: 'p', hash: 'h', ready: false }]],
  );
  assert.equal(tabInfo(tab(1), 1, [plugin('p')], live({ name: 'p', hash: 'h' }), [])?.frozen, undefined);
});

test('a tab that Chrome has unloaded is told as one', () => {
  const info = tabInfo(tab(1, { discarded: true }), 1, [plugin('p')], undefined, []);
  assert.deepEqual([info?.discarded, info?.needsReload], [true, ['p']]);
});

test('a tab that shows an error page says why, unless it loads again or a page is there', () => {
  const loadError = { name: 'net::ERR_CONNECTION_REFUSED', atMs: 9 };
  // Neither scripts that are being registered nor code on its way change an error page.
  const coming = { expects: () => true, arrives: () => true, loadError };
  const told = (more: Partial<Tab>, here?: LiveDoc) => {
    const info = tabInfo(tab(1, more), 1, [plugin('p')], here, [], coming);
    return [info?.loadError, info?.loadFailedMs, info?.needsReload, info?.loading ?? info?.arriving];
  };
  assert.deepEqual(told({}), ['net::ERR_CONNECTION_REFUSED', 9, ['p'], undefined]);
  assert.deepEqual(told({ loading: true }), [undefined, undefined, undefined, ['p']]);
  assert.deepEqual(told({}, live({ name: 'p', hash: 'h' })), [undefined, undefined, undefined, undefined]);
});

test('a site that does not answer is an error though the tab loads', () => {
  const coming = { expects: () => true, arrives: () => true, loadError: { name: 'no_answer', atMs: 9 } };
  const info = tabInfo(tab(1, { loading: true }), 1, [plugin('p')], undefined, [], coming);
  assert.deepEqual([info?.loadError, info?.needsReload, info?.loading], ['no_answer', ['p'], undefined]);
  // The document before is still there and runs calls.
  const here = live({ name: 'p', hash: 'h' });
  assert.equal(tabInfo(tab(1, { loading: true }), 1, [plugin('p')], here, [], coming)?.loadError, undefined);
});

test('a tab that was opened for a call and led to a dead site counts as the page it was opened for', () => {
  const openedWith = 'https://a.org/start';
  const elsewhere = { url: 'https://dead.example/secret', title: 'dead.example' };
  const loadError = { name: 'net::ERR_NAME_NOT_RESOLVED', atMs: 9 };
  const told = (more: Partial<Tab>, coming: object) =>
    tabInfo(tab(1, { ...elsewhere, ...more }), 1, [plugin('p')], undefined, [], coming);
  const info = told({}, { openedWith, loadError });
  assert.deepEqual(
    [info?.url, info?.title, info?.loadError, info?.needsReload],
    [openedWith, '', loadError.name, ['p']],
  );
  // A page that is there, one that loads, and a tab of the user are not reported.
  assert.equal(told({}, { openedWith }), undefined);
  assert.equal(told({ loading: true }, { openedWith, loadError }), undefined);
  assert.equal(told({}, { loadError }), undefined);
  // A plugin's own page keeps its URL.
  const own = tabInfo(tab(1), 1, [plugin('p')], undefined, [], { openedWith, loadError });
  assert.deepEqual([own?.url, own?.loadError], [tab(1).url, loadError.name]);
});

test('plugins that want frames are live in those too, others are not (fault 88)', () => {
  const framed: PluginInfo = { ...plugin('p'), frames: true };
  const here: Live[] = [
    { name: 'p', hash: 'h', ready: true },
    { name: 'q', hash: 'h' },
  ];
  const frames = [frame(3, ...here), frame(5, { name: 'p', hash: 'h', problem: 'it threw' })];
  const want = [
    { frameId: 3, url: 'https://a.org/in', documentId: 'f3', plugins: [{ name: 'p', hash: 'h', ready: true }] },
  ];
  assert.deepEqual(tabInfo(tab(1), 1, [framed, plugin('q')], undefined, frames)?.frames, want);
  assert.equal(tabInfo(tab(1), 1, [plugin('p'), plugin('q')], undefined, frames)?.frames, undefined);
  // The tab counts though no plugin matches its own URL.
  const outside = tabInfo(
    tab(1, { url: 'https://a.org:81/' }),
    1,
    [{ ...framed, matches: ['*://b.org/*'] }],
    undefined,
    frames,
  );
  assert.deepEqual([outside?.frames, outside?.needsReload], [want, undefined]);
});

function makeBench(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const world: { tabs: Tab[]; queries: number } = { tabs: [tab(1), tab(2)], queries: 0 };
  const told: string[] = [];
  const tabs = makeTabs({
    query: async () => {
      world.queries++;
      return world.tabs;
    },
    focusedWindow: async () => 1,
    plugins: () => [plugin('p')],
    live: () => undefined,
    frames: () => [],
    expects: () => false,
    isSilent: () => false,
    synced: (all) => told.push(`all ${all.map((i) => i.tabId)}`),
    changed: (id, info: TabInfo | undefined) => told.push(`${id} ${info?.title ?? 'gone'}`),
  });
  return { world, told, tabs };
}

test('changes are gathered, and only what differs is told', async (t) => {
  const { world, told, tabs } = makeBench(t);
  tabs.sync();
  await settle();
  assert.deepEqual(told.splice(0), ['all 1,2']);
  tabs.touch();
  world.tabs = [tab(1, { title: 'B' }), tab(3)];
  for (let i = 0; i < 10; i++) tabs.touch();
  t.mock.timers.tick(49);
  await settle();
  assert.equal(world.queries, 1);
  t.mock.timers.tick(1);
  await settle();
  assert.deepEqual(told.splice(0), ['1 B', '3 A', '2 gone']);
  tabs.touch();
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(told, []);
  assert.deepEqual(
    tabs.known.map((i) => i.tabId),
    [1, 3],
  );
});

test('a change that a call may wait for is sent at once, and those that follow fast are gathered', async (t) => {
  const { world, told, tabs } = makeBench(t);
  tabs.sync();
  await settle();
  t.mock.timers.tick(50);
  tabs.touch();
  told.splice(0);
  const hurryWith = async (title: string) => {
    world.tabs = [tab(1, { title })];
    tabs.hurry();
    await settle();
  };
  await hurryWith('live');
  assert.deepEqual(told.splice(0), ['1 live', '2 gone']);
  for (const title of ['a', 'b', 'c']) await hurryWith(title);
  assert.deepEqual(told, []);
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(told.splice(0), ['1 c']);
  await hurryWith('d');
  assert.deepEqual(told, ['1 d']);
});

test('a change while the tabs are being listed is not lost', async (t) => {
  const { world, told, tabs } = makeBench(t);
  tabs.sync();
  tabs.touch();
  t.mock.timers.tick(50);
  await settle();
  world.tabs = [tab(1, { title: 'late' })];
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(told, ['all 1,2', '1 late', '2 gone']);
});

test('a sync while the tabs are being listed is done after that', async (t) => {
  const { told, tabs } = makeBench(t);
  tabs.sync();
  tabs.sync();
  await settle();
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(told, ['all 1,2', 'all 1,2']);
});

test('a tab that the server knows otherwise is told again', async (t) => {
  const { told, tabs } = makeBench(t);
  tabs.sync();
  await settle();
  told.splice(0);
  tabs.forget(2);
  tabs.forget(99);
  t.mock.timers.tick(50);
  await settle();
  assert.deepEqual(told, ['2 A']);
});
