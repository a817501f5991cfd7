/** Promise: a changed plugin does not run until the user has reviewed it, and the side panel offers the review. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runChecked } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

test('the tools of a changed plugin fail until the user reviews the plugin in the side panel', async () => {
  const client = await stack.connectHttp();
  const panel = await stack.chrome.openPanel();
  appendFileSync(join(stack.pluginFolder, 'src/index.ts'), '\nconsole.debug("another version");\n');
  await runChecked(['plugin', 'build', stack.pluginFolder], stack.env);
  await runChecked(['plugin', 'add', stack.pluginFolder], stack.env);
  await panel.locator('#view-plugins .todo').waitFor();
  const refusedCall = await client.call('messages__echo', { value: 1 });
  assert.equal(refusedCall.isError, true);
  assert.match(refusedCall.text, /review/);

  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByRole('button', { name: 'Review messages' }).click();
  const hash = (await panel.locator('.hash').innerText()).replaceAll(/\s/g, '');
  assert.match(hash, /^[0-9a-f]{64}$/);
  await panel.getByText('export_messages').waitFor();
  await panel.getByText(/^Main: the plugin runs beside the page’s own scripts/).waitFor();
  await panel.getByRole('button', { name: 'Allow without asking' }).click();
  const permission = panel.getByRole('combobox', { name: 'Permission of Messages' });
  await permission.waitFor();
  assert.equal(await permission.inputValue(), 'auto');
  await stack.page.reload();
  await waitFor(
    'a successful call of the changed plugin',
    async () => (await client.call('messages__echo', { value: 2 })).isError === false,
  );

  await permission.selectOption('off');
  await waitFor(
    'a call to be denied because the plugin is off',
    async () => (await client.call('messages__echo', { value: 3 })).code === 'denied',
  );
});
