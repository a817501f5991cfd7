/** The side panel shows and saves the settings of a plugin, and shows an error beside the invalid field. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { failedPlugins, makeWikiPlugin, recommendedPlugin, samplePlugins, sampleSettings } from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture();
});
beforeEach(async () => {
  fixture.server.clearRequests();
  fixture.server.answerRequest = () => ({});
  await fixture.panel.goto(`chrome-extension://${fixture.chrome.extensionId}/panel.html`);
  await fixture.panel.getByRole('tab', { name: /Plugins/ }).click();
});
after(() => fixture?.close());

const findLastRequest = (method: string) =>
  fixture.server.requests.findLast((request) => request.method === method)?.params;

test('the settings of a plugin that lacks a required setting are expanded, and are saved', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.plugins', { plugins: [makeWikiPlugin()] });
  await panel.getByText('needs settings').waitFor();
  // Two plugins need the user: "wiki" lacks settings, and the tab of "messages" needs a reload.
  await waitFor(
    'the panel to show two plugins that need the user',
    async () => (await panel.locator('#view-plugins .todo').innerText()) === '2',
  );
  await panel.getByRole('button', { name: 'Add a site' }).click();
  assert.equal(await panel.getByLabel('Name of site 1 of Site').inputValue(), 'default');
  await panel.getByLabel('URL of site 1 of Site').fill('https://wiki.example.com');
  await panel.getByRole('button', { name: 'Add a site' }).click();
  await panel.getByLabel('Name of site 2 of Site').fill('work');
  await panel.getByLabel('URL of site 2 of Site').fill('https://wiki.corp.example');
  await panel.getByLabel('Results on a page').fill('50');
  await panel.getByLabel('Read drafts').selectOption('true');
  await panel.getByLabel('Order').selectOption('');
  await saveScreenshots(panel, 'settings');
  await panel.keyboard.press('Shift+Tab');
  await panel.getByRole('button', { name: 'Save' }).press('Enter');
  await panel.getByText('Saved').waitFor();
  assert.deepEqual(findLastRequest('config.settings'), {
    plugin: 'wiki',
    values: {
      site: { default: 'https://wiki.example.com', work: 'https://wiki.corp.example' },
      size: 50,
      drafts: true,
      order: null,
    },
  });
});

test('a secret setting is never shown, and the user can replace or clear it', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.plugins', { plugins: [makeWikiPlugin()] });
  const tokenField = panel.getByLabel('API token', { exact: true });
  assert.equal(await tokenField.inputValue(), '');
  assert.equal(await tokenField.getAttribute('type'), 'password');
  assert.equal(await tokenField.getAttribute('placeholder'), 'set, not shown');
  await tokenField.fill('s3cret');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText('Saved').waitFor();
  assert.deepEqual(findLastRequest('config.settings'), { plugin: 'wiki', values: { apiToken: 's3cret' } });
  assert.equal(await tokenField.inputValue(), '');
  await panel.getByRole('button', { name: 'Clear apiToken' }).click();
  await panel.getByRole('button', { name: 'Save' }).click();
  await waitFor('the second request config.settings', () =>
    JSON.stringify(findLastRequest('config.settings')).includes('null'),
  );
  assert.deepEqual(findLastRequest('config.settings'), { plugin: 'wiki', values: { apiToken: null } });
});

test('the error of a setting is shown at its field, and the field keeps the typed text', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.plugins', { plugins: [makeWikiPlugin()] });
  server.answerRequest = () => {
    throw new Error('the setting size is a string; make it a number');
  };
  await panel.getByLabel('Results on a page').fill('many');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.locator('.field', { hasText: 'Results on a page' }).getByRole('alert').waitFor();
  assert.equal(await panel.getByLabel('Results on a page').inputValue(), 'many');
  assert.equal(await panel.getByLabel('Results on a page').getAttribute('aria-invalid'), 'true');
  assert.equal(await panel.getByRole('alert').innerText(), 'It is a string; make it a number');
  await saveScreenshots(panel, 'settings-wrong');
});

test('an icon is drawn as an image, a failed plugin shows its error, and a recommendation shows its agent', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.plugins', {
    plugins: [makeWikiPlugin(), recommendedPlugin, ...samplePlugins],
    failed: failedPlugins,
  });
  await panel.getByText('run opentabs plugin build first').waitFor();
  await panel
    .getByText('claude-code has reviewed this plugin and recommends the permission ask. Only you can allow it.')
    .waitFor();
  await panel.getByText('<b>bold</b>').waitFor();
  const pluginIcons = panel.locator('.plugins .icon');
  await waitFor(
    'the icons to be drawn',
    async () =>
      (await pluginIcons.evaluateAll((images) => images.filter((icon) => Object(icon).naturalWidth > 0))).length === 2,
  );
  assert.equal(await panel.locator('svg').count(), 0);
  assert.equal(await panel.title(), 'opentabs');
  await panel.getByRole('img', { name: 'tab open, not ready' }).waitFor();
  await saveScreenshots(panel, 'plugins-all');
});

test('the switch "Calls may open a tab" sends the permission', async () => {
  const { panel, server } = fixture;
  const savedSettings = sampleSettings.map((setting) => ({ ...setting, set: true }));
  server.notifyPanel('state.plugins', { plugins: [makeWikiPlugin({ settings: savedSettings })] });
  const openTabsSwitch = panel.getByRole('switch', { name: /Calls may open a tab/ });
  await openTabsSwitch.check();
  await waitFor('the request config.opening', () => findLastRequest('config.opening') !== undefined);
  assert.deepEqual(findLastRequest('config.opening'), { plugin: 'wiki', allowed: true });
  assert.equal(await panel.getByText('needs settings').count(), 0);
});

test('the switches for calls to other plugins and for late access send the permissions', async () => {
  const { panel, server } = fixture;
  const savedSettings = sampleSettings.map((setting) => ({
    ...setting,
    set: true,
    ...(setting.secret ? { withheld: true } : {}),
  }));
  const dependentPlugin = makeWikiPlugin({
    settings: savedSettings,
    late: true,
    calls: ['messages'],
    refused: ['bank'],
  });
  server.notifyPanel('state.plugins', { plugins: [dependentPlugin, ...samplePlugins] });
  await panel.getByText('May call messages').first().waitFor();
  await panel.getByText('a call was denied').waitFor();
  await panel.getByText('The plugin tried to call it.').waitFor();
  await panel.getByRole('switch', { name: 'May call messages' }).uncheck();
  await waitFor('the request config.calls', () => findLastRequest('config.calls') !== undefined);
  assert.deepEqual(findLastRequest('config.calls'), { plugin: 'wiki', other: 'messages', allowed: false });
  await panel.getByRole('switch', { name: 'May call bank' }).check();
  await waitFor('the request config.calls', () => Object(findLastRequest('config.calls')).allowed === true);
  assert.deepEqual(findLastRequest('config.calls'), { plugin: 'wiki', other: 'bank', allowed: true });
  await panel.getByRole('combobox', { name: 'Allow wiki to call another plugin' }).selectOption('calendar');
  await waitFor('the request config.calls', () => Object(findLastRequest('config.calls')).other === 'calendar');
  await panel.getByText(/^The plugin starts after the page’s scripts. So/).waitFor();
  await panel.getByRole('switch', { name: 'Secret settings and calls to other plugins' }).check();
  await waitFor('the request config.lateAccess', () => findLastRequest('config.lateAccess') !== undefined);
  assert.deepEqual(findLastRequest('config.lateAccess'), { plugin: 'wiki', allowed: true });
  await saveScreenshots(panel, 'plugin-late');
  await panel
    .getByText(/settings$/)
    .first()
    .click();
  await panel.getByText(/so it gets this secret only if you allow it/).waitFor();
});
