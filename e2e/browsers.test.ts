/**
 * opentabs never guesses which of two browsers to use, because their users can be logged in with different accounts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { isRecord } from '../extension/src/record.ts';
import { type Chrome, launchChrome } from './harness/chromium.ts';
import type { McpClient } from './harness/client.ts';
import { placesPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
let secondBrowser: Chrome | undefined;
let browserIds: readonly string[];
let secondPage: Page;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
  client = await stack.connectHttp();
  const [firstBrowser] = (await stack.readStatus()).browsers ?? [];
  secondBrowser = await launchChrome({ extension: stack.extensionFolder });
  secondPage = await secondBrowser.openPage(`${stack.site.origin}/second`);
  await stack.waitForPlugins('/second');
  const otherBrowser = (await stack.readStatus()).browsers?.find((browser) => browser.id !== firstBrowser?.id);
  browserIds = [firstBrowser?.id ?? '', otherBrowser?.id ?? ''];
});
after(async () => {
  await secondBrowser?.close();
  await stack?.close();
});

const runWhereTool = (args: Record<string, unknown> = {}) => client.call('places__where', args);
const readPath = (structured: unknown): unknown => Reflect.get(Object(structured), 'path');

async function waitForReadiness(id: string, isReady: boolean) {
  await waitFor('the browser to report the readiness of the plugin', async () => {
    const browser = (await stack.readStatus()).browsers?.find((browser) => browser.id === id);
    return browser?.tabs?.some((tab) =>
      tab.plugins?.some((plugin) => plugin.name === 'places' && plugin.ready === isReady),
    );
  });
}

test('if two browsers could run a call, the error lists both, and the caller can name each', async () => {
  for (const id of browserIds) await waitForReadiness(id, true);
  const callOutcome = await runWhereTool();
  assert.equal(callOutcome.code, 'ambiguous_target', callOutcome.text);
  for (const id of browserIds) assert.ok(callOutcome.text.includes(`id ${id}`), callOutcome.text);
  assert.match(callOutcome.text, /Pass the ID of one tab as "tabId", one browser as "browser"/);
  assert.equal(readPath((await runWhereTool({ browser: browserIds[0] })).structured), '/');
  assert.equal(readPath((await runWhereTool({ browser: browserIds[1] })).structured), '/second');
  const tabs = (await stack.readStatus()).browsers?.find((browser) => browser.id === browserIds[1])?.tabs;
  assert.equal(readPath((await runWhereTool({ tabId: tabs?.[0]?.tabId })).structured), '/second');
  assert.equal((await runWhereTool({ browser: 'unknown' })).code, 'no_tab');
});

test('a browser in which the user is not logged in is not used', async () => {
  await secondPage.evaluate(() => {
    document.documentElement.toggleAttribute('data-busy', true);
    history.pushState(null, '', location.href);
  });
  await waitForReadiness(browserIds[1] ?? '', false);
  const callOutcome = await runWhereTool();
  assert.equal(readPath(callOutcome.structured), '/', callOutcome.text);
  assert.equal((await runWhereTool({ browser: browserIds[1] })).code, 'not_ready');
});

test('no tab is opened while two browsers are connected', async () => {
  const permissionCommand = await stack.runCli('plugin', 'permission', 'places', '--open-tabs', 'on');
  assert.equal(permissionCommand.code, 0, permissionCommand.stderr);
  await Promise.all([secondPage.goto('about:blank'), stack.page.goto('about:blank')]);
  await waitFor('all tabs to be closed', async () => (await stack.listTabs()).length === 0);
  const callOutcome = await runWhereTool();
  assert.match(String(callOutcome.code), /^(no_tab|ambiguous_target)$/);
  await secondPage.goto(`${stack.site.origin}/second`);
  await waitForReadiness(browserIds[1] ?? '', true);
  assert.equal(readPath((await runWhereTool()).structured), '/second');
});

async function readBrowserNames(): Promise<ReadonlyMap<string, string>> {
  const listedBrowsers: unknown = JSON.parse((await stack.runCli('browser', 'list', '--json')).stdout);
  const browsers = Array.isArray(listedBrowsers) ? listedBrowsers.filter(isRecord) : [];
  return new Map(
    browsers.filter((browser) => browser.connected).map((browser) => [`${browser.id}`, `${browser.name}`]),
  );
}

test('two profiles have different names, and the user names them by a command and in the side panel', async () => {
  assert.deepEqual([...(await readBrowserNames()).values()].sort(), ['Chrome on Linux', 'Chrome on Linux 2']);
  const [firstBrowserId = '', secondBrowserId = ''] = browserIds;
  const panel = await secondBrowser?.openPanel();
  const nameField = panel?.locator('#browser-name');
  await waitFor('the side panel to show the name with the number', async () =>
    /^Chrome on Linux( 2)?$/.test((await nameField?.inputValue()) ?? ''),
  );
  assert.equal(await nameField?.inputValue(), (await readBrowserNames()).get(secondBrowserId));
  assert.equal((await stack.runCli('browser', 'name', secondBrowserId, 'Work')).code, 0);
  await waitFor('the side panel to show the new name', async () => (await nameField?.inputValue()) === 'Work');
  await nameField?.fill('Private');
  await nameField?.press('Enter');
  await waitFor(
    'the server to show the name from the side panel',
    async () => (await readBrowserNames()).get(secondBrowserId) === 'Private',
  );
  await secondBrowser?.stopWorker();
  await waitFor(
    'the browser to reconnect with its name',
    async () => (await readBrowserNames()).get(secondBrowserId) === 'Private',
  );
  assert.notEqual((await readBrowserNames()).get(firstBrowserId), 'Private');
});

test('a call that names no browser runs in the default browser, and a name in any case selects a browser', async () => {
  await stack.page.goto(stack.site.url);
  for (const id of browserIds) await waitForReadiness(id, true);
  assert.equal((await runWhereTool()).code, 'ambiguous_target');
  assert.equal((await stack.runCli('browser', 'default', 'private')).code, 0);
  const callOutcome = await runWhereTool();
  assert.equal(readPath(callOutcome.structured), '/second', callOutcome.text);
  assert.equal((await stack.runCli('browser', 'default', browserIds[0] ?? '', '--client', 'e2e')).code, 0);
  assert.equal(readPath((await runWhereTool()).structured), '/');
  assert.equal(readPath((await runWhereTool({ browser: 'PRIVATE' })).structured), '/second');
});
