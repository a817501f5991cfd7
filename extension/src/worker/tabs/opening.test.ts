import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { demoPlugin } from '../../../test/demo-plugin.ts';
import { makeTabOpener } from './opening.ts';

const page = 'https://demo.example/start';

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'] });
  const opened: string[] = [];
  const existingTabs = new Set<number>();
  const failed = new Map<number, string>();
  const state = { window: true, blank: true };
  const shownUrls = new Map<number, string>();
  const navigated: (readonly [number, string])[] = [];
  const opening = makeTabOpener({
    plugins: () => [{ ...demoPlugin, excludes: ['https://demo.example/admin'] }],
    open: async (url) => {
      if (!state.window) throw new Error('no window is open');
      opened.push(url);
      existingTabs.add(opened.length);
      return opened.length;
    },
    exists: async (tabId) => existingTabs.has(tabId),
    urlOf: async (tabId) => (existingTabs.has(tabId) ? (shownUrls.get(tabId) ?? page) : undefined),
    loadError: (tabId) => {
      const name = failed.get(tabId);
      return name === undefined ? undefined : { name, atMs: 0 };
    },
    isBlank: async () => state.blank,
    navigate: async (tabId, url) => {
      navigated.push([tabId, url]);
    },
  });
  return {
    failed,
    shownUrls,
    navigated,
    opening,
    opened,
    existingTabs,
    state,
    tick: (ms: number) => t.mock.timers.tick(ms),
  };
}

test('simultaneous and repeated calls get the same tab', async (t) => {
  const { opening, opened, existingTabs, tick } = makeFixture(t);
  assert.deepEqual(await Promise.all([opening.open(page), opening.open(page)]), [1, 1]);
  tick(9 * 60_000);
  assert.equal(await opening.open(page), 1);
  assert.equal(await opening.open(`${page}?2`), 2);
  // The test simulates that the user closes tab 1.
  existingTabs.delete(1);
  assert.deepEqual(await Promise.all([opening.open(page), opening.open(page)]), [3, 3]);
  // Calls no longer reuse an opened tab 10 min after the tab was opened.
  tick(10 * 60_000);
  assert.equal(await opening.open(page), 4);
  assert.equal(opened.length, 4);
});

test('open rejects a URL that no plugin matches', async (t) => {
  const { opening, opened } = makeFixture(t);
  for (const url of ['https://evil.example/', 'https://demo.example/admin', 'javascript:alert(1)', 'about:blank', '']) {
    await assert.rejects(opening.open(url), /no plugin works in that page/, url);
  }
  assert.deepEqual(opened, []);
});

test('a tab that failed to open can be opened again', async (t) => {
  const { opening, state } = makeFixture(t);
  state.window = false;
  await assert.rejects(opening.open(page), /no window is open/);
  state.window = true;
  assert.equal(await opening.open(page), 1);
});

test('reopen loads the original page in a tab that was redirected to a dead site, and ignores other tabs', async (t) => {
  const { opening, failed, shownUrls, navigated, existingTabs, state, tick } = makeFixture(t);
  assert.equal(await opening.open(page), 1);
  assert.deepEqual([opening.urlOpenedWith(1), opening.urlOpenedWith(2)], [page, undefined]);
  existingTabs.add(2);
  // The method reopen must not navigate a tab whose page loaded, whose original page failed, or that the user opened.
  shownUrls.set(1, 'https://login.example/');
  assert.equal(await opening.reopen(1), false);
  failed.set(1, 'net::ERR_FAILED').set(2, 'net::ERR_FAILED');
  shownUrls.set(1, page);
  assert.equal(await opening.reopen(1), false);
  shownUrls.set(2, 'https://dead.example/');
  assert.equal(await opening.reopen(2), false);
  shownUrls.set(1, 'https://dead.example/');
  state.blank = false;
  assert.equal(await opening.reopen(1), false);
  state.blank = true;
  assert.equal(await opening.reopen(1), true);
  assert.deepEqual(navigated, [[1, page]]);
  existingTabs.delete(1);
  assert.equal(await opening.reopen(1), false);
  existingTabs.add(1);
  tick(10 * 60_000);
  assert.deepEqual([opening.urlOpenedWith(1), await opening.reopen(1)], [undefined, false]);
});

test('a site that has not answered for 20 s is requested again', async (t) => {
  const { opening, failed, navigated, tick } = makeFixture(t);
  assert.equal(await opening.open(page), 1);
  failed.set(1, 'no_answer'); // In this test, the site has not responded for 8 s.
  tick(11_999);
  assert.equal(await opening.reopen(1), false);
  tick(1);
  assert.equal(await opening.reopen(1), true);
  assert.deepEqual(navigated, [[1, page]]);
});
