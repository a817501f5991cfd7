/** A call runs in the tab or frame that the user expects, and never changes the focus. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from './harness/client.ts';
import { placesPlugin, type Stack, startStack, type Tab } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
  client = await stack.connectHttp();
});
after(() => stack?.close());

async function runWhereTool(args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const callOutcome = await client.call('places__where', args);
  assert.equal(callOutcome.isError, false, callOutcome.text);
  return Object.fromEntries(Object.entries(Object(callOutcome.structured)));
}

function waitForTab(path: string, matches: (tab: Tab) => boolean = () => true): Promise<Tab> {
  return waitFor(`the tab ${path}`, async () =>
    (await stack.listTabs()).find((tab) => tab.url === `${stack.site.origin}${path}` && matches(tab)),
  );
}

const isPlacesPluginReady = (tab: Tab) => tab.plugins?.find((plugin) => plugin.name === 'places')?.ready;
const readPluginState = async () =>
  (await stack.readStatus()).plugins?.find((plugin) => plugin.name === 'places')?.state;

async function setPageBusy(page: Page, path: string, isBusy: boolean) {
  await page.evaluate((isBusy) => document.documentElement.toggleAttribute('data-busy', isBusy), isBusy);
  // A navigation within the document makes the extension check again whether each plugin is ready.
  await page.evaluate(() => history.pushState(null, '', location.href));
  await waitForTab(path, (tab) => isPlacesPluginReady(tab) === !isBusy);
}

async function bringToFront(page: Page, path: string) {
  await page.bringToFront();
  await waitForTab(path, (tab) => tab.active);
}

test('a call prefers the active tab of three tabs, and tabId selects any tab', async () => {
  const pages = [await stack.openTab('/one'), await stack.openTab('/two')];
  await bringToFront(stack.page, '/');
  for (const path of ['/', '/one', '/two']) await waitForTab(path, (tab) => isPlacesPluginReady(tab) === true);
  assert.deepEqual(await runWhereTool(), { path: '/', host: '127.0.0.1', frame: false, hidden: false, site: '' });
  const { tabId } = await waitForTab('/one');
  assert.equal((await runWhereTool({ tabId })).path, '/one');
  const tabList = await client.call('plugin_list_tabs', { plugin: 'places' });
  assert.equal(tabList.isError, false, tabList.text);
  for (const path of ['/', '/one', '/two'])
    assert.match(tabList.text, new RegExp(`"${stack.site.origin}${path}" "Messages`));
  assert.match(tabList.text, /^places: ready\n {2}tab \d+ of .*\n {2}tab/);
  const closedTabCall = await client.call('places__where', { tabId: 999_999 });
  assert.equal(closedTabCall.code, 'no_tab');
  assert.match(closedTabCall.text, new RegExp(`these do: tab .*tab ${tabId} of browser`));
  for (const page of pages) await page.close();
});

test('a call tries a tab that is not ready last, and the plugin is listed as closed, unavailable or ready', async () => {
  const otherTab = await stack.openTab('/other');
  await bringToFront(stack.page, '/');
  await setPageBusy(stack.page, '/', true);
  assert.equal((await runWhereTool()).path, '/other');
  // The call first tries the busy tab, because the daemon still lists the busy tab as ready.
  await setPageBusy(stack.page, '/', false);
  await stack.page.evaluate(() => document.documentElement.toggleAttribute('data-busy', true));
  assert.equal((await runWhereTool()).path, '/other');
  await otherTab.close();
  await setPageBusy(stack.page, '/', true);
  await waitFor('the plugin to be unavailable', async () => (await readPluginState()) === 'unavailable');
  assert.match((await stack.runCli('status')).stdout, /, unavailable\n/);
  const callOutcome = await client.call('places__where');
  assert.equal(callOutcome.code, 'not_ready', callOutcome.text);
  await stack.page.goto('about:blank');
  await waitFor('the plugin to be closed', async () => (await readPluginState()) === 'closed');
  await stack.page.goto(stack.site.url);
  await waitFor('the plugin to be ready', async () => (await readPluginState()) === 'ready');
});

test('a call can run in a frame of the same origin, but not in a frame of another origin', async () => {
  const otherOrigin = stack.site.origin.replace('127.0.0.1', 'localhost');
  stack.site.setPageHtml(
    `<!doctype html><title>Frames</title><link rel="icon" href="data:,"><iframe src="/in"></iframe><iframe src="${otherOrigin}/out"></iframe>`,
  );
  const page = await stack.chrome.openPage(`${stack.site.origin}/page`);
  const reportedTab = await waitForTab('/page', (tab) => (tab.frames ?? []).length > 0);
  assert.deepEqual(
    reportedTab.frames?.map((frame) => [frame.url, frame.plugins?.map((plugin) => plugin.name)]),
    [[`${stack.site.origin}/in`, ['places']]],
  );
  const { tabId } = reportedTab;
  assert.equal((await runWhereTool({ tabId })).path, '/page');
  await setPageBusy(page, '/page', true);
  assert.deepEqual(await runWhereTool({ tabId }), {
    path: '/in',
    host: '127.0.0.1',
    frame: true,
    hidden: false,
    site: '',
  });
  await page.evaluate(() => document.querySelector('iframe')?.remove());
  await waitForTab('/page', (tab) => tab.frames === undefined);
  assert.equal((await client.call('places__where', { tabId })).code, 'not_ready');
  await page.close();
});

test('a tab that Chrome has discarded is reloaded for a call and stays in the background', async () => {
  const frontPage = await stack.chrome.openPage('about:blank');
  await frontPage.bringToFront();
  await waitForTab('/', (tab) => !tab.active);
  const worker = await waitFor('the service worker to start', () => stack.chrome.context.serviceWorkers()[0]);
  await worker.evaluate(async () => {
    for (const { id, url } of await chrome.tabs.query({}))
      if (url?.includes('127.0.0.1')) await chrome.tabs.discard(id);
  });
  await waitForTab('/', (tab) => tab.discarded === true);
  assert.equal((await runWhereTool()).path, '/');
  assert.equal((await waitForTab('/', (tab) => isPlacesPluginReady(tab) === true)).active, false);
  await frontPage.close();
});

test('neither a navigation nor a call runs any script in the page except the registered scripts', async () => {
  // After a change of a plugin setting, the extension registers its scripts again, so tests with such a change run
  // later.
  const worker = await waitFor('the service worker to start', () => stack.chrome.context.serviceWorkers()[0]);
  await worker.evaluate(() => {
    Reflect.set(globalThis, 'ran', 0);
    for (const extensionApi of [chrome.scripting, chrome.userScripts]) {
      for (const name of ['executeScript', 'execute']) {
        const originalMethod: unknown = Reflect.get(extensionApi, name);
        if (typeof originalMethod !== 'function') continue;
        Reflect.set(extensionApi, name, (...args: unknown[]) => {
          Reflect.set(globalThis, 'ran', Number(Reflect.get(globalThis, 'ran')) + 1);
          return Reflect.apply(originalMethod, extensionApi, args);
        });
      }
    }
  });
  const page = await stack.openTab('/quiet');
  for (const path of ['/quiet-2', '/quiet-3']) {
    await page.goto(`${stack.site.origin}${path}`);
    await waitForTab(path, (tab) => isPlacesPluginReady(tab) === true);
    const { tabId } = await waitForTab(path);
    assert.equal((await runWhereTool({ tabId })).path, path);
  }
  assert.equal(await worker.evaluate(() => Reflect.get(globalThis, 'ran')), 0);
});

test('a call without a matching tab opens a tab in the background, if the user has allowed that', async () => {
  const { env, port, token, site } = stack;
  const settingResponse = await fetch(`http://127.0.0.1:${port}/plugins/places/settings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ values: { site: `${site.origin}/start` } }),
  });
  assert.equal(settingResponse.status, 200, await settingResponse.text());
  const frontPage = await stack.chrome.openPage('about:blank#front');
  for (const page of stack.chrome.context.pages()) if (page !== frontPage) await page.close();
  await waitFor('the plugin to be closed', async () => (await readPluginState()) === 'closed');
  assert.equal((await client.call('places__where')).code, 'no_tab');
  const permissionCommand = await stack.runCli('plugin', 'permission', 'places', '--open-tabs', 'on');
  assert.equal(permissionCommand.code, 0, `${permissionCommand.stderr} ${JSON.stringify(env)}`);
  // Two concurrent calls without a matching tab must open only one tab.
  const callResults = await Promise.all([runWhereTool(), runWhereTool()]);
  assert.deepEqual(
    callResults.map((result) => [result.path, result.site]),
    [
      ['/start', `${site.origin}/start`],
      ['/start', `${site.origin}/start`],
    ],
  );
  assert.equal((await stack.listTabs()).length, 1);
  assert.equal((await waitForTab('/start')).active, false);
});
