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
  const watch = new TabWatch((added) => {
    listener = added;
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
  const fire = async (...events: TabEvent[]) => {
    for (const event of events) listener(1, event);
    await runPendingPromises();
  };
  const pass = async (ms: number, steps = 1) => {
    for (let i = 0; i < steps; i++) {
      t.mock.timers.tick(ms);
      await runPendingPromises();
    }
  };
  const codeOf = async (waiting: Promise<unknown>) => {
    const error: unknown = await waiting.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ToolFailure ? (error.error.tool?.code ?? error.error.code) : error;
  };
  return { wait, fire, pass, codeOf, tab, reports, controller };
}

const started: TabEvent = { kind: 'started', url };
const committed: TabEvent = { kind: 'committed', url, documentId: 'd2' };
const aborted: TabEvent = { kind: 'failed', error: 'net::ERR_ABORTED', url };

test('a load ends at the requested state, and reports while it waits', async (t) => {
  const { wait, fire, pass, reports } = makeFixture(t);
  const waiting = wait('domcontentloaded');
  await fire(started);
  await pass(1000, 2);
  await fire(committed);
  await pass(500);
  await fire({ kind: 'load', documentId: 'other' }, { kind: 'domcontentloaded', documentId: 'd2' });
  assert.deepEqual(await waiting, { hasReachedState: true, isNewDocument: true, page: loadedPage });
  assert.deepEqual(reports, [
    { message: "waiting for the site's answer, 1 s" },
    { message: "waiting for the site's answer, 2 s" },
    { message: 'the page is loading' },
  ]);
});

test('a page that never loads ends after a limit, and a page of the back/forward cache without a load event', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  const waiting = wait();
  await fire(started, committed);
  await pass(500, 60);
  assert.equal((await waiting).hasReachedState, false);
  const cached = wait();
  tab.loading = false;
  await pass(500, 3);
  assert.equal((await cached).hasReachedState, true);
});

test('an aborted request may be replaced by another request', async (t) => {
  const { wait, fire } = makeFixture(t);
  const waiting = wait('commit');
  await fire(started, aborted);
  await fire(started, committed);
  assert.equal((await waiting).isNewDocument, true);
});

test('a request that fails names the error', async (t) => {
  const { wait, fire, pass, codeOf } = makeFixture(t);
  const failing = codeOf(wait());
  await fire(started, aborted);
  await pass(300);
  assert.equal(await failing, 'navigation_failed');
});

test('an address that changes without a new document ends the wait', async (t) => {
  const { wait, fire } = makeFixture(t);
  const waiting = wait();
  await fire({ kind: 'address', url: `${url}#part` });
  assert.equal((await waiting).isNewDocument, false);
});

test('a page that does not leave shows a dialog, or has no history', async (t) => {
  const { wait, pass, codeOf, tab } = makeFixture(t);
  const atEnd = codeOf(wait('load', { isHistoryNavigation: true }));
  await pass(1000, 3);
  assert.equal(await atEnd, 'navigation_failed');
  tab.answers = false;
  const stuck = codeOf(wait());
  await pass(1000, 3);
  assert.equal(await stuck, 'dialog_open');
});

test('a new tab has no dialog, even if its load starts late', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  tab.answers = false;
  const waiting = wait('commit', { isNewTab: true });
  await pass(1000, 5);
  await fire(started, committed);
  assert.equal((await waiting).isNewDocument, true);
});

test('a request that starts during the check for a dialog ends the check', async (t) => {
  const { wait, fire, pass, tab } = makeFixture(t);
  tab.answers = false;
  let endCheck: () => void = () => undefined;
  tab.check = () => new Promise<void>((resolve) => (endCheck = resolve));
  const waiting = wait('commit');
  await pass(1000, 3);
  await fire(started);
  tab.check = async () => undefined;
  endCheck();
  await runPendingPromises();
  await fire(committed);
  assert.equal((await waiting).isNewDocument, true);
});

test('a closed tab, a cancel, and a site without an answer end the wait', async (t) => {
  const { wait, fire, pass, codeOf, controller } = makeFixture(t);
  const silent = codeOf(wait('load', { limitMs: 5000 }));
  await fire(started);
  await pass(1000, 6);
  assert.equal(await silent, 'timeout');
  const cancelled = codeOf(wait());
  controller.abort('enough');
  assert.equal(await cancelled, 'enough');
  await fire({ kind: 'closed' });
  assert.equal(await codeOf(wait()), 'tab_closed');
});

test('a load without access to the page ends with the access problem', async (t) => {
  const { wait, fire, tab } = makeFixture(t);
  tab.answers = false;
  tab.hasAccess = false;
  const waiting = wait();
  await fire(started, committed, { kind: 'load', documentId: 'd2' });
  assert.deepEqual(await waiting, {
    hasReachedState: true,
    isNewDocument: true,
    page: undefined,
    accessProblem: 'no access to https://a.example/',
  });
});

test('a page that a script replaces while it is read is read again', async (t) => {
  const { wait, fire, tab } = makeFixture(t);
  let reads = 0;
  tab.check = async () => {
    tab.answers = ++reads > 1;
    if (reads === 1) await fire(started, { ...committed, documentId: 'd3' });
  };
  const waiting = wait('commit');
  await fire(started, committed);
  assert.deepEqual((await waiting).page, loadedPage);
  assert.equal(reads, 2);
});
