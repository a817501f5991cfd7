/** Settings from the terminal or the side panel reach a plugin's tools. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { repositoryRoot, runOrThrow } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  const plugin = join(stack.homeFolder, 'wiki-plugin');
  cpSync(join(repositoryRoot, 'e2e/testdata/wiki'), plugin, { recursive: true });
  await runOrThrow(['plugin', 'build', plugin], stack.env);
  await runOrThrow(['plugin', 'add', plugin, '--permission', 'auto'], stack.env);
});
after(() => stack?.close());

const configureWikiPlugin = (...args: string[]) => runOrThrow(['plugin', 'configure', 'wiki', ...args], stack.env);

async function readSettings(): Promise<unknown> {
  const callOutcome = await client.call('wiki__read_settings', {});
  return callOutcome.isError ? callOutcome.text : callOutcome.structured;
}

/** New settings may arrive in the page after a call has started. */
async function waitForSettings(expectedSettings: object): Promise<void> {
  await waitFor(JSON.stringify(expectedSettings), async () => {
    const currentSettings = await readSettings();
    return JSON.stringify(currentSettings) === JSON.stringify(expectedSettings);
  });
}

test('a call without a required setting fails with the command that sets it, and then the plugin runs in the configured site', async () => {
  const refusedCall = await client.call('wiki__read_settings', {});
  assert.equal(refusedCall.code, 'needs_settings');
  assert.match(refusedCall.text, /lacks the setting site.*opentabs plugin configure wiki/);

  await configureWikiPlugin(
    `site.here=${stack.site.origin}`,
    'site.elsewhere=https://wiki.example.com',
    'apiToken=s3cret-text',
  );
  await stack.page.reload();
  // If a setting contains several URLs, the plugin sees only the URL that matches its page.
  await waitForSettings({ site: stack.site.origin, apiToken: 's3cret-text' });
});

test('a changed setting reaches an open page without a reload', async () => {
  await stack.page.evaluate(() => Object.assign(globalThis, { stillHere: true }));
  await configureWikiPlugin('size=20', 'drafts=no', 'order=oldest', '--unset', 'apiToken');
  await waitForSettings({ site: stack.site.origin, size: 20, drafts: false, order: 'oldest' });

  const panel = await stack.chrome.openPanel();
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const wikiPlugin = panel.locator('.plugins > li', { hasText: 'Wiki' });
  await wikiPlugin.getByText('5 settings').click();
  await wikiPlugin.getByLabel('Size').fill('many');
  await wikiPlugin.getByRole('button', { name: 'Save' }).click();
  await wikiPlugin.getByText('It is a string; make it a number').waitFor();
  await wikiPlugin.getByLabel('Size').fill('50');
  await wikiPlugin.getByLabel('Order').selectOption('');
  await wikiPlugin.getByLabel('API token', { exact: true }).fill('another-s3cret');
  await wikiPlugin.getByRole('button', { name: 'Save' }).click();
  await wikiPlugin.getByText('Saved').waitFor();
  await waitForSettings({ site: stack.site.origin, apiToken: 'another-s3cret', size: 50, drafts: false });
  assert.equal(await stack.page.evaluate(() => Reflect.get(globalThis, 'stillHere')), true);
});

test('neither the page nor any surface shows a secret', async () => {
  const pageFindings = await stack.page.evaluate(() => [
    Object.getOwnPropertyNames(globalThis).filter((name) => /opentabs/i.test(name)),
    document.documentElement.outerHTML.includes('s3cret'),
  ]);
  assert.deepEqual(pageFindings, [[], false]);
  for (const args of [
    ['plugin', 'configure', 'wiki', '--json'],
    ['plugin', 'inspect', 'wiki'],
    ['audit', '--json'],
    ['status', '--json'],
  ])
    assert.doesNotMatch(await runOrThrow(args, stack.env), /s3cret/, args.join(' '));
});

test('a review by an agent changes nothing, and the side panel shows it to the user', async () => {
  await runOrThrow(['plugin', 'permission', 'wiki', 'off'], stack.env);
  const inspectOutcome = await client.call('plugin_inspect', { plugin: 'wiki' });
  const reviewToken = /reviewToken "([\w-]+)"/.exec(inspectOutcome.text)?.[1];
  const markReviewedResult = await client.call('plugin_mark_reviewed', {
    plugin: 'wiki',
    reviewToken,
    permission: 'auto',
    note: 'It only reads.',
  });
  assert.equal(markReviewedResult.isError, false, markReviewedResult.text);
  assert.equal((await client.call('wiki__read_settings', {})).code, 'denied');
  const panel = await stack.chrome.openPanel();
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByText('It only reads.').waitFor();
  await panel.getByRole('combobox', { name: 'Permission of Wiki' }).selectOption('ask');
  await panel.getByText('It only reads.').waitFor({ state: 'detached' });
});
