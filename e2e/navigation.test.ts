/** A call whose tab closes or navigates fails at once with the right error code. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
});
after(() => stack?.close());

async function bringToFront(page: Page) {
  await page.bringToFront();
  await waitFor('the page to be the active tab', async () =>
    (await stack.listTabs()).some((tab) => tab.active && tab.url === page.url()),
  );
}

let tabCount = 0;

async function callInNewTab(changeTab: (page: Page) => Promise<unknown>) {
  const page = await stack.openTab(`/fresh-${++tabCount}`);
  await bringToFront(page);
  const call = client.call('messages__heartbeat', { everyMs: 100, forMs: 60_000 });
  // Wait for a progress report, because opentabs would retry a call that has not started in another tab.
  await waitFor('a running call that has reported progress', async () =>
    (await stack.listCalls()).some((call) => call.status === 'running' && call.reports > 0),
  );
  await changeTab(page);
  return { page, outcome: await call };
}

for (const [name, code, changeTab] of [
  ['closed', 'tab_closed', (page: Page) => page.close()],
  ['navigated to another page of the site', 'navigated', (page: Page) => page.goto(`${stack.site.origin}/other`)],
  ['navigated to a page without plugins', 'navigated', (page: Page) => page.goto('about:blank')],
  ['reloaded', 'navigated', (page: Page) => page.reload()],
] as const) {
  test(`a call whose tab is ${name} fails with ${code}`, async () => {
    const { page, outcome: callOutcome } = await callInNewTab(changeTab);
    assert.equal(callOutcome.code, code, callOutcome.text);
    if (!page.isClosed()) await page.close();
    await stack.waitForPlugins('/');
  });
}

test('the result of a tool that navigates and returns reaches the client, twenty times', async () => {
  for (let i = 0; i < 20; i++) {
    const page = await stack.openTab(`/from-${i}`);
    await bringToFront(page);
    const callOutcome = await client.call('messages__navigate', { to: `/to-${i}` });
    assert.equal(callOutcome.isError, false, callOutcome.text);
    await page.waitForURL(`**/to-${i}`);
    await page.close();
  }
});

test('a call right after a reload waits for the new document', async () => {
  await waitFor('the other tabs to be closed', async () => (await stack.listTabs()).length === 1);
  for (let i = 0; i < 10; i++) {
    await stack.page.reload({ waitUntil: 'commit' });
    const callOutcome = await client.call('messages__echo', { value: i });
    assert.equal(callOutcome.isError, false, callOutcome.text);
  }
});

test('the call after a navigating tool runs in the new document', async () => {
  for (let i = 0; i < 10; i++) {
    // From the start of the navigation, the old document's plugin reports "not ready", so that no tool can run in the
    // old document.
    await stack.page.evaluate(() => {
      navigation.addEventListener('navigate', () => {
        document.documentElement.dataset.loggedOut = '';
      });
    });
    assert.equal((await client.call('messages__navigate', { to: `/?n=${i}` })).isError, false);
    const callOutcome = await client.call('messages__echo', { value: i });
    assert.equal(callOutcome.isError, false, callOutcome.text);
    await stack.page.waitForURL(`**/?n=${i}`);
  }
  await stack.page.goto(stack.site.url);
});

test('the call after a navigating tool runs in the same tab, even if another tab is ready', async () => {
  const otherTab = await stack.openTab('/other-tab');
  await bringToFront(stack.page);
  for (let i = 0; i < 5; i++) {
    assert.equal((await client.call('messages__navigate', { to: `/?tab=${i}` })).isError, false);
    assert.equal((await client.call('messages__echo', { value: i })).isError, false);
    await stack.page.waitForURL(`**/?tab=${i}`);
    const [echoCall, navigate] = await stack.listCalls();
    assert.deepEqual([echoCall?.tool_name, navigate?.tool_name], ['messages__echo', 'messages__navigate']);
    assert.equal(echoCall?.tab_id, navigate?.tab_id);
  }
  await otherTab.close();
  await stack.page.goto(stack.site.url);
});

test('a call without a tab fails with no_tab, and a call in a logged-out tab fails with not_ready', async () => {
  await waitFor('the other tabs to be closed', async () => (await stack.listTabs()).length === 1);
  await stack.page.evaluate(() => {
    document.documentElement.dataset.loggedOut = '';
  });
  const loggedOutOutcome = await client.call('messages__echo', { value: 1 });
  assert.equal(loggedOutOutcome.code, 'not_ready', loggedOutOutcome.text);
  await stack.page.goto('about:blank');
  const noTabOutcome = await waitFor('the tab to be gone', async () => {
    const callOutcome = await client.call('messages__echo', { value: 1 });
    return callOutcome.code === 'no_tab' ? callOutcome : undefined;
  });
  assert.match(noTabOutcome.text, /Open the page/);
});
