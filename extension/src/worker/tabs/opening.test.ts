import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { demoPlugin } from '../../../test/demo-plugin.ts';
import { makeTabOpener } from './opening.ts';

const page = 'https://demo.example/start';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'] });
  const openedUrls: string[] = [];
  const existingTabs = new Set<number>();
  const failedUrls = new Map<number, string>();
  const browserState = { window: true, blank: true };
  const shownUrls = new Map<number, string>();
  const navigatedTabs: (readonly [number, string])[] = [];
  const tabOpener = makeTabOpener({
    plugins: () => [{ ...demoPlugin, excludes: ['https://demo.example/admin'] }],
    open: async (url) => {
      if (!browserState.window) throw new Error('no window is open');
      openedUrls.push(url);
      existingTabs.add(openedUrls.length);
      return openedUrls.length;
    },
    tabExists: async (tabId) => existingTabs.has(tabId),
    urlOf: async (tabId) => (existingTabs.has(tabId) ? (shownUrls.get(tabId) ?? page) : undefined),
    loadError: (tabId) => {
      const name = failedUrls.get(tabId);
      return name === undefined ? undefined : { name, atMs: 0 };
    },
    isTabBlank: async () => browserState.blank,
    navigate: async (tabId, url) => {
      navigatedTabs.push([tabId, url]);
    },
  });
  return {
    failedUrls,
    shownUrls,
    navigatedTabs,
    tabOpener,
    openedUrls,
    existingTabs,
    browserState,
    tick: (ms: number) => t.mock.timers.tick(ms),
  };
}

test('simultaneous and repeated calls for one URL get the same tab', async (t) => {
  const { tabOpener, openedUrls, existingTabs, tick } = makeFixture(t);
  assert.deepEqual(await Promise.all([tabOpener.open(page), tabOpener.open(page)]), [1, 1]);
  tick(9 * 60_000);
  assert.equal(await tabOpener.open(page), 1);
  assert.equal(await tabOpener.open(`${page}?2`), 2);
  // The test simulates that the user closes tab 1.
  existingTabs.delete(1);
  assert.deepEqual(await Promise.all([tabOpener.open(page), tabOpener.open(page)]), [3, 3]);
  // Calls no longer reuse an opened tab 10 min after the tab was opened.
  tick(10 * 60_000);
  assert.equal(await tabOpener.open(page), 4);
  assert.equal(openedUrls.length, 4);
});

test('open rejects a URL that no plugin matches', async (t) => {
  const { tabOpener, openedUrls } = makeFixture(t);
  for (const url of ['https://evil.example/', 'https://demo.example/admin', 'javascript:alert(1)', 'about:blank', '']) {
    await assert.rejects(tabOpener.open(url), /no plugin works in that page/, url);
  }
  assert.deepEqual(openedUrls, []);
});

test('a tab that failed to open can be opened again', async (t) => {
  const { tabOpener, browserState } = makeFixture(t);
  browserState.window = false;
  await assert.rejects(tabOpener.open(page), /no window is open/);
  browserState.window = true;
  assert.equal(await tabOpener.open(page), 1);
});

test('reopen loads the original page of a tab that was redirected to an unreachable site, and no other tab', async (t) => {
  const { tabOpener, failedUrls, shownUrls, navigatedTabs, existingTabs, browserState, tick } = makeFixture(t);
  assert.equal(await tabOpener.open(page), 1);
  assert.deepEqual([tabOpener.getInitialUrl(1), tabOpener.getInitialUrl(2)], [page, undefined]);
  existingTabs.add(2);
  // The method reopen must not navigate a tab whose page loaded, whose original page failed, or that the user opened.
  shownUrls.set(1, 'https://login.example/');
  assert.equal(await tabOpener.reopen(1), false);
  failedUrls.set(1, 'net::ERR_FAILED').set(2, 'net::ERR_FAILED');
  shownUrls.set(1, page);
  assert.equal(await tabOpener.reopen(1), false);
  shownUrls.set(2, 'https://dead.example/');
  assert.equal(await tabOpener.reopen(2), false);
  shownUrls.set(1, 'https://dead.example/');
  browserState.blank = false;
  assert.equal(await tabOpener.reopen(1), false);
  browserState.blank = true;
  assert.equal(await tabOpener.reopen(1), true);
  assert.deepEqual(navigatedTabs, [[1, page]]);
  existingTabs.delete(1);
  assert.equal(await tabOpener.reopen(1), false);
  existingTabs.add(1);
  tick(10 * 60_000);
  assert.deepEqual([tabOpener.getInitialUrl(1), await tabOpener.reopen(1)], [undefined, false]);
});

test('reopen repeats the request if a site has not answered for 20 s', async (t) => {
  const { tabOpener, failedUrls, navigatedTabs, tick } = makeFixture(t);
  assert.equal(await tabOpener.open(page), 1);
  failedUrls.set(1, 'no_answer'); // the site has not responded for 8 s
  tick(11_999);
  assert.equal(await tabOpener.reopen(1), false);
  tick(1);
  assert.equal(await tabOpener.reopen(1), true);
  assert.deepEqual(navigatedTabs, [[1, page]]);
});
