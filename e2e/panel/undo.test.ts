/** The user can undo a call once, with one click or command. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from '../harness/client.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  stack = await startStack({ plugins: [{ dir: 'e2e/testdata/notes' }] });
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
after(() => stack?.close());

const readNotes = () => stack.page.evaluate(() => document.documentElement.dataset.notes ?? '[]');
const findRow = (rowText: string) => panel.locator('.ended > li', { hasText: rowText }).first();

async function addNote(rowText: string): Promise<void> {
  assert.equal((await client.call('notes__add_note', { text: rowText })).isError, false);
}

async function clickUndo(rowText: string): Promise<void> {
  const callRow = findRow(rowText);
  if ((await callRow.locator('details[open]').count()) === 0) await callRow.locator('summary').click();
  await callRow.getByRole('button', { name: 'Undo' }).click();
}

test('the side panel can undo a call once, with another call in the same page', async () => {
  await addNote('first');
  assert.equal(await readNotes(), '["first"]');
  await clickUndo('first');
  await waitFor('the note to be removed', async () => (await readNotes()) === '[]');
  const undoCallRow = panel
    .locator('.ended > li', { has: panel.locator('.client', { hasText: 'the side panel' }) })
    .first();
  await undoCallRow.getByText('remove_note').first().waitFor();
  const callRow = panel.locator('.ended > li', { hasText: 'add_note' }).first();
  await callRow.getByText(/^Undone by remove_note, as call_/).waitFor();
  assert.equal(await callRow.getByRole('button', { name: 'Undo' }).count(), 0);
  const [{ call_id } = { call_id: '' }] = (await stack.listCalls()).filter(
    (callRecord) => callRecord.tool_name === 'notes__add_note',
  );
  assert.match((await stack.runCli('calls', 'undo', call_id)).stderr, /already undone, by call_/);
  assert.equal(await readNotes(), '[]');
});

test('an undo needs an approval if the permission of the undoing tool is ask', async () => {
  await addNote('second');
  await stack.runCli('plugin', 'permission', 'notes__remove_note', 'ask');
  await clickUndo('second');
  const card = panel.locator('.ticket', { hasText: 'the side panel' });
  await card.waitFor();
  await waitFor('the button to be enabled', async () => (await card.locator('[aria-disabled=true]').count()) === 0);
  await card.getByRole('button', { name: 'Deny' }).click();
  await findRow('denied').waitFor();
  assert.equal(await readNotes(), '["second"]');
  await stack.runCli('plugin', 'permission', 'notes__remove_note', 'auto');
});
