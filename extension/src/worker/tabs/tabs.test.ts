import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PluginInfo, TabInfo } from '../../../../wire/wire.gen.ts';
import { runPendingPromises } from '../../../test/server.ts';
import type { ChromeTab } from '../../chrome.ts';
import type { LiveAdapter } from '../../port-message.ts';
import type { DocWithPlugins } from '../documents/docs.ts';
import { makeTabInfo, Tabs } from './tabs.ts';

const makeTab = (id: number, tabFields: Partial<ChromeTab> = {}): ChromeTab => ({
  id,
  windowId: 1,
  url: 'https://a.org/',
  title: 'A',
  active: false,
  loading: false,
  discarded: false,
  frozen: false,
  lastAccessed: 5,
  ...tabFields,
});
const makePlugin = (name: string): PluginInfo => ({
  name,
  displayName: name,
  hash: 'h',
  script: 's',
  world: 'main',
  matches: ['*://a.org/*'],
});
const makeTopDoc = (...plugins: LiveAdapter[]) => makeFrameDoc(0, ...plugins);
const makeFrameDoc = (frameId: number, ...plugins: LiveAdapter[]): DocWithPlugins => ({
  doc: {
    tabId: 1,
    frameId,
    documentId: frameId === 0 ? 'd' : `f${frameId}`,
    url: 'https://a.org/in',
    post: () => undefined,
  },
  plugins,
});

test('makeTabInfo returns the state of a matching tab', () => {
  const expectedTab = {
    tabId: 1,
    windowId: 1,
    url: 'https://a.org/',
    title: 'A',
    active: false,
    focused: true,
    lastAccessedMs: 5,
  };
  assert.deepEqual(
    makeTabInfo(makeTab(1), 1, [makePlugin('p'), makePlugin('q')], makeTopDoc({ name: 'p', hash: 'old' }), []),
    {
      ...expectedTab,
      documentId: 'd',
      plugins: [{ name: 'p', hash: 'old' }],
      needsReload: ['q'],
    },
  );
  assert.deepEqual(makeTabInfo(makeTab(1), 2, [makePlugin('p')], undefined, []), {
    ...expectedTab,
    focused: false,
    needsReload: ['p'],
  });
  assert.deepEqual(makeTabInfo(makeTab(1, { loading: true }), 1, [makePlugin('p')], undefined, []), {
    ...expectedTab,
    loading: ['p'],
  });
  assert.equal(
    makeTabInfo(makeTab(1, { url: 'https://b.org/' }), 1, [makePlugin('p')], makeTopDoc({ name: 'p', hash: 'h' }), []),
    undefined,
  );
});

test('an adapter that failed to start is not reported as live or as needing a reload', () => {
  const tabInfo = makeTabInfo(
    makeTab(1),
    1,
    [makePlugin('p')],
    makeTopDoc({ name: 'p', hash: 'h', problem: 'it threw' }),
    [],
  );
  assert.deepEqual([tabInfo?.documentId, tabInfo?.plugins, tabInfo?.needsReload], [undefined, undefined, undefined]);
  assert.deepEqual(tabInfo?.broken, [{ name: 'p', hash: 'h', problem: 'it threw' }]);
});

test('a plugin that no longer matches the URL is not reported as live', () => {
  const otherSitePlugin = { ...makePlugin('q'), matches: ['*://b.org/*'] };
  const tabInfo = makeTabInfo(
    makeTab(1),
    1,
    [makePlugin('p'), otherSitePlugin],
    makeTopDoc({ name: 'p', hash: 'h' }, { name: 'q', hash: 'h' }),
    [],
  );
  assert.deepEqual(tabInfo?.plugins, [{ name: 'p', hash: 'h' }]);
});

test('the reported readiness is the last report of the adapter, and absent before the first report', () => {
  const report = (tabFields: Partial<LiveAdapter>) =>
    makeTabInfo(makeTab(1), 1, [makePlugin('p')], makeTopDoc({ name: 'p', hash: 'h', ...tabFields }), [])?.plugins;
  assert.deepEqual(report({}), [{ name: 'p', hash: 'h' }]);
  assert.deepEqual(report({ ready: false }), [{ name: 'p', hash: 'h', ready: false }]);
  assert.deepEqual(report({ ready: true }), [{ name: 'p', hash: 'h', ready: true }]);
});

test('a frozen tab runs no code, so its plugins are reported as not ready', () => {
  const tabInfo = makeTabInfo(
    makeTab(1, { frozen: true }),
    1,
    [makePlugin('p')],
    makeTopDoc({ name: 'p', hash: 'h', ready: true }),
    [],
  );
  assert.deepEqual(
    [tabInfo?.frozen, tabInfo?.documentId, tabInfo?.plugins],
    [true, 'd', [{ name: 'p', hash: 'h', ready: false }]],
  );
  assert.equal(
    makeTabInfo(makeTab(1), 1, [makePlugin('p')], makeTopDoc({ name: 'p', hash: 'h' }), [])?.frozen,
    undefined,
  );
});

test('a tab that Chrome has unloaded is reported as discarded', () => {
  const tabInfo = makeTabInfo(makeTab(1, { discarded: true }), 1, [makePlugin('p')], undefined, []);
  assert.deepEqual([tabInfo?.discarded, tabInfo?.needsReload], [true, ['p']]);
});

test('a tab with an error page is reported with the error, unless the tab is loading again or shows a page', () => {
  const loadError = { name: 'net::ERR_CONNECTION_REFUSED', atMs: 9 };
  // A tab with an error page is reported with the error, even while plugin code is being registered or injected.
  const expectations = { expects: () => true, isArriving: () => true, loadError };
  const report = (tabFields: Partial<ChromeTab>, topDocument?: DocWithPlugins) => {
    const tabInfo = makeTabInfo(makeTab(1, tabFields), 1, [makePlugin('p')], topDocument, [], expectations);
    return [tabInfo?.loadError, tabInfo?.loadFailedMs, tabInfo?.needsReload, tabInfo?.loading ?? tabInfo?.arriving];
  };
  assert.deepEqual(report({}), ['net::ERR_CONNECTION_REFUSED', 9, ['p'], undefined]);
  assert.deepEqual(report({ loading: true }), [undefined, undefined, undefined, ['p']]);
  assert.deepEqual(report({}, makeTopDoc({ name: 'p', hash: 'h' })), [undefined, undefined, undefined, undefined]);
});

test('a site that does not answer is reported as an error even while the tab loads', () => {
  const expectations = { expects: () => true, isArriving: () => true, loadError: { name: 'no_answer', atMs: 9 } };
  const tabInfo = makeTabInfo(makeTab(1, { loading: true }), 1, [makePlugin('p')], undefined, [], expectations);
  assert.deepEqual([tabInfo?.loadError, tabInfo?.needsReload, tabInfo?.loading], ['no_answer', ['p'], undefined]);
  // While the tab loads a new document, its previous document is still connected and still runs calls.
  const topDocument = makeTopDoc({ name: 'p', hash: 'h' });
  assert.equal(
    makeTabInfo(makeTab(1, { loading: true }), 1, [makePlugin('p')], topDocument, [], expectations)?.loadError,
    undefined,
  );
});

test('a tab that was opened for a call and redirected to an unreachable site is reported with its original URL', () => {
  const urlOpenedWith = 'https://a.org/start';
  const otherSitePlugin = { url: 'https://dead.example/secret', title: 'dead.example' };
  const loadError = { name: 'net::ERR_NAME_NOT_RESOLVED', atMs: 9 };
  const report = (tabFields: Partial<ChromeTab>, expectations: object) =>
    makeTabInfo(makeTab(1, { ...otherSitePlugin, ...tabFields }), 1, [makePlugin('p')], undefined, [], expectations);
  const tabInfo = report({}, { urlOpenedWith, loadError });
  assert.deepEqual(
    [tabInfo?.url, tabInfo?.title, tabInfo?.loadError, tabInfo?.needsReload],
    [urlOpenedWith, '', loadError.name, ['p']],
  );
  // Tabs with a loaded page, loading tabs and the user's tabs are not reported as opened for a call.
  assert.equal(report({}, { urlOpenedWith }), undefined);
  assert.equal(report({ loading: true }, { urlOpenedWith, loadError }), undefined);
  assert.equal(report({}, { loadError }), undefined);
  // If a tab's URL matches a plugin, the worker reports that URL, even if the worker opened the tab for a call.
  const own = makeTabInfo(makeTab(1), 1, [makePlugin('p')], undefined, [], { urlOpenedWith, loadError });
  assert.deepEqual([own?.url, own?.loadError], [makeTab(1).url, loadError.name]);
});

test('only plugins that support frames are reported in the frames of a tab', () => {
  const framedPlugin: PluginInfo = { ...makePlugin('p'), frames: true };
  const topDocument: LiveAdapter[] = [
    { name: 'p', hash: 'h', ready: true },
    { name: 'q', hash: 'h' },
  ];
  const frames = [makeFrameDoc(3, ...topDocument), makeFrameDoc(5, { name: 'p', hash: 'h', problem: 'it threw' })];
  const expectedTabs = [
    { frameId: 3, url: 'https://a.org/in', documentId: 'f3', plugins: [{ name: 'p', hash: 'h', ready: true }] },
  ];
  assert.deepEqual(
    makeTabInfo(makeTab(1), 1, [framedPlugin, makePlugin('q')], undefined, frames)?.frames,
    expectedTabs,
  );
  assert.equal(makeTabInfo(makeTab(1), 1, [makePlugin('p'), makePlugin('q')], undefined, frames)?.frames, undefined);
  // The worker reports a tab whose URL matches no plugin if a plugin runs in a frame of the tab.
  const otherOriginTab = makeTabInfo(
    makeTab(1, { url: 'https://a.org:81/' }),
    1,
    [{ ...framedPlugin, matches: ['*://b.org/*'] }],
    undefined,
    frames,
  );
  assert.deepEqual([otherOriginTab?.frames, otherOriginTab?.needsReload], [expectedTabs, undefined]);
});

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const browserTabs: { tabs: ChromeTab[]; queryCount: number } = { tabs: [makeTab(1), makeTab(2)], queryCount: 0 };
  const reports: string[] = [];
  const tabAccess = { isAllowed: true, isLive: false };
  const tabs = new Tabs({
    hasAccess: () => tabAccess.isAllowed,
    query: async () => {
      browserTabs.queryCount++;
      return browserTabs.tabs;
    },
    focusedWindow: async () => 1,
    plugins: () => [makePlugin('p')],
    findLiveDoc: () => (tabAccess.isLive ? makeTopDoc({ name: 'p', hash: 'h' }) : undefined),
    frames: () => [],
    expects: () => false,
    isSilent: () => false,
    sendAll: (all) => reports.push(`all ${all.map((i) => i.tabId)}`),
    sendTabChange: (id, tabInfo: TabInfo | undefined) => reports.push(`${id} ${tabInfo?.title ?? 'gone'}`),
  });
  return { tabWorld: browserTabs, reports, tabs, tabAccess };
}

test('a tab that the extension cannot access is reported with the error no_access', async (t) => {
  const { tabs, tabAccess } = makeFixture(t);
  tabAccess.isAllowed = false;
  tabs.sync();
  await runPendingPromises();
  const [tabInfo] = tabs.sentTabs;
  assert.deepEqual([tabInfo?.loadError, tabInfo?.loadFailedMs, tabInfo?.needsReload], ['no_access', undefined, ['p']]);
  // If the user removes a site from the allowed sites, adapters in tabs of that site receive no more calls.
  tabAccess.isLive = true;
  tabs.sync();
  await runPendingPromises();
  assert.deepEqual([tabs.sentTabs[0]?.loadError, tabs.sentTabs[0]?.plugins], ['no_access', undefined]);
});

test('changes of tabs are collected, and only changed tabs are sent', async (t) => {
  const { tabWorld, reports, tabs } = makeFixture(t);
  tabs.sync();
  await runPendingPromises();
  assert.deepEqual(reports.splice(0), ['all 1,2']);
  tabs.scheduleUpdate();
  tabWorld.tabs = [makeTab(1, { title: 'B' }), makeTab(3)];
  for (let i = 0; i < 10; i++) tabs.scheduleUpdate();
  t.mock.timers.tick(49);
  await runPendingPromises();
  assert.equal(tabWorld.queryCount, 1);
  t.mock.timers.tick(1);
  await runPendingPromises();
  assert.deepEqual(reports.splice(0), ['1 B', '3 A', '2 gone']);
  tabs.scheduleUpdate();
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(reports, []);
  assert.deepEqual(
    tabs.sentTabs.map((i) => i.tabId),
    [1, 3],
  );
});

test('a change that a call may wait for is sent at once, and further changes within 50 ms are collected', async (t) => {
  const { tabWorld, reports, tabs } = makeFixture(t);
  tabs.sync();
  await runPendingPromises();
  t.mock.timers.tick(50);
  tabs.scheduleUpdate();
  reports.splice(0);
  const sendTitle = async (title: string) => {
    tabWorld.tabs = [makeTab(1, { title })];
    tabs.scheduleSend();
    await runPendingPromises();
  };
  await sendTitle('live');
  assert.deepEqual(reports.splice(0), ['1 live', '2 gone']);
  for (const title of ['a', 'b', 'c']) await sendTitle(title);
  assert.deepEqual(reports, []);
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(reports.splice(0), ['1 c']);
  await sendTitle('d');
  assert.deepEqual(reports, ['1 d']);
});

test('a change while the tabs are being listed is not lost', async (t) => {
  const { tabWorld, reports, tabs } = makeFixture(t);
  tabs.sync();
  tabs.scheduleUpdate();
  t.mock.timers.tick(50);
  await runPendingPromises();
  tabWorld.tabs = [makeTab(1, { title: 'late' })];
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(reports, ['all 1,2', '1 late', '2 gone']);
});

test('a sync that is requested while the tabs are being listed runs afterwards', async (t) => {
  const { reports, tabs } = makeFixture(t);
  tabs.sync();
  tabs.sync();
  await runPendingPromises();
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(reports, ['all 1,2', 'all 1,2']);
});

test('resendTab sends a tab again even if the tab has not changed', async (t) => {
  const { reports, tabs } = makeFixture(t);
  tabs.sync();
  await runPendingPromises();
  reports.splice(0);
  tabs.resendTab(2);
  tabs.resendTab(99);
  t.mock.timers.tick(50);
  await runPendingPromises();
  assert.deepEqual(reports, ['2 A']);
});
