/** If a tab closes, navigates or crashes, its calls fail at once with a specific error code. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runOrThrow } from '../harness/process.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { FaultFixture } from './fault-fixture.ts';
import { appendMatrixRow, type MatrixCell, testBetweenCalls, testDuringCall } from './matrix-cell.ts';

let fixture: FaultFixture;
before(async () => {
  fixture = await FaultFixture.start();
});
after(() => fixture?.close());

async function closeTab({ path }: MatrixCell): Promise<void> {
  await fixture.browser.cdp.sendCommand('Target.closeTarget', { targetId: await fixture.findTarget(path) });
}
const thenOpenAnotherTab = (applyTabChange: (cell: MatrixCell) => Promise<unknown>) => async (cell: MatrixCell) => {
  await applyTabChange(cell);
  await fixture.browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf('/another') });
  await waitFor('the plugin to be live in the other tab', () => fixture.findLiveTab('/another'));
};
const navigateAway = ({ path }: MatrixCell) =>
  fixture.evaluateInPage(path, `location.href = '${fixture.urlOf(path)}?next', 0`);
const moveToNewWindow = ({ tab }: MatrixCell) =>
  fixture.evaluateInWorker(`chrome.windows.create({ tabId: ${tab.tabId} }).then(() => 0)`);
async function closeWindow(cell: MatrixCell): Promise<void> {
  await moveToNewWindow(cell);
  const movedTab = await waitFor('the browser to report the tab in its new window', async () => {
    const tab = await fixture.findLiveTab(cell.path);
    return tab && tab.windowId !== cell.tab.windowId ? tab : undefined;
  });
  await fixture.evaluateInWorker(`chrome.windows.remove(${movedTab.windowId}).then(() => 0)`);
}
const discardTab = ({ tab }: MatrixCell) => fixture.evaluateInWorker(`chrome.tabs.discard(${tab.tabId}).then(() => 0)`);

/** Chrome must restore the tab's first page from the back/forward cache, without a new request. */
async function navigateAwayAndBack({ path }: MatrixCell): Promise<void> {
  await fixture.evaluateInPage(path, `window.mark = 1, location.href = '${fixture.urlOf('/away')}', 0`);
  await waitFor('the tab to open /away', () => fixture.findTarget('/away').catch(() => undefined));
  await pause(300);
  await fixture.evaluateInPage('/away', 'history.back(), 0');
  await waitFor('the tab to go back to its page', () => fixture.findTarget(path).catch(() => undefined));
  assert.equal(
    await fixture.evaluateInPage(path, 'window.mark'),
    1,
    'Chrome must restore the page from the back/forward cache',
  );
}

async function freezePage({ path }: MatrixCell): Promise<void> {
  await fixture.browser.withPageSession(await fixture.findTarget(path), async (page) => {
    await page.sendCommand('Page.setWebLifecycleState', { state: 'frozen' });
    await pause(3000);
    await page.sendCommand('Page.setWebLifecycleState', { state: 'active' });
  });
}

const otherTabRecovery = { withoutTabId: true, maxRecoveryMs: 4000 } as const;
test('a call fails with tab_closed when its tab is closed', () =>
  testDuringCall('tab closed', fixture, thenOpenAnotherTab(closeTab), {
    errorCode: 'tab_closed',
    ...otherTabRecovery,
  }));
test('a call succeeds in another tab after its tab was closed', () =>
  testBetweenCalls('tab closed', fixture, thenOpenAnotherTab(closeTab), otherTabRecovery));
test('a call fails with tab_closed when the window of its tab is closed', () =>
  testDuringCall('window closed', fixture, thenOpenAnotherTab(closeWindow), {
    errorCode: 'tab_closed',
    ...otherTabRecovery,
  }));
test('a call survives a move of its tab to another window', () =>
  testDuringCall('tab moved to another window', fixture, moveToNewWindow));
test('a call succeeds after its tab was moved to another window', () =>
  testBetweenCalls('tab moved to another window', fixture, moveToNewWindow));
test('a call fails with navigated when its tab navigates', () =>
  testDuringCall('navigated', fixture, navigateAway, { errorCode: 'navigated' }));
test('a call succeeds after its tab has navigated', () => testBetweenCalls('navigated', fixture, navigateAway));
test('a call fails with navigated when its tab goes to another page and back', () =>
  testDuringCall('back/forward cache, away and back', fixture, navigateAwayAndBack, {
    errorCode: 'navigated',
    stopReceived: true,
  }));
test('a call succeeds after its tab went to another page and back', () =>
  testBetweenCalls('back/forward cache, away and back', fixture, navigateAwayAndBack));
test('a call fails with tab_discarded when Chrome discards its tab', () =>
  testDuringCall('tab discarded', fixture, discardTab, { errorCode: 'tab_discarded', ...otherTabRecovery }));
test('a call succeeds after Chrome has discarded its tab', () =>
  testBetweenCalls('tab discarded', fixture, discardTab, otherTabRecovery));
test('a call survives a page that is frozen for 3 s', () => testDuringCall('page frozen for 3 s', fixture, freezePage));
test('a call succeeds after its page was frozen for 3 s', () =>
  testBetweenCalls('page frozen for 3 s', fixture, freezePage));

test('a prerendered page gets no call until it is shown', async () => {
  await fixture.openTab();
  await fixture.closeTabs();
  const prerenderRules = JSON.stringify({ prerender: [{ source: 'list', urls: ['/page?ahead'] }] });
  fixture.site.setPageHtml(`<!doctype html><title>rules</title><script type="speculationrules">${prerenderRules}</script>
    <script>if (location.search) fetch('/note', { method: 'POST', body: 'ahead ' + document.prerendering })</script>`);
  await fixture.browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf('/page') });
  await waitFor('the page to be prerendered', () => fixture.site.receivedNotes.includes('ahead true'));
  await waitFor('the plugin to be live in /page', () => fixture.findLiveTab('/page'));
  assert.equal(await fixture.findLiveTab('/page?ahead'), undefined, 'the prerendered page must not be listed');
  const client = await fixture.connectHttp();
  const firstCall = await client.call('messages__echo', { value: 1 });
  assert.equal(firstCall.isError, false, firstCall.text);
  // The service worker navigates the tab, because an attached DevTools session would cancel the prerendering.
  const { tabId = 0 } = (await fixture.findLiveTab('/page')) ?? {};
  await fixture.evaluateInWorker(
    `chrome.scripting.executeScript({ target: { tabId: ${tabId} }, world: 'MAIN', func: () => { location.href = '/page?ahead'; } }).then(() => 0)`,
  );
  await waitFor('the plugin to be live in the prerendered page', () => fixture.findLiveTab('/page?ahead'));
  assert.deepEqual(fixture.site.receivedNotes, ['ahead true'], 'the page must be loaded only once');
  const callOutcome = await client.call('messages__echo', { value: 2 });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  appendMatrixRow({
    faultName: 'page prerendered, then shown',
    when: 'between',
    call: '',
    nextAction: 'once it is shown',
    stopReceived: '',
  });
  await fixture.closeTabs();
});

test('a page that starts while a plugin is being registered gets the plugin', async () => {
  for (let roundIndex = 0; roundIndex < 6; roundIndex++) {
    await runOrThrow(['plugin', 'remove', 'messages'], fixture.env);
    const addCommand = runOrThrow(
      ['plugin', 'add', join(fixture.homeFolder, 'messages-plugin'), '--permission', 'auto'],
      fixture.env,
    );
    const pagePaths = Array.from({ length: 5 }, (_, i) => `/round${roundIndex}-${i}`);
    await pause(roundIndex * 7);
    for (const path of pagePaths)
      await fixture.browser.cdp.sendCommand('Target.createTarget', { url: fixture.urlOf(path) });
    await addCommand;
    const client = await fixture.connectHttp();
    for (const path of pagePaths) {
      const tabId = await waitFor('the tab', async () => {
        const tabs = (await fixture.listBrowsers()).flatMap((browser) => browser.tabs ?? []);
        return tabs.find((tab) => tab.url === fixture.urlOf(path))?.tabId;
      });
      const callOutcome = await client.call('messages__echo', { value: path, tabId });
      assert.equal(callOutcome.isError, false, `${path}: ${callOutcome.text}`);
    }
    await fixture.closeTabs();
  }
  appendMatrixRow({
    faultName: 'page loads while a plugin is being registered',
    when: 'between',
    call: '',
    nextAction: '30 of 30 pages work',
    stopReceived: '',
  });
});
