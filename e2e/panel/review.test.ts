/** A changed plugin does not run until the user has reviewed and enabled the new content. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { repositoryRoot, runOrThrow } from '../harness/process.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';
import { saveScreenshots } from './screenshot.ts';

let stack: Stack;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  stack = await startStack();
});
after(() => stack?.close());

test('the tools of a changed plugin fail until the user reviews and enables it in the side panel', async () => {
  const client = await stack.connectHttp();
  const panel = await stack.chrome.openPanel();
  appendFileSync(join(stack.pluginFolder, 'src/index.ts'), '\nconsole.debug("another version");\n');
  await runOrThrow(['plugin', 'build', stack.pluginFolder], stack.env);
  await runOrThrow(['plugin', 'add', stack.pluginFolder], stack.env);
  await panel.locator('#view-plugins .todo').waitFor();
  const refusedCall = await client.call('messages__echo', { value: 1 });
  assert.equal(refusedCall.code, 'not_reviewed');
  assert.match(refusedCall.text, /"Review and enable" in the side panel .* `opentabs plugin enable messages`/);

  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByRole('button', { name: 'Review messages' }).click();
  const hash = (await panel.locator('.hash').innerText()).replaceAll(/\s/g, '');
  assert.match(hash, /^[0-9a-f]{64}$/);
  await panel.getByText(/^Main: the plugin runs beside the page’s own scripts/).waitFor();
  await panel.getByText(/^Changes since version/).click();
  await panel.locator('.source .added', { hasText: 'console.debug("another version")' }).waitFor();
  await panel.getByText(/^Author’s code/).click();
  await panel.getByRole('group', { name: /^Author’s code/ }).waitFor();
  await panel
    .getByText(/\d+ tools?/)
    .first()
    .click();
  await panel.getByRole('combobox', { name: 'Permission of export_messages' }).selectOption('off');
  await panel.getByRole('radio', { name: /^Auto/ }).check();
  await saveScreenshots(panel, 'review-of-changed-plugin');
  const enableButton = panel.getByRole('button', { name: 'Review and enable' });
  const permission = panel.getByRole('combobox', { name: 'Permission of Messages' });
  // waitFor retries, because a button that has just moved ignores clicks for a moment.
  await waitFor('the plugin to be enabled', async () => {
    if ((await enableButton.isVisible()) && (await enableButton.getAttribute('aria-disabled')) === 'false')
      await enableButton.click();
    return await permission.isVisible();
  });
  assert.equal(await permission.inputValue(), 'auto');
  await stack.page.reload();
  await waitFor(
    'a successful call of the changed plugin',
    async () => (await client.call('messages__echo', { value: 2 })).isError === false,
  );
  assert.equal(
    (await client.call('messages__export_messages', {})).code,
    'denied',
    'the tool must be off after the review',
  );

  await permission.selectOption('off');
  await waitFor(
    'a call to be denied because the plugin is off',
    async () => (await client.call('messages__echo', { value: 3 })).code === 'denied',
  );
});

test('the side panel removes a plugin and installs it from its folder', async () => {
  const panel = await stack.chrome.openPanel();
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.locator('.package summary').click();
  await panel.getByRole('button', { name: 'Remove messages' }).click();
  await panel.getByRole('button', { name: 'Remove', exact: true }).click();
  await panel.getByText('No plugin is installed.').waitFor();
  const packageField = panel.getByRole('textbox', { name: /Name of a package/ });
  if (!(await packageField.isVisible())) await panel.locator('summary').filter({ hasText: 'Install a plugin' }).click();
  await packageField.fill('messages/built');
  await packageField.press('Enter');
  await panel.getByText('is a relative path: enter the absolute path').or(panel.locator('.install .error')).waitFor();
  await packageField.fill(stack.pluginFolder);
  await packageField.press('Enter');
  await panel.getByText('Installed messages').waitFor();
  await panel.getByRole('button', { name: 'Review and enable' }).waitFor();
  const status = await stack.readStatus();
  assert.deepEqual(
    status.plugins?.map(({ name }) => name),
    ['messages'],
  );
});

test('the terminal enables and disables plugins, and the side panel follows', async () => {
  const panel = await stack.chrome.openPanel();
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await runOrThrow(['plugin', 'enable', '--all', '--yes'], stack.env);
  const permission = panel.getByRole('combobox', { name: 'Permission of Messages' });
  await waitFor('the panel to show the enabled plugin', async () => (await permission.inputValue()) === 'ask');
  await runOrThrow(['plugin', 'disable', 'messages'], stack.env);
  await waitFor('the panel to show the disabled plugin', async () => (await permission.inputValue()) === 'off');
});
