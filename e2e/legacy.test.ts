/** Plugins built with the original OpenTabs SDK work side by side in a tab, and the page cannot interfere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { CallOutcome, McpClient } from './harness/client.ts';
import { runOrThrow } from './harness/process.ts';
import { callWithReload } from './harness/reload.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';
import { buildLegacyPlugin } from './testdata/legacy/legacy.ts';
import { earlyPlugin, makeTwin } from './testdata/legacy/twin.ts';

const twinPluginNames = ['alpha', 'beta'] as const;
const hostileScript = readFileSync(fileURLToPath(new URL('testdata/legacy/hostile.js', import.meta.url)), 'utf8');

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  for (const name of twinPluginNames) {
    const pluginFolder = join(stack.homeFolder, name);
    await buildLegacyPlugin(pluginFolder, makeTwin(name));
    await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], stack.env);
    const site = `site.main=${stack.site.origin}`;
    await runOrThrow(
      ['plugin', 'configure', name, `key=key of ${name}`, site, 'site.far=https://far.example.com'],
      stack.env,
    );
    // A late adapter receives the secret setting "key" only with late access.
    await runOrThrow(['plugin', 'permission', name, '--late-access', 'on'], stack.env);
  }
});
after(() => stack?.close());

let pageCount = 0;

/** A page that loads while Chrome registers a plugin's scripts may lack a script, so openTabWithTwinPlugins retries. */
function openTabWithTwinPlugins(script = ''): Promise<{ page: Page; tabId: number }> {
  const earlyRequestScript = `fetch('/early', { headers: { authorization: 'T0KEN' } })`;
  stack.site.setPageHtml(
    `<!doctype html><title>t</title><script>${script};${earlyRequestScript}</script><body><iframe src="/inner"></iframe>`,
  );
  return waitFor('both plugins to be live in a page', async () => {
    const url = `${stack.site.origin}/page?${++pageCount}`;
    const page = await stack.chrome.openPage(url);
    const tabId = await waitForTwinPlugins(url);
    const preScriptNames = await findInnerFrame(page)?.evaluate(() => document.documentElement.dataset.pre);
    if (preScriptNames?.split(' ').sort().join(' ') === ' alpha beta') return { page, tabId };
    await page.close();
    return undefined;
  });
}

const findInnerFrame = (page: Page) => page.frames().find((frame) => frame.url().endsWith('/inner'));

function waitForTwinPlugins(pageUrl: string): Promise<number> {
  return waitFor(`both plugins in ${pageUrl}`, async () => {
    const tab = (await stack.listTabs()).find(({ url }) => url === pageUrl);
    const names = tab?.plugins?.map((plugin) => plugin.name) ?? [];
    return twinPluginNames.every((name) => names.includes(name)) ? tab?.tabId : undefined;
  });
}

async function callTool(tool: string, args: Record<string, unknown>): Promise<CallOutcome> {
  const callOutcome = await client.call(tool, args);
  assert.equal(callOutcome.isError, false, callOutcome.text);
  return callOutcome;
}

const readHooks = (page: Page, name: string) =>
  page.evaluate((key) => document.documentElement.dataset[key] ?? '', name);

test('settings, early tokens, names and caches of two plugins in a tab are separate, also after an await', async () => {
  const { page, tabId } = await openTabWithTwinPlugins();
  await page.waitForLoadState('networkidle');
  const twinPluginResults = await Promise.all(twinPluginNames.map((name) => callTool(`${name}__mine`, { tabId })));
  for (const [i, name] of twinPluginNames.entries()) {
    const expected = [`key of ${name}`, stack.site.origin, `${name} saw T0KEN`, name];
    assert.deepEqual(twinPluginResults[i]?.structured, { before: expected, after: expected });
  }
  await callTool('alpha__cache', { tabId, set: 'of alpha' });
  assert.deepEqual((await callTool('alpha__cache', { tabId })).structured, { value: 'of alpha' });
  assert.deepEqual((await callTool('beta__cache', { tabId })).structured, { value: null });
  await runOrThrow(['plugin', 'configure', 'alpha', 'key=changed'], stack.env);
  await waitFor('the open page to receive the setting', async () =>
    JSON.stringify((await callTool('alpha__mine', { tabId })).structured).includes('changed'),
  );
  assert.match(JSON.stringify((await callTool('beta__mine', { tabId })).structured), /key of beta/);
  // The plugins' pre-scripts run in frames too, but the adapters must not.
  assert.equal(await findInnerFrame(page)?.evaluate(() => document.documentElement.dataset.alpha), undefined);
  await page.close();
});

test('each adapter is evaluated once per document, and its hooks run on calls, navigations and teardown', async () => {
  const { page, tabId } = await openTabWithTwinPlugins();
  const failedCall = await client.call('alpha__fail', { tabId });
  assert.match(failedCall.text, /slow down/);
  assert.match(failedCall.text, /RATE_LIMITED/);
  await page.evaluate(() => history.pushState(null, '', '/page?a'));
  await page.evaluate(() => history.pushState(null, '', '/elsewhere'));
  await page.evaluate(() => history.replaceState(null, '', '/page'));
  const expectedHookLog =
    'evaluated activated start:fail end:fail:false navigated:/page navigated:/elsewhere navigated:/page ';
  await waitFor('the events of the plugin alpha', async () => (await readHooks(page, 'alpha')) === expectedHookLog);
  await runOrThrow(['plugin', 'permission', 'alpha', 'off'], stack.env);
  const tornDownLog = `${expectedHookLog}deactivated torn `;
  await waitFor('alpha to be torn down', async () => (await readHooks(page, 'alpha')) === tornDownLog);
  await page.evaluate(() => history.pushState(null, '', '/after'));
  const betaLog = `${expectedHookLog.replace('start:fail end:fail:false ', '')}navigated:/after `;
  await waitFor('the events of beta', async () => (await readHooks(page, 'beta')) === betaLog);
  const lockedAdapterNames = (await callTool('beta__locked', { tabId })).structured;
  assert.deepEqual(lockedAdapterNames, { names: ['beta'], locked: true });
  await runOrThrow(['plugin', 'permission', 'alpha', 'auto'], stack.env);
  await page.close();
});

test('an adapter with start document_start sees the first request of the page without a pre-script', async () => {
  const pluginFolder = join(stack.homeFolder, earlyPlugin.name);
  await buildLegacyPlugin(pluginFolder, earlyPlugin);
  await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], stack.env);
  const { page, tabId } = await openTabWithTwinPlugins();
  const tokens = await waitFor('the plugin to be live', async () => {
    const callOutcome = await callWithReload(stack, client, 'early__heard', { tabId });
    return callOutcome.isError ? undefined : callOutcome.structured;
  });
  assert.deepEqual(tokens, { heard: ['T0KEN'] });
  await runOrThrow(['plugin', 'remove', earlyPlugin.name], stack.env);
  await page.close();
});

test('parameters with a default are optional, and the tool receives the default', async () => {
  const { page, tabId } = await openTabWithTwinPlugins();
  assert.deepEqual((await callTool('alpha__defaults', { tabId })).structured, { limit: 7, deep: { on: false } });
  const args = { limit: 1, deep: {} };
  assert.deepEqual((await callTool('alpha__defaults', { tabId, ...args })).structured, {
    limit: 1,
    deep: { on: true },
  });
  await page.close();
});

test('the readiness of two plugins in a tab is reported separately', async () => {
  const { page, tabId } = await openTabWithTwinPlugins();
  const readReadiness = async () => {
    const tab = (await stack.listTabs()).find((tab) => tab.tabId === tabId);
    return twinPluginNames.map((name) => tab?.plugins?.find((plugin) => plugin.name === name)?.ready);
  };
  const waitForReadiness = (expectedReadiness: readonly boolean[]) =>
    waitFor(
      `readiness ${expectedReadiness}`,
      async () => JSON.stringify(await readReadiness()) === JSON.stringify(expectedReadiness),
    );
  await waitForReadiness([true, true]);
  await callTool('alpha__ready', { tabId, on: false });
  await waitForReadiness([false, true]);
  assert.equal((await client.call('alpha__mine', { tabId })).code, 'not_ready');
  await callTool('beta__mine', { tabId });
  await page.close();
});

test('a page that forges all events and messages and replaces the old registry learns nothing and changes nothing', async () => {
  const { page, tabId } = await openTabWithTwinPlugins(hostileScript);
  const progressOptions = { onProgress: () => undefined };
  const countCall = await client.call('alpha__count', { tabId, to: 5 }, progressOptions);
  assert.deepEqual(countCall.structured, { counted: 5, secret: 'S3CRET-alpha' });
  assert.ok(countCall.progress.length > 0);
  for (const { message: progressMessage = '' } of countCall.progress) assert.match(progressMessage, /^alpha \d$/);
  await callTool('alpha__write_log', { tabId, text: 'hello' });
  await callTool('beta__write_log', { tabId, text: 'hello' });
  const expectedValues = (name: string) => [`key of ${name}`, `${name} saw T0KEN`];
  const resultText = JSON.stringify((await callTool('beta__mine', { tabId })).structured);
  for (const value of expectedValues('beta')) assert.ok(resultText.includes(value), resultText);
  const logs = await waitFor('the logs of both plugins', async () => {
    const { stdout } = await stack.runCli('logs', '--json');
    return twinPluginNames.every((name) => stdout.includes(`${name} warns`)) ? stdout : undefined;
  });
  assert.match(logs, /alpha logs hello/);
  assert.doesNotMatch(logs, /FORGED/);
  const pageSecrets = await page.evaluate(() => JSON.stringify(Reflect.get(window, 'seen')));
  assert.doesNotMatch(pageSecrets, /opentabs|S3CRET|hello|alpha|beta|T0KEN.*saw|_logNonce":"/i);
  assert.ok(JSON.parse(pageSecrets).includes('the page runs'));
  await page.close();
});

test('the result of a tool that navigates and returns at once reaches the client', async () => {
  for (let i = 0; i < 5; i++) {
    const { page, tabId } = await openTabWithTwinPlugins();
    assert.deepEqual((await callTool('alpha__go', { tabId, to: `/next${i}` })).structured, { went: `/next${i}` });
    await page.waitForURL(`**/next${i}`);
    await page.close();
  }
});
