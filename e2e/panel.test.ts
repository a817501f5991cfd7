/** The side panel shows running calls live, and explains problems. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from './harness/client.ts';
import { repositoryRoot, stopProcess } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';

const screenshotFolder = `${repositoryRoot}e2e/out`;
let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  mkdirSync(screenshotFolder, { recursive: true });
  stack = await startStack();
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
after(() => stack?.close());

test('the side panel shows only the reports of a running call that are for the user', async () => {
  const call = client.call('messages__heartbeat', { everyMs: 300, forMs: 10_000 });
  const exportCall = client.call('messages__export_messages', { channelId: 'audience', pageDelayMs: 2_500 });
  const callCards = panel.locator('.call');
  await callCards
    .filter({ hasText: 'export_messages' })
    .getByText(/messages read/)
    .waitFor();
  await callCards.filter({ hasText: 'heartbeat' }).getByText('Running').waitFor();
  assert.equal(await panel.getByText(/beat \d/).count(), 0);
  assert.equal((await call).isError, false);
  assert.equal((await exportCall).isError, false);
  await panel.locator('.ended').getByText('export_messages').waitFor();
  await panel.locator('.ended').getByText('heartbeat').waitFor();
});

test('with the switch "Show everything" on, a running call has a moving progress bar and stays in the list when it has ended', async () => {
  await panel.getByRole('switch', { name: 'Show everything' }).check();
  const call = client.call('messages__countdown', { from: 12, intervalMs: 1_000 });
  const silentCall = client.call('messages__silent', { forMs: 2_500 });
  const progressBar = panel.getByRole('progressbar', { name: /countdown/ });
  await progressBar.waitFor();
  await panel.waitForFunction(() =>
    [...document.querySelectorAll('[role=progressbar]')].some(
      (progressBarElement) => Number(progressBarElement.getAttribute('aria-valuenow') ?? 0) >= 50,
    ),
  );
  await panel.screenshot({ path: `${screenshotFolder}/panel-live.png` });
  assert.equal((await call).isError, false);
  assert.equal((await silentCall).isError, false);
  await progressBar.waitFor({ state: 'detached' });
  assert.match(String(await panel.locator('body').textContent()), /countdown/);
});

test('a failed call shows its reason', async () => {
  await client.call('messages__fail', { code: 'NOT_FOUND', message: 'Channel not found' });
  await panel.locator('.error', { hasText: 'Channel not found' }).waitFor();
});

test('the side panel shows that the server is not reachable, and the action', async () => {
  await stopProcess(stack.daemon);
  await panel.getByRole('heading', { name: /not running/ }).waitFor();
  await panel.getByText('opentabs serve', { exact: true }).waitFor();
  await panel.screenshot({ path: `${screenshotFolder}/panel-disconnected.png` });
});
