/**
 * A plugin that starts after the page's scripts receives secret settings only while the user allows late
 * access.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { runOrThrow } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';
import { buildLegacyPlugin } from './testdata/legacy/legacy.ts';
import { makeTwin } from './testdata/legacy/twin.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  const pluginFolder = join(stack.homeFolder, 'alpha');
  await buildLegacyPlugin(pluginFolder, makeTwin('alpha'));
  await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], stack.env);
  const site = `site.main=${stack.site.origin}`;
  await runOrThrow(['plugin', 'configure', 'alpha', 'key=S3CRET-KEY', site], stack.env);
});
after(() => stack?.close());

async function readSettings(tabId: number): Promise<string> {
  const callOutcome = await client.call('alpha__mine', { tabId });
  return callOutcome.isError ? '' : JSON.stringify(callOutcome.structured);
}

async function openTabWithAlphaPlugin(): Promise<number> {
  let attemptCount = 0;
  return await waitFor('the plugin alpha to be live in a page', async () => {
    const url = `${stack.site.origin}/late?${++attemptCount}`;
    const page = await stack.chrome.openPage(url);
    const { tabId } = await waitFor('the tab', async () => (await stack.listTabs()).find((tab) => tab.url === url));
    if ((await readSettings(tabId)) !== '') return tabId;
    await page.close();
    return undefined;
  });
}

test('a secret setting reaches the page only with late access, and the error without late access contains the command', async () => {
  const tabId = await openTabWithAlphaPlugin();
  const settings = await readSettings(tabId);
  assert.doesNotMatch(settings, /S3CRET-KEY/);
  assert.match(settings, /http:/); // the settings other than the secret are available
  const failedCall = await client.call('alpha__fail', { tabId });
  assert.match(
    failedCall.text,
    /The plugin alpha did not get the setting key, because it starts after the page's scripts\./,
  );
  assert.match(failedCall.text, /`opentabs plugin permission alpha --late-access on`/);
  await runOrThrow(['plugin', 'permission', 'alpha', '--late-access', 'on'], stack.env);
  await waitFor('the open page to receive the secret setting', async () =>
    (await readSettings(tabId)).includes('S3CRET-KEY'),
  );
  await runOrThrow(['plugin', 'permission', 'alpha', '--late-access', 'off'], stack.env);
  await waitFor(
    'the secret setting to be removed from the open page',
    async () => !(await readSettings(tabId)).includes('S3CRET-KEY'),
  );
});
