/** Permissions for browser tools that the user sets in the side panel apply at once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { waitFor } from '../harness/wait.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';

let fixture: AgentFixture;
let panel: Page;

before(async () => {
  fixture = await startAgentFixture();
  panel = await fixture.stack.chrome.openPanel();
});
after(() => fixture?.close());

const page = `<title>Work</title><button onclick="count.textContent++">Add</button><p id="count">0</p>
  <button style="animation: move 1s infinite">Moving</button>
  <style>@keyframes move { from { margin-left: 0 } to { margin-left: 200px } }</style>`;

test("the panel shows a tab in use; a user's click and the button Stop take the tab back", async () => {
  const {
    setPage,
    open: openTab,
    callTool,
    callExpectingFailure,
    findRef: getRef,
    findPage: getPage,
    client,
    shop: shopOrigin,
  } = fixture;
  setPage('/work', page);
  const tabId = await openTab('/work');
  const addRef = await getRef('"Add"');
  await callTool('browser_click', { target: addRef });
  const tabsInUse = panel.getByRole('region', { name: /Tabs in use/ });
  await tabsInUse.getByText(/uses this tab. Without another act, the tab is free in/).waitFor();
  await (await getPage(`${shopOrigin}/work`)).mouse.click(5, 300);
  await tabsInUse.getByText(/You took it back from .*, which must read the page/).waitFor();
  assert.equal((await callExpectingFailure('browser_click', { target: addRef })).code, 'tab_taken');

  const movingButtonRef = await getRef('"Moving"');
  const clickCall = client.call('browser_click', { target: movingButtonRef });
  await tabsInUse.getByText(/uses this tab/).waitFor();
  await tabsInUse.getByRole('button', { name: new RegExp(`Stop .* in tab ${tabId}`) }).click();
  assert.match((await clickCall).text, /cancelled by the side panel: the user stopped you in this tab/);
  await tabsInUse.waitFor({ state: 'detached' });
});

test('the panel and the commands change the same browser tool switches and site rules', async () => {
  const { stack, callExpectingFailure } = fixture;
  await panel.getByRole('tab', { name: 'Browser' }).click();
  const allToolsSwitch = panel.getByRole('switch', { name: 'Agents may use browser tools' });
  const readToolStatus = async () => (await stack.runCli('browser', 'tools')).stderr;
  await allToolsSwitch.uncheck();
  await waitFor('browser tools to be off', async () => /browser tools are off/.test(await readToolStatus()));
  assert.match((await callExpectingFailure('browser_snapshot')).text, /browser tools are off/);
  await allToolsSwitch.check();
  await waitFor('browser tools to be on', async () => /browser tools are on/.test(await readToolStatus()));

  await panel.getByRole('textbox', { name: 'Site' }).fill('https://News.example/today');
  await panel.getByRole('combobox', { name: 'Permission of the new site' }).selectOption('read');
  await panel.getByRole('button', { name: 'Add' }).click();
  const siteRule = panel.getByRole('combobox', { name: 'Permission of news.example' });
  await siteRule.waitFor();
  assert.match((await stack.runCli('browser', 'site')).stdout, /^news\.example +read .*the side panel/m);
  await siteRule.selectOption('off');
  await waitFor('the rule to change', async () =>
    /^news\.example +off/m.test((await stack.runCli('browser', 'site')).stdout),
  );
  await panel.getByRole('button', { name: 'Remove news.example' }).click();
  await siteRule.waitFor({ state: 'detached' });
  assert.doesNotMatch((await stack.runCli('browser', 'site')).stdout, /news\.example/);

  await panel.getByText('Tools of core').click();
  await panel.getByRole('combobox', { name: 'Permission of browser_hover' }).selectOption('off');
  await waitFor('the tool to be off', async () =>
    /browser_hover +off/.test((await stack.runCli('browser', 'tools')).stdout),
  );
});
