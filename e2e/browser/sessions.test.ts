/** When a client's session ends, opentabs removes everything that browser tools stored for the session. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { clientTransports, type Stack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;

before(async () => {
  fixture = await startAgentFixture({ installFlags: ['--debugger'], hasProxy: true });
  fixture.stack.chrome.context.on('dialog', () => undefined); // without a listener, Playwright dismisses the dialogs
  for (const name of ['network', 'browser_route', 'emulation']) {
    const { code, stderr } = await fixture.stack.runCli('browser', 'tools', 'on', name);
    assert.equal(code, 0, stderr);
  }
  fixture.setPage('/', '<title>Shop</title><button onclick="count.textContent++">Add</button><p id="count">0</p>');
  fixture.setPage('/prices', 'from the site');
});
after(() => fixture?.close());

async function callTool(client: McpClient, tool: string, args: Record<string, unknown>): Promise<string> {
  const { isError, text: callText } = await client.call(tool, args);
  assert.equal(isError, false, `${tool}: ${callText}`);
  return callText;
}

async function endSession(client: McpClient): Promise<void> {
  const { transport } = client.sdk;
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
  await client.close();
}

interface OpenedPage {
  readonly tabId: number;
  readonly page: Page;
}

async function openChangedPage(client: McpClient, path: string): Promise<OpenedPage> {
  const openedTab = await callTool(client, 'browser_tabs', { action: 'new', url: `${fixture.shop}${path}` });
  const tabId = Number(/Opened tab (\d+)/.exec(openedTab)?.[1]);
  await callTool(client, 'browser_route', { action: 'add', pattern: '*/prices', body: 'from the rule' });
  await callTool(client, 'browser_emulate', { media: { colorScheme: 'dark' }, timezone: 'Asia/Tokyo' });
  await callTool(client, 'browser_network_conditions', { latency: 1 });
  await callTool(client, 'browser_network_requests', {});
  const page = await fixture.findPage(`${fixture.shop}${path}`);
  assert.deepEqual(await readPage(page), { prices: 'from the rule', isDark: true, zone: 'Asia/Tokyo' });
  return { tabId, page };
}

function readPage(page: Page): Promise<{ prices: string; isDark: boolean; zone: string }> {
  return page.evaluate(async () => {
    const prices = await (await fetch('/prices')).text();
    return {
      prices: prices.includes('from the rule') ? 'from the rule' : 'from the site',
      isDark: matchMedia('(prefers-color-scheme: dark)').matches,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
  });
}

async function waitForDebuggerDetach({ tabId, page }: OpenedPage): Promise<void> {
  const startMs = performance.now();
  await waitFor(
    'the debugger to be detached from the tab',
    async () => !(await listDebuggedTabs(fixture.stack)).includes(tabId),
  );
  assert.ok(
    performance.now() - startMs < 20_000,
    'the debugger must be detached within 20 s, without the delay LingerMs',
  );
  const { prices, isDark, zone } = await readPage(page);
  assert.deepEqual([prices, isDark], ['from the site', false]);
  assert.notEqual(zone, 'Asia/Tokyo');
}

async function listDebuggedTabs({ chrome: { context, extensionId } }: Stack): Promise<readonly number[]> {
  const worker = context.serviceWorkers().find((serviceWorker) => serviceWorker.url().includes(extensionId));
  if (!worker) throw new Error('the extension has no worker');
  return await worker.evaluate(async () => {
    const tabs = await chrome.tabs.query({});
    const attachedTabs = await Promise.all(
      tabs.map(async ({ id = 0 }) => {
        const command = chrome.debugger.sendCommand({ tabId: id }, 'Page.getFrameTree');
        return (await command.then(() => true).catch(() => false)) ? [id] : [];
      }),
    );
    return attachedTabs.flat();
  });
}

for (const [name, connectClient] of clientTransports)
  test(`the end of a session over ${name} ends its rules, emulations, captures and tab use`, async () => {
    const endingClient = await connectClient(fixture.stack);
    const openedTab = await openChangedPage(endingClient, `/?${name}`);
    const snapshot = await callTool(endingClient, 'browser_snapshot', {});
    const target = /button "Add" \[ref=(\w+)\]/.exec(snapshot)?.[1];
    await callTool(endingClient, 'browser_click', { target });
    const clickArguments = { tabId: openedTab.tabId, target };
    assert.equal((await fixture.callExpectingFailure('browser_click', clickArguments)).code, 'tab_in_use');
    await endSession(endingClient);
    await waitForDebuggerDetach(openedTab);
    await fixture.callTool('browser_click', clickArguments);
    assert.equal(await openedTab.page.textContent('#count'), '2');
    const nextClient = await connectClient(fixture.stack);
    assert.equal((await nextClient.call('browser_snapshot')).code, 'no_tab');
    await endSession(nextClient);
  });

test('the end of a session keeps everything that another session uses in the same tab', async () => {
  const [remainingClient, endingClient] = [await fixture.stack.connectHttp(), await fixture.stack.connectHttp()];
  const openedTab = await openChangedPage(remainingClient, '/?two');
  const { tabId, page } = openedTab;
  await page.mouse.click(5, 300);
  const stockRoute = { action: 'add', pattern: '*/stock', body: '[]', tabId };
  await waitFor(
    'the tab not to be in use',
    async () => !(await endingClient.call('browser_route', stockRoute)).isError,
  );
  await callTool(endingClient, 'browser_emulate', { timezone: 'Europe/Rome', tabId });
  await endSession(endingClient);
  await waitFor('the time zone of the ended session to end', async () => (await readPage(page)).zone !== 'Europe/Rome');
  await callTool(remainingClient, 'browser_snapshot', {});
  const routeList = await callTool(remainingClient, 'browser_route', { action: 'list' });
  assert.match(routeList, /rule 1 \*\/prices/);
  assert.doesNotMatch(routeList, /stock/);
  const { prices, isDark } = await readPage(page);
  assert.deepEqual([prices, isDark], ['from the rule', true]);
  await endSession(remainingClient);
  await waitForDebuggerDetach(openedTab);
});

test('the end of a session dismisses its dialogs, and the next client gets a note', async () => {
  const client = await fixture.stack.connectHttp();
  fixture.setPage(
    '/ask',
    '<title>Ask</title><button onclick="out.textContent = confirm(1)">Ask</button><p id="out"></p>',
  );
  const openedTab = await callTool(client, 'browser_tabs', { action: 'new', url: `${fixture.shop}/ask` });
  const tabId = Number(/Opened tab (\d+)/.exec(openedTab)?.[1]);
  const target = /button "Ask" \[ref=(\w+)\]/.exec(await callTool(client, 'browser_snapshot', {}))?.[1];
  assert.match(
    await callTool(client, 'browser_click', { target }),
    /opened a dialog \(confirm\).*dismisses it after 5 min/,
  );
  assert.match((await fixture.callExpectingFailure('browser_snapshot', { tabId })).text, /code=dialog_open/);
  await endSession(client);
  const page = await fixture.findPage(`${fixture.shop}/ask`);
  await waitFor('the page to get the answer', async () => (await page.textContent('#out')) === 'false');
  const snapshot = await callTool(fixture.client, 'browser_snapshot', { tabId });
  assert.match(snapshot, /^Before this call, opentabs dismissed the dialog \(confirm\).*dialog \(confirm\): "1"/s);
  assert.doesNotMatch(await callTool(fixture.client, 'browser_snapshot', { tabId }), /dismissed/);
});

test('a session that ended while the link was down is cleaned up after the reconnect', async () => {
  const client = await fixture.stack.connectHttp();
  const openedTab = await openChangedPage(client, '/?link');
  fixture.stack.proxy?.cut();
  await endSession(client);
  assert.equal(
    (await readPage(openedTab.page)).prices,
    'from the rule',
    'the request rule must still apply while the link is down',
  );
  fixture.stack.proxy?.resume();
  await waitForDebuggerDetach(openedTab);
});

test('sessions from before a server restart are cleaned up after the reconnect', async () => {
  const client = await fixture.stack.connectHttp();
  const openedTab = await openChangedPage(client, '/?restart');
  await fixture.stack.restartDaemon('SIGKILL');
  await waitForDebuggerDetach(openedTab);
});
