/** Calls in a hidden tab run at normal speed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FaultFixture } from './faults/fault-fixture.ts';
import { runOrThrow } from './harness/process.ts';
import { waitFor } from './harness/wait.ts';

const idleLimitMs = 6000;

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start('--idle-timeout', `${idleLimitMs}ms`, '--progress-interval', '0s');
});
after(() => fixture?.close());

async function openHiddenTab(path: string): Promise<number> {
  await fixture.browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf(path), background: true });
  const tab = await waitFor(`the plugin in ${path}`, async () => {
    const tab = await fixture.findLiveTab(path);
    return (tab?.plugins ?? []).length > 0 ? tab : undefined;
  });
  assert.equal(await fixture.evaluateInPage(path, 'document.visibilityState'), 'hidden');
  return tab.tabId;
}

test('10 steps of 1 s each take 10 s in a hidden tab', async () => {
  const tabId = await openHiddenTab('/countdown');
  const client = await fixture.connectHttp();
  const callOutcome = await client.call('messages__countdown', { from: 10, intervalMs: 1000, tabId });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  // With Chrome's throttling of hidden tabs, each step of the call would take 2 s.
  assert.ok(
    callOutcome.durationMs >= 9_990 && callOutcome.durationMs < 16_000,
    `the call took ${callOutcome.durationMs} ms, want 9,990 to 16,000`,
  );
});

test('a timer in a hidden tab continues when Chrome stops the service worker', async () => {
  const tabId = await openHiddenTab('/stopped');
  const client = await fixture.connectHttp();
  const stepCounts: number[] = [];
  const pendingStops: Promise<void>[] = [];
  const callOutcome = await client.call(
    'messages__countdown',
    { from: 8, intervalMs: 1000, tabId },
    {
      onProgress: ({ progress }) => {
        stepCounts.push(progress);
        if (progress === 2 || progress === 5) pendingStops.push(fixture.stopWorker());
      },
    },
  );
  assert.equal(callOutcome.isError, false, callOutcome.text);
  await Promise.all(pendingStops);
  assert.deepEqual(stepCounts, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.ok(callOutcome.durationMs < 15_000, `the call took ${callOutcome.durationMs} ms, want less than 15,000`);
});

test('a cancel ends a timer in a hidden tab at once', async () => {
  const tabId = await openHiddenTab('/cancelled');
  const client = await fixture.connectHttp();
  const controller = new AbortController();
  const call = client.call(
    'messages__heartbeat',
    { everyMs: 4000, forMs: 0, tabId },
    {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    },
  );
  await assert.rejects(call);
  const startMs = performance.now();
  await waitFor('the page to receive the cancel of its call', () =>
    fixture.evaluateInPage('/cancelled', 'document.documentElement.dataset.aborted !== undefined'),
  );
  assert.ok(performance.now() - startMs < 3500, 'the cancellation must take less than 3.5 s');
});

test('a call runs in a hidden tab, also in a browser that has just started', async () => {
  const browser = fixture.newBrowser('hidden');
  const knownIds = (await fixture.listBrowsers()).map(({ id }) => id);
  const findNewBrowser = async () =>
    (await fixture.listBrowsers()).find(({ id, connected }) => connected && !knownIds.includes(id));
  await browser.start();
  try {
    await waitFor('the new browser to connect', findNewBrowser);
    await browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf('/new'), background: true });
    const { id } = await waitFor('the new browser to report its tab', async () => {
      const newBrowser = await findNewBrowser();
      return newBrowser?.tabs?.some(({ url }) => url === fixture.urlOf('/new')) ? newBrowser : undefined;
    });
    const client = await fixture.connectHttp();
    const callOutcome = await client.call('messages__echo', { value: 1, browser: id });
    assert.deepEqual(callOutcome.structured, { value: 1 }, callOutcome.text);
    // waitFor retries, because Chrome may replace the DevTools target of a reloaded page while the test attaches to the
    // target.
    const pageState = await waitFor('the state of the page', async () => {
      const page = (await browser.listPages()).find(({ url }) => url === fixture.urlOf('/new'));
      return await browser.withPageSession(page?.id ?? '', (session) => session.evaluate('document.visibilityState'));
    });
    assert.equal(pageState, 'hidden');
  } finally {
    await browser.close();
  }
});

test('a call that names a suspended tab fails at once with tab_frozen, and any other call runs in another tab', async () => {
  await fixture.closeTabs();
  const { path, tab } = await fixture.openTab();
  const client = await fixture.connectHttp();
  const page = await fixture.browser.cdp.attach(await fixture.findTarget(path));
  const setTabFrozen = async (isSuspended: boolean) => {
    await page.sendCommand('Page.setWebLifecycleState', { state: isSuspended ? 'frozen' : 'active' });
    await waitFor('Chrome to report the suspension', async () => {
      const isFrozen = await fixture.evaluateInWorker(`chrome.tabs.get(${tab.tabId}).then((tab) => tab.frozen)`);
      return isFrozen === isSuspended;
    });
  };
  await setTabFrozen(true);
  for (const args of [{}, { tabId: tab.tabId }]) {
    const callOutcome = await client.call('messages__echo', { value: 1, ...args });
    assert.equal(callOutcome.code, 'tab_frozen', callOutcome.text);
    assert.match(callOutcome.text, /suspended the tab.*show the tab or to reload it/s);
    assert.ok(
      callOutcome.durationMs < idleLimitMs - 500,
      `the call took ${callOutcome.durationMs} ms, want less than ${idleLimitMs - 500}`,
    );
  }
  const otherTab = await fixture.openTab(); // the new tab hides the suspended tab
  const otherTabOutcome = await client.call('messages__echo', { value: 2 });
  assert.deepEqual(otherTabOutcome.structured, { value: 2 }, otherTabOutcome.text);
  assert.equal((await client.call('messages__echo', { value: 2, tabId: tab.tabId })).code, 'tab_frozen');
  await fixture.browser.cdp.sendCommand('Target.closeTarget', { targetId: await fixture.findTarget(otherTab.path) });
  await setTabFrozen(false);
  await waitFor(
    'a successful call in the tab',
    async () => !(await client.call('messages__echo', { value: 3 })).isError,
  );
  assert.equal(await fixture.evaluateInPage(path, 'document.documentElement.dataset.aborted'), undefined);
  await page.detach();
});

test('a running call fails when Chrome suspends its tab, and status shows the suspension', async () => {
  await fixture.closeTabs();
  const { path, tab } = await fixture.openTab();
  const client = await fixture.connectHttp();
  const page = await fixture.browser.cdp.attach(await fixture.findTarget(path));
  const setLifecycleState = (pageState: 'frozen' | 'active') =>
    page.sendCommand('Page.setWebLifecycleState', { state: pageState });
  let suspensionPromise: Promise<unknown> | undefined;
  const callOutcome = await client.call(
    'messages__countdown',
    { from: 1000, intervalMs: 500, tabId: tab.tabId },
    {
      onProgress: ({ progress }) => {
        if (progress === 2) suspensionPromise = setLifecycleState('frozen');
      },
    },
  );
  await suspensionPromise;
  assert.equal(callOutcome.code, 'tab_frozen', callOutcome.text);
  assert.match(
    callOutcome.text,
    /no progress and no result for 6\.?0? ?s: the browser has suspended tab \d+ to save resources/,
  );
  assert.match(callOutcome.text, /may have taken effect.*show the tab or to reload it/s);
  const status = await runOrThrow(['status'], fixture.env);
  assert.match(status, /Chrome has suspended it to save resources: nothing runs in this tab until you switch to it/);
  await setLifecycleState('active');
  await waitFor(
    'a successful call in the tab',
    async () => !(await client.call('messages__echo', { value: 3 })).isError,
  );
  await waitFor(
    'opentabs status to show no suspended tab',
    async () => !(await runOrThrow(['status'], fixture.env)).includes('suspended'),
  );
  await page.detach();
});
