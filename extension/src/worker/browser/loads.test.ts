import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { runPendingPromises } from '../../../test/server.ts';
import type { TabEvent } from '../../chrome-pages.ts';
import { type LoadOptions, type WaitUntil, waitForLoad } from './loads.ts';
import { TabWatch } from './tab-watch.ts';
import { ToolFailure } from './tool-failure.ts';

const url = 'https://a.example/';
const loadedPage = { url, title: 'A', readyState: 'complete', status: 200, resources: 0 };

function makeFixture(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let listener: (tabId: number, event: TabEvent) => void = () => undefined;
  const reports: unknown[] = [];
  const tab = { answers: true, loading: true, hasAccess: true, check: async (): Promise<void> => undefined };
  const watch = new TabWatch((newTabId) => {
    listener = newTabId;
    return () => undefined;
  }, 1);
  const controller = new AbortController();
  const wait = (waitUntil: WaitUntil = 'load', options: LoadOptions = {}) =>
    waitForLoad(
      {
        async readLoadedPage() {
          await tab.check();
          return tab.answers ? loadedPage : undefined;
        },
        readDisplayedTab: async () => ({
          windowId: 1,
          active: false,
          loading: tab.loading,
          width: 800,
          documentId: 'd2',
        }),
        describeTab: async () => ({ tabId: 1, url, title: 'A', active: false }),
        findAccessProblem: (address) => (tab.hasAccess ? undefined : `no access to ${address}`),
      },
      { tabId: 1, report: (report) => reports.push(report), signal: controller.signal },
      watch,
      waitUntil,
      options,
    );
  const fireEvents = async (...events: TabEvent[]) => {
    for (const event of events) listener(1, event);
    await runPendingPromises();
  };
  const advanceTime = async (ms: number, steps = 1) => {
    for (let i = 0; i < steps; i++) {
      t.mock.timers.tick(ms);
      await runPendingPromises();
    }
  };
  const readErrorCode = async (waitPromise: Promise<unknown>) => {
    const error: unknown = await waitPromise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ToolFailure ? (error.error.tool?.code ?? error.error.code) : error;
  };
  return { wait, fire: fireEvents, pass: advanceTime, codeOf: readErrorCode, tab, reports, controller };
}

const startedEvent: TabEvent = { kind: 'started', url };
const committedEvent: TabEvent = { kind: 'committed', url, documentId: 'd2' };
const aborted: TabEvent = { kind: 'failed', error: 'net::ERR_ABORTED', url };

test('a wait for a page load ends at the requested state, and reports its progress', async (t) => {
  const { wait, fire, pass, reports } = makeFixture(t);
  const waitPromise = wait('domcontentloaded');
  await fire(startedEvent);
  await pass(1000, 2);
  await fire(committedEvent);
  await pass(500);
  await fire({ kind: 'load', documentId: 'other' }, { kind: 'domcontentloaded', documentId: 'd2' });
  assert.deepEqual(await waitPromise, { hasReachedState: true, isNewDocument: true, page: loadedPage });
  assert.deepEqual(reports, [
    { message: "waiting for the site's answer, 1 s" },
    { message: "waiting for the site's answer, 2 s" },
    { message: 'the page is loading' },
  ]);
});

test('a wait for a page load ends at the time limit, or without a load event in the back/forward cache', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  const waitPromise = wait();
  await fire(startedEvent, committedEvent);
  await pass(500, 60);
  assert.equal((await waitPromise).hasReachedState, false);
  const cachedPageLoad = wait();
  tab.loading = false;
  await pass(500, 3);
  assert.equal((await cachedPageLoad).hasReachedState, true);
});

test('a load continues if another request replaces an aborted request', async (t) => {
  const { wait, fire } = makeFixture(t);
  const waitPromise = wait('commit');
  await fire(startedEvent, aborted);
  await fire(startedEvent, committedEvent);
  assert.equal((await waitPromise).isNewDocument, true);
});

test('a load fails with navigation_failed if its request was aborted and no other request follows', async (t) => {
  const { wait, fire, pass, codeOf } = makeFixture(t);
  const loadErrorCode = codeOf(wait());
  await fire(startedEvent, aborted);
  await pass(300);
  assert.equal(await loadErrorCode, 'navigation_failed');
});

test('an address that changes without a new document ends the wait', async (t) => {
  const { wait, fire } = makeFixture(t);
  const waitPromise = wait();
  await fire({ kind: 'address', url: `${url}#part` });
  assert.equal((await waitPromise).isNewDocument, false);
});

test('a navigation that does not start fails with dialog_open, or with navigation_failed in the history', async (t) => {
  const { wait, pass, codeOf, tab } = makeFixture(t);
  const historyEndCode = codeOf(wait('load', { isHistoryNavigation: true }));
  await pass(1000, 3);
  assert.equal(await historyEndCode, 'navigation_failed');
  tab.answers = false;
  const stuckErrorCode = codeOf(wait());
  await pass(1000, 3);
  assert.equal(await stuckErrorCode, 'dialog_open');
});

test('in a new tab, a load that starts late does not count as blocked by a dialog', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  tab.answers = false;
  const waitPromise = wait('commit', { isNewTab: true });
  await pass(1000, 5);
  await fire(startedEvent, committedEvent);
  assert.equal((await waitPromise).isNewDocument, true);
});

test('a request that starts during the check for a dialog ends the check', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  tab.answers = false;
  let resolveCheck: () => void = () => undefined;
  tab.check = () => new Promise<void>((resolve) => (resolveCheck = resolve));
  const waitPromise = wait('commit');
  await pass(1000, 3);
  await fire(startedEvent);
  tab.check = async () => undefined;
  resolveCheck();
  await runPendingPromises();
  await fire(committedEvent);
  assert.equal((await waitPromise).isNewDocument, true);
});

test('a wait for a load ends if the tab closes, the call is cancelled, or the site does not answer', async (t) => {
  const { wait, fire, pass, codeOf, controller } = makeFixture(t);
  const silentErrorCode = codeOf(wait('load', { limitMs: 5000 }));
  await fire(startedEvent);
  await pass(1000, 6);
  assert.equal(await silentErrorCode, 'timeout');
  const cancelledCode = codeOf(wait());
  controller.abort('enough');
  assert.equal(await cancelledCode, 'enough');
  await fire({ kind: 'closed' });
  assert.equal(await codeOf(wait()), 'tab_closed');
});

test('a load of a page that the extension cannot access returns the access problem', async (t) => {
  const { wait, fire, tab } = makeFixture(t);
  tab.answers = false;
  tab.hasAccess = false;
  const waitPromise = wait();
  await fire(startedEvent, committedEvent, { kind: 'load', documentId: 'd2' });
  assert.deepEqual(await waitPromise, {
    hasReachedState: true,
    isNewDocument: true,
    page: undefined,
    accessProblem: 'no access to https://a.example/',
  });
});

test('the page is read again if a script replaced it during the first read', async (t) => {
  const { wait, fire, tab } = makeFixture(t);
  let readCount = 0;
  tab.check = async () => {
    tab.answers = ++readCount > 1;
    if (readCount === 1) await fire(startedEvent, { ...committedEvent, documentId: 'd3' });
  };
  const waitPromise = wait('commit');
  await fire(startedEvent, committedEvent);
  assert.deepEqual((await waitPromise).page, loadedPage);
  assert.equal(readCount, 2);
});
