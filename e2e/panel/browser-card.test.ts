/** In the side panel, the user can change which browser tools and sites agents may use, and stop an agent in a tab. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import type { StateBrowserParams } from '../../wire/wire.gen.ts';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { makeWaitingCall } from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

const browserTools: StateBrowserParams = {
  permission: 'auto',
  groups: [
    {
      name: 'core',
      tools: [
        { name: 'browser_tabs', displayName: 'Tabs', permission: 'auto' },
        { name: 'browser_click', displayName: 'Click', permission: 'ask' },
        { name: 'browser_file_upload', displayName: 'Upload files', permission: 'off' },
      ],
    },
    {
      name: 'devtools',
      tools: [
        { name: 'browser_console_messages', displayName: 'Console', permission: 'off' },
        { name: 'browser_evaluate', displayName: 'Evaluate', permission: 'off', dangerous: true },
      ],
    },
    {
      name: 'storage',
      tools: [{ name: 'browser_cookies', displayName: 'Cookies', permission: 'off', dangerous: true }],
    },
  ],
  sites: [
    { site: '*', permission: 'ask' },
    { site: '*.bank.example', permission: 'off' },
    { site: 'a-very-long-host-name-of-a-shop.department.company.example:8443', permission: 'read' },
    {
      site: 'shop.example',
      allowed: [
        { client: 'claude-code', class: 'act' },
        { client: 'Cursor', class: 'read' },
      ],
    },
  ],
};

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture();
});
beforeEach(async () => {
  const { server, panel, chrome, showCalls } = fixture;
  server.clearRequests();
  server.answerRequest = () => ({});
  server.notifyPanel('tab.holds', {});
  server.notifyPanel('state.browser', browserTools);
  showCalls([]);
  await panel.goto(`chrome-extension://${chrome.extensionId}/panel.html`);
});
after(() => fixture?.close());

const findLastRequest = (method: string) =>
  waitFor(
    `a request ${method}`,
    () => fixture.server.requests.findLast((request) => request.method === method)?.params,
  );

test("the browser tools card shows tool groups, sites and Chrome's permissions, and works with the keyboard", async () => {
  const { panel, server } = fixture;
  await panel.getByRole('tab', { name: 'Calls' }).focus();
  await panel.keyboard.press('ArrowRight');
  assert.equal(await panel.getByRole('tab', { name: 'Browser' }).getAttribute('aria-selected'), 'true');
  const allToolsSwitch = panel.getByRole('switch', { name: 'Agents may use browser tools' });
  assert.equal(await allToolsSwitch.isChecked(), true);
  await panel.getByText('2 of 3 on').waitFor();
  for (const name of ['core', 'devtools', 'storage']) await panel.getByText(`Tools of ${name}`).click();
  assert.equal(
    await panel.getByRole('switch', { name: 'storage' }).count(),
    0,
    'a dangerous tool must have a separate switch',
  );
  await saveScreenshots(panel, 'browser');

  await panel.getByRole('switch', { name: 'devtools' }).focus();
  await panel.keyboard.press('Space');
  assert.deepEqual(await findLastRequest('config.browserTools'), { names: ['devtools'], on: true });
  await panel.getByRole('combobox', { name: 'Permission of browser_evaluate' }).selectOption('ask');
  assert.deepEqual(await findLastRequest('config.permission'), {
    plugin: 'browser',
    tool: 'browser_evaluate',
    permission: 'ask',
  });
  await panel.getByRole('combobox', { name: 'Permission of *.bank.example' }).selectOption('read');
  assert.deepEqual(await findLastRequest('config.site'), { site: '*.bank.example', permission: 'read' });
  await panel.getByRole('button', { name: 'Remove shop.example' }).click();
  await waitFor('the rule to be removed', () =>
    server.requests.some(({ params }) => JSON.stringify(params) === '{"site":"shop.example"}'),
  );

  server.answerRequest = () => {
    throw new Error('"a b" is no site: write a host such as shop.example');
  };
  await panel.getByRole('textbox', { name: 'Site' }).fill('a b');
  await panel.getByRole('combobox', { name: 'Permission of the new site' }).selectOption('auto');
  await panel.getByRole('textbox', { name: 'Site' }).press('Enter');
  await panel.getByRole('alert').filter({ hasText: '"a b" is no site' }).waitFor();
  assert.equal(
    await panel.getByRole('textbox', { name: 'Site' }).inputValue(),
    'a b',
    'a rejected text must stay in the field',
  );
  assert.deepEqual(await findLastRequest('config.site'), { site: 'a b', permission: 'auto' });
});

test('while browser tools are off, the browser tools card shows only their switch', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.browser', { permission: 'off' });
  await panel.getByRole('tab', { name: 'Browser' }).click();
  await panel.getByText('Off: agents can use plugins only.').waitFor();
  assert.equal(await panel.getByRole('heading', { name: 'Sites' }).count(), 0);
  await saveScreenshots(panel, 'browser-off');
  await panel.getByRole('switch', { name: 'Agents may use browser tools' }).check();
  assert.deepEqual(await findLastRequest('config.browserTools'), { on: true });
});

test('the panel shows which agent uses a tab, and a button stops the agent', async () => {
  const { panel, server, tabId } = fixture;
  const tabHold = { client: 'claude-code', site: 'https://shop.example', leftMs: 60_000 };
  server.notifyPanel('tab.holds', {
    tabs: [
      { ...tabHold, tabId },
      { ...tabHold, tabId: 99, client: 'Cursor‮', site: 'http://localhost:3000', taken: true },
      { ...tabHold, tabId: 98, leftMs: 6000, client: 'short' },
    ],
  });
  await panel.getByText('short uses this tab').waitFor();
  await panel.getByText('short uses this tab').waitFor({ state: 'detached' });
  await panel.getByText(/claude-code uses this tab. Without another act, the tab is free in \d+ s/).waitFor();
  await panel.getByText('You took it back from Cursor, which must read the page').waitFor();
  await saveScreenshots(panel, 'in-use');
  await panel.getByRole('button', { name: `Stop claude-code in tab ${tabId}` }).click();
  assert.deepEqual(await findLastRequest('tab.release'), { tabId });
});

test('the approval card of a browser tool names the site first', async () => {
  const { panel, showCalls } = fixture;
  const call = makeWaitingCall('c1', 't1', {
    title: 'https://shop.example',
    reason: 'Claude Code wants to act on https://shop.example (browser_click)',
    args: '{"target":"e12","element":"Add to cart"}',
  });
  showCalls([{ ...call, plugin: 'browser', tool: 'browser_click' }]);
  const card = panel.locator('.ticket');
  await card.waitFor();
  assert.match(await card.innerText(), /^https:\/\/shop\.example\n/);
  await saveScreenshots(panel, 'browser-question');
});
