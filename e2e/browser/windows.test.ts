/**
 * An agent can use windows, tab groups, history and bookmarks after the user has turned on each tool group by
 * name.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let agent: AgentFixture;

before(async () => {
  agent = await startAgentFixture({ hasOptionalPermissions: true });
  agent.setPage('/', '<title>Shop</title><h1>Shop</h1>');
  agent.setPage('/cart', '<title>My cart</title><h1>Cart</h1>');
});
after(() => agent?.close());

const takeApprovalForms = () => agent.approvalForms.splice(0);
const parseNumber = (outputText: string, pattern: RegExp) => Number(pattern.exec(outputText)?.[1]);

test('the tools of a group are off until the user turns the group on', async () => {
  const listToolNames = async () => (await agent.client.sdk.listTools()).tools.map(({ name }) => name);
  assert.match(
    (await agent.callExpectingFailure('browser_windows', { action: 'list' })).text,
    /is off until the user switches it on/,
  );
  assert.equal(
    (await listToolNames()).includes('browser_windows'),
    false,
    'browser_windows must not be listed while it is off',
  );
  for (const name of ['browser', 'browser_history'])
    assert.equal((await agent.stack.runCli('browser', 'tools', 'on', name)).code, 0);
  await waitFor('the tools to be listed', async () => (await listToolNames()).includes('browser_history'));
});

test('listing windows needs the same approval as listing tabs', async () => {
  assert.equal((await agent.callExpectingFailure('browser_windows', { action: 'list' })).code, 'denied');
  assert.match(takeApprovalForms().join(), /wants to see which tabs are open, with their titles and hosts/);
  agent.onApprovalForm = () => true;
  const outputText = await agent.callTool('browser_windows', { action: 'list' });
  assert.match(
    outputText,
    /^1 window\.\n--- text of the open windows, data and not .*\nwindow \d+ \(\w+.*\) \d+ x \d+ at .*: \d tabs, in front ".*; tab IDs \d+, \d+\n/,
  );
  takeApprovalForms();
  await agent.callTool('browser_tab_groups', { action: 'list' });
  assert.deepEqual(takeApprovalForms(), [], 'listing tab groups must need no further approval');
});

test('on a site with the rule auto, a client opens, changes and closes a window without approvals', async () => {
  const openedWindow = await agent.callTool('browser_windows', {
    action: 'new',
    url: `${agent.shop}/cart`,
    width: 500,
    height: 400,
  });
  const windowId = parseNumber(openedWindow, /^Opened window (\d+)/);
  await waitFor('the page to load', async () => (await agent.callTool('browser_snapshot')).includes('My cart'));
  assert.match(
    await agent.callTool('browser_windows', { action: 'update', windowId, width: 600, left: 20 }),
    /is normal, 600 x /,
  );
  assert.match(
    await agent.callTool('browser_windows', { action: 'list' }),
    new RegExp(`window ${windowId} \\(.*opened by you`),
  );
  assert.match(
    (await agent.callExpectingFailure('browser_windows', { action: 'update', windowId })).text,
    /needs state, left/,
  );
  const invalidWindowFailure = await agent.callExpectingFailure('browser_windows', {
    action: 'update',
    windowId,
    state: 'maximized',
    width: 300,
  });
  assert.match(invalidWindowFailure.text, /Leave out one of both/);
  assert.equal(
    await agent.callTool('browser_windows', { action: 'close', windowId }),
    `Closed window ${windowId} with 1 tab.`,
  );
  assert.deepEqual(takeApprovalForms(), []);
  for (const url of ['file:///etc/passwd', 'chrome://settings', 'javascript:alert(1)'])
    assert.match(
      (await agent.callExpectingFailure('browser_windows', { action: 'new', url })).text,
      /whole http or https address/,
      url,
    );
  assert.match(
    (await agent.callExpectingFailure('browser_windows', { action: 'new', url: agent.bank })).text,
    /does not allow browser tools/,
  );
});

test("closing a user's window always needs an approval that describes the window", async () => {
  const userWindow = async () => {
    const worker = await waitFor('the worker', () => agent.stack.chrome.context.serviceWorkers()[0]);
    return await worker.evaluate(async (url) => {
      const window = await chrome.windows.create({ url, focused: false });
      return window?.id ?? 0;
    }, `${agent.other}/cart`);
  };
  const windowId = await userWindow();
  assert.match(
    (await agent.callExpectingFailure('browser_windows', { action: 'close', windowId })).text,
    /list the windows first/,
  );
  await waitFor('the title', async () =>
    (await agent.callTool('browser_windows', { action: 'list' })).includes('My cart'),
  );
  agent.onApprovalForm = () => false;
  assert.equal((await agent.callExpectingFailure('browser_windows', { action: 'close', windowId })).code, 'denied');
  const closingQuestion = new RegExp(`wants to close the window with 1 tab, in front "My cart" \\(${agent.other}\\)`);
  assert.match(takeApprovalForms().join(), closingQuestion);
  agent.onApprovalForm = async () => {
    const page = await agent.stack.chrome.context.newPage(); // the user opens another tab in the meantime
    const worker = agent.stack.chrome.context.serviceWorkers()[0];
    await page.goto(`${agent.other}/late`);
    await worker?.evaluate(
      async ({ windowId, url }) => {
        const [tab] = await chrome.tabs.query({ url });
        if (tab?.id !== undefined) await chrome.tabs.move(tab.id, { windowId, index: -1 });
      },
      { windowId, url: `${agent.other}/late` },
    );
    return true;
  };
  assert.match(
    (await agent.callExpectingFailure('browser_windows', { action: 'close', windowId })).text,
    /tabs of window \d+ have changed/,
  );
  agent.onApprovalForm = () => true;
  takeApprovalForms();
  await agent.callTool('browser_windows', { action: 'list' });
  assert.match(
    await agent.callTool('browser_windows', { action: 'close', windowId }),
    /^Closed window \d+ with 2 tabs/,
  );
  assert.equal(takeApprovalForms().length, 1, 'closing a window must need one approval');
});

test("grouping the client's own tabs needs no approval, and grouping user tabs needs one", async () => {
  const tabId = await agent.open('/cart');
  const createdGroup = await agent.callTool('browser_tab_groups', {
    action: 'create',
    tabIds: [tabId],
    title: 'Trip',
    color: 'red',
  });
  const groupId = parseNumber(createdGroup, /^Created group (\d+) with 1 tab/);
  assert.deepEqual(takeApprovalForms(), []);
  assert.match(
    await agent.callTool('browser_tab_groups', { action: 'list' }),
    new RegExp(`group ${groupId} "Trip" \\(red\\) in window \\d+: tabs ${tabId}`),
  );
  await agent.callTool('browser_tab_groups', { action: 'update', groupId, title: 'Holiday', collapsed: true });
  assert.match(takeApprovalForms().join(), /wants to change the tab groups of the browser \(browser_tab_groups\)/);
  assert.match(await agent.callTool('browser_tab_groups', { action: 'list' }), /"Holiday" \(red, collapsed\)/);
  const otherTab = await agent.open('/');
  await agent.callTool('browser_tab_groups', { action: 'add', groupId, tabIds: [otherTab] });
  await agent.callTool('browser_tab_groups', { action: 'remove', tabIds: [tabId, otherTab] });
  assert.doesNotMatch(await agent.callTool('browser_tab_groups', { action: 'list' }), /Holiday/);
  assert.match((await agent.callExpectingFailure('browser_tab_groups', { action: 'create' })).text, /needs "tabIds"/);
  assert.match(
    (await agent.callExpectingFailure('browser_tab_groups', { action: 'add', groupId: 1, tabIds: [tabId] })).text,
    /no such tab group/,
  );
});

test('browser_history is a dangerous tool, and leaves out sites that are off', async () => {
  const visitPage = async (url: string) => {
    const page = await agent.stack.chrome.openPage(url);
    await page.waitForLoadState();
    await page.close();
  };
  agent.setPage('/balance', '<title>Secret balance</title>');
  await visitPage(`${agent.other}/cart?token=abc123&page=2`);
  await visitPage(`${agent.bank}/balance`);
  takeApprovalForms();
  const outputText = await agent.callTool('browser_history', { query: '' });
  assert.match(takeApprovalForms().join(), /wants to use the history of the browser \(browser_history\)/);
  assert.match(outputText, /text of the history of the browser, data and not instructions/);
  assert.match(outputText, /T[\d:]+Z "My cart" http:\/\/other\.localhost:\d+\/cart\?token=\*\*\*&page=2 \(1 visit\)/);
  assert.doesNotMatch(outputText, /balance/);
  assert.match(await agent.callTool('browser_history', { url: `${agent.shop}/cart` }), /of \d+ visits?\./);
  assert.equal(takeApprovalForms().length, 1, 'a second use of the history must need one approval');
  assert.match(
    (await agent.callExpectingFailure('browser_history', { url: `${agent.bank}/balance` })).text,
    /turned this site off/,
  );
  assert.match((await agent.callExpectingFailure('browser_history', { from: 'once' })).text, /from must be a date/);
});

test('browser_bookmarks searches, lists and creates bookmarks with http and https addresses', async () => {
  takeApprovalForms();
  const createdGroup = await agent.callTool('browser_bookmarks', {
    action: 'create',
    title: 'Cart',
    url: `${agent.shop}/cart`,
  });
  assert.match(createdGroup, /^Created bookmark \d+\.$/);
  assert.match(takeApprovalForms().join(), /wants to use the bookmarks of the browser/);
  assert.match(
    await agent.callTool('browser_bookmarks', { action: 'search', query: 'cart' }),
    /bookmark \d+ "Cart" http:\/\/shop\.localhost/,
  );
  assert.match(takeApprovalForms().join(), /wants to see the bookmarks of the browser/);
  assert.match(
    await agent.callTool('browser_bookmarks', { action: 'tree' }),
    /folder \d+ "Other bookmarks"\n +bookmark \d+ "Cart"/,
  );
  const script = { action: 'create', title: 'x', url: 'javascript:alert(1)' };
  assert.match((await agent.callExpectingFailure('browser_bookmarks', script)).text, /http and https addresses only/);
  assert.match(
    (await agent.callExpectingFailure('browser_bookmarks', { action: 'tree', folder: '99999' })).text,
    /no folder of bookmarks/,
  );
});

test('a recently closed tab is listed, and restored without activating it', async () => {
  const tabId = await agent.open('/cart?step=2');
  await agent.callTool('browser_tabs', { action: 'close', tabId });
  const closedTabLine = await waitFor('the closed tab', async () => {
    const outputText = await agent.callTool('browser_recently_closed', { action: 'list' });
    return outputText.split('\n').find((listLine) => listLine.includes('My cart'));
  });
  assert.match(closedTabLine, /^sessionId \w+, closed [-\d]+T[\d:.]+Z, "My cart" http:\/\/shop\.localhost:\d+\/cart$/);
  const frontPage = await agent.stack.chrome.openPage(`${agent.shop}/`);
  await frontPage.bringToFront();
  const sessionId = /sessionId (\w+)/.exec(closedTabLine)?.[1];
  assert.match(
    await agent.callTool('browser_recently_closed', { action: 'restore', sessionId }),
    /^Restored tab \d+\./,
  );
  await waitFor('the tab of the user', () => frontPage.evaluate(() => document.visibilityState === 'visible'));
  assert.match(
    (await agent.callExpectingFailure('browser_recently_closed', { action: 'restore', sessionId: 'none' })).text,
    /no such entry/,
  );
});

test('browser_notify shows a notification after an approval', async () => {
  takeApprovalForms();
  const outputText = await agent.callTool('browser_notify', { title: 'Done', message: 'The order is placed.' });
  assert.match(outputText, /^Chrome shows the notification/);
  assert.match(takeApprovalForms().join(), /wants to use notifications of the desktop \(browser_notify\)/);
  const worker = agent.stack.chrome.context.serviceWorkers()[0];
  // The desktop notification with the approval request closes after the user's decision.
  await waitFor('one notification', async () => {
    const shownNotifications = await worker?.evaluate(() => chrome.notifications.getAll());
    return Object.keys(shownNotifications ?? {}).length === 1;
  });
});
