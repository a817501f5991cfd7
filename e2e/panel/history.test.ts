/** The side panel shows calls from before a daemon restart, and the user can repeat a call with one click. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { findCall } from '../harness/daemon-api.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { pause, waitFor } from '../harness/wait.ts';

let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
after(() => stack?.close());

const findRow = (rowText: string) => panel.locator('.ended > li', { hasText: rowText }).first();

async function clickRunAgain(rowText: string): Promise<void> {
  const row = findRow(rowText);
  if ((await row.locator('details[open]').count()) === 0) await row.locator('summary').click();
  await row.getByRole('button', { name: 'Run again' }).click();
}

test('the panel repeats a call with all its arguments', async () => {
  const longText = `long ${'x'.repeat(1000)} end`;
  assert.equal((await client.call('messages__echo', { value: longText })).isError, false);
  await clickRunAgain('long xxxx');
  await panel.getByText('Started as a new call').waitFor();
  const repeatedCallRow = panel.locator('.ended > li', {
    has: panel.locator('.client', { hasText: 'the side panel' }),
  });
  await repeatedCallRow.first().waitFor();
  await repeatedCallRow.first().locator('summary').click();
  await waitFor('the new call to have the same arguments', async () =>
    ((await repeatedCallRow.first().locator('.details').textContent()) ?? '').includes(longText),
  );
});

test('a repeated call needs the same permission as any other call', async () => {
  await client.call('messages__echo', { value: 'needs approval' });
  await stack.runCli('plugin', 'permission', 'messages', 'ask');
  await clickRunAgain('needs approval');
  const card = panel.locator('.ticket', { hasText: 'the side panel' });
  await card.waitFor();
  await waitFor('the button to be enabled', async () => (await card.locator('[aria-disabled=true]').count()) === 0);
  await card.getByRole('button', { name: 'Deny' }).click();
  await findRow('denied').waitFor();
  await stack.runCli('plugin', 'permission', 'messages', 'auto');
});

test('a search finds a recorded call that the panel has not loaded', async () => {
  await client.call('messages__echo', { value: 'needle' });
  for (let i = 0; i < 230; i++) await client.call('messages__echo', { value: `straw ${i}` });
  await findRow('straw 229').waitFor();
  await panel.reload();
  await findRow('straw 229').waitFor();
  await panel.getByRole('searchbox', { name: 'Search recent calls' }).fill('needle');
  await panel.getByText('No shown call matches.').waitFor();
  await panel.getByRole('button', { name: 'Search older calls' }).press('Enter');
  await findRow('needle').waitFor();
  await panel.getByText('1 found', { exact: true }).waitFor();
  await panel.getByRole('searchbox').fill('');
  await findRow('straw 229').waitFor();
});

test('a button loads older calls than the panel has listed', async () => {
  await panel.reload();
  await findRow('straw 229').waitFor();
  assert.equal(await findRow('needle').count(), 0);
  const moreButton = panel.getByRole('button', { name: /^Show \d+ more/ });
  // Press Enter instead of clicking, because the button moves while Chrome lays out rows that scroll into view.
  while ((await moreButton.count()) > 0) await moreButton.press('Enter');
  await panel.getByRole('button', { name: 'Load older calls' }).press('Enter');
  await findRow('needle').waitFor();
});

test('calls from before a restart of the server are listed', async () => {
  await client.call('messages__echo', { value: 'before the restart' });
  await findRow('before the restart').waitFor();
  await stack.restartDaemon('SIGTERM');
  await panel.reload();
  await findRow('before the restart').waitFor();
  await clickRunAgain('before the restart');
  await panel.getByText('Started as a new call').waitFor();
});

test('an open panel lists a call that a crash of the server interrupted', async () => {
  await waitFor('the browser to connect again', async () => ((await stack.readStatus()).browsers ?? []).length > 0);
  client = await stack.connectHttp(); // the restart has ended the session of the previous client
  const interruptedCall = client.call('messages__silent', { forMs: 60_000 });
  interruptedCall.catch(() => undefined);
  await findCall(stack, 'messages__silent', (call) => call.status === 'running');
  await pause(5_000); // A crash of the daemon loses at most the records of the last second.
  await stack.restartDaemon('SIGKILL');
  await findRow('may have taken effect').waitFor();
  const names = await panel.locator('.ended > li').allTextContents();
  assert.match(names[0] ?? '', /may have taken effect/, 'the interrupted call must be the first in the list');
});

test('a call whose tool is missing is not repeated, and the panel shows the reason', async () => {
  await stack.runCli('plugin', 'remove', 'messages');
  await clickRunAgain('before the restart');
  await panel.getByRole('alert').filter({ hasText: 'there is no tool messages__echo' }).waitFor();
});
