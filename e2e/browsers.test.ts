/** Promise: opentabs never chooses between two browsers, because they may belong to two accounts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chrome, launchChrome } from './harness/chromium.ts';
import type { McpClient } from './harness/client.ts';
import { placesPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
let second: Chrome | undefined;
/** ids are the ids of the first and the second browser; page is the tab of the second browser. */
let ids: readonly string[];
let page: Page;

before(async () => {
  stack = await startStack({ plugins: [placesPlugin] });
  client = await stack.connectHttp();
  const [first] = (await stack.readStatus()).browsers ?? [];
  second = await launchChrome({ extension: stack.extensionFolder });
  page = await second.openPage(`${stack.site.origin}/second`);
  await stack.waitForPlugins('/second');
  const other = (await stack.readStatus()).browsers?.find((b) => b.id !== first?.id);
  ids = [first?.id ?? '', other?.id ?? ''];
});
after(async () => {
  await second?.close();
  await stack?.close();
});

const call = (args: Record<string, unknown> = {}) => client.call('places__where', args);
const pathOf = (structured: unknown): unknown => Reflect.get(Object(structured), 'path');

/** readyIn waits until the server has this readiness of the plugin in the tabs of a browser. */
async function readyIn(id: string, ready: boolean) {
  await waitFor('the readiness', async () => {
    const browser = (await stack.readStatus()).browsers?.find((b) => b.id === id);
    return browser?.tabs?.some((t) => t.plugins?.some((p) => p.name === 'places' && p.ready === ready));
  });
}

test('if two browsers could run a call, the error lists both, and the caller can name each', async () => {
  for (const id of ids) await readyIn(id, true);
  const out = await call();
  assert.equal(out.code, 'ambiguous_target', out.text);
  for (const id of ids) assert.ok(out.text.includes(`id ${id}`), out.text);
  assert.match(out.text, /pass its ID as "tabId", the browser as "browser"/);
  assert.equal(pathOf((await call({ browser: ids[0] })).structured), '/');
  assert.equal(pathOf((await call({ browser: ids[1] })).structured), '/second');
  const tabs = (await stack.readStatus()).browsers?.find((b) => b.id === ids[1])?.tabs;
  assert.equal(pathOf((await call({ tabId: tabs?.[0]?.tabId })).structured), '/second');
  assert.equal((await call({ browser: 'unknown' })).code, 'no_tab');
});

test('a browser in which the user is not logged in is not used', async () => {
  await page.evaluate(() => {
    document.documentElement.toggleAttribute('data-busy', true);
    history.pushState(null, '', location.href);
  });
  await readyIn(ids[1] ?? '', false);
  const out = await call();
  assert.equal(pathOf(out.structured), '/', out.text);
  assert.equal((await call({ browser: ids[1] })).code, 'not_ready');
});

test('no tab is opened while two browsers are connected', async () => {
  const allowed = await stack.runCli('plugin', 'permission', 'places', '--open-tabs', 'on');
  assert.equal(allowed.code, 0, allowed.stderr);
  await Promise.all([page.goto('about:blank'), stack.page.goto('about:blank')]);
  await waitFor('no tab', async () => (await stack.listTabs()).length === 0);
  const out = await call();
  assert.match(String(out.code), /^(no_tab|ambiguous_target)$/);
  await page.goto(`${stack.site.origin}/second`);
  await readyIn(ids[1] ?? '', true);
  assert.equal(pathOf((await call()).structured), '/second');
});
