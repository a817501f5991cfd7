/** Promise: a person sees what a plugin needs, sets it in the side panel, and is told at the field what is wrong. Screenshots go to e2e/out/. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type Bed, makeBed } from './bed.ts';
import { broken, plugins, recommended, settings, wiki } from './scenes.ts';
import { shoot } from './shoot.ts';

let bed: Bed;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  bed = await makeBed();
});
beforeEach(async () => {
  bed.server.forget();
  bed.server.answer = () => ({});
  await bed.panel.goto(`chrome-extension://${bed.chrome.extensionId}/panel.html`);
  await bed.panel.getByRole('tab', { name: /Plugins/ }).click();
});
after(() => bed?.close());

/** asked is what the last request of this method had. */
const asked = (method: string) => bed.server.asked.findLast((one) => one.method === method)?.params;

test('what is needed stands open, and is saved', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins: [wiki()] });
  await panel.getByText('needs settings').waitFor();
  // It, and the tab of the bed, whose plugin needs a reload.
  await waitFor('the count', async () => (await panel.locator('#view-plugins .todo').innerText()) === '2');
  await panel.getByRole('button', { name: 'Add a site' }).click();
  assert.equal(await panel.getByLabel('Name of site 1 of Site').inputValue(), 'default');
  await panel.getByLabel('URL of site 1 of Site').fill('https://wiki.example.com');
  await panel.getByRole('button', { name: 'Add a site' }).click();
  await panel.getByLabel('Name of site 2 of Site').fill('work');
  await panel.getByLabel('URL of site 2 of Site').fill('https://wiki.corp.example');
  await panel.getByLabel('Results on a page').fill('50');
  await panel.getByLabel('Read drafts').selectOption('true');
  await panel.getByLabel('Order').selectOption('');
  await shoot(panel, 'settings');
  await panel.keyboard.press('Shift+Tab');
  await panel.getByRole('button', { name: 'Save' }).press('Enter');
  await panel.getByText('Saved').waitFor();
  assert.deepEqual(asked('config.settings'), {
    plugin: 'wiki',
    values: {
      site: { default: 'https://wiki.example.com', work: 'https://wiki.corp.example' },
      size: 50,
      drafts: true,
      order: null,
    },
  });
});

test('a secret is never shown; it is set anew or taken away', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins: [wiki()] });
  const token = panel.getByLabel('API token', { exact: true });
  assert.equal(await token.inputValue(), '');
  assert.equal(await token.getAttribute('type'), 'password');
  assert.equal(await token.getAttribute('placeholder'), 'set, not shown');
  await token.fill('s3cret');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText('Saved').waitFor();
  assert.deepEqual(asked('config.settings'), { plugin: 'wiki', values: { apiToken: 's3cret' } });
  assert.equal(await token.inputValue(), '');
  await panel.getByRole('button', { name: 'Clear apiToken' }).click();
  await panel.getByRole('button', { name: 'Save' }).click();
  await waitFor('the second request', () => JSON.stringify(asked('config.settings')).includes('null'));
  assert.deepEqual(asked('config.settings'), { plugin: 'wiki', values: { apiToken: null } });
});

test('what is wrong stands at its field, and what was typed stays', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins: [wiki()] });
  server.answer = () => {
    throw new Error('the setting size is a string; make it a number');
  };
  await panel.getByLabel('Results on a page').fill('many');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.locator('.field', { hasText: 'Results on a page' }).getByRole('alert').waitFor();
  assert.equal(await panel.getByLabel('Results on a page').inputValue(), 'many');
  assert.equal(await panel.getByLabel('Results on a page').getAttribute('aria-invalid'), 'true');
  assert.equal(await panel.getByRole('alert').innerText(), 'It is a string; make it a number');
  await shoot(panel, 'settings-wrong');
});

test('icons are images, whatever is in them (fault 25); failed plugins say why; an agent can only recommend', async () => {
  const { panel, server } = bed;
  server.tell('state.plugins', { plugins: [wiki(), recommended, ...plugins], failed: broken });
  await panel.getByText('run opentabs plugin build first').waitFor();
  await panel
    .getByText('claude-code has reviewed this plugin and recommends the permission ask. Only you can allow it.')
    .waitFor();
  await panel.getByText('<b>bold</b>').waitFor();
  const icons = panel.locator('.plugins .icon');
  await waitFor(
    'the icons',
    async () => (await icons.evaluateAll((all) => all.filter((one) => Object(one).naturalWidth > 0))).length === 2,
  );
  assert.equal(await panel.locator('svg').count(), 0);
  assert.equal(await panel.title(), 'opentabs');
  await panel.getByRole('img', { name: 'tab open, not ready' }).waitFor();
  await shoot(panel, 'plugins-all');
});

test('whether calls may open tabs is switched', async () => {
  const { panel, server } = bed;
  const set = settings.map((one) => ({ ...one, set: true }));
  server.tell('state.plugins', { plugins: [wiki({ settings: set })] });
  const opening = panel.getByRole('switch', { name: /Calls may open a tab/ });
  await opening.check();
  await waitFor('the request', () => asked('config.opening') !== undefined);
  assert.deepEqual(asked('config.opening'), { plugin: 'wiki', allowed: true });
  assert.equal(await panel.getByText('needs settings').count(), 0);
});

test('which plugins one may call, and what one gets that starts late, is switched', async () => {
  const { panel, server } = bed;
  const set = settings.map((one) => ({ ...one, set: true, ...(one.secret ? { withheld: true } : {}) }));
  const late = wiki({ settings: set, late: true, calls: ['messages'], refused: ['bank'] });
  server.tell('state.plugins', { plugins: [late, ...plugins] });
  await panel.getByText('May call messages').first().waitFor();
  await panel.getByText('was denied a call').waitFor();
  await panel.getByText('Tried to call it.').waitFor();
  await panel.getByRole('switch', { name: 'May call messages' }).uncheck();
  await waitFor('the request', () => asked('config.calls') !== undefined);
  assert.deepEqual(asked('config.calls'), { plugin: 'wiki', other: 'messages', allowed: false });
  await panel.getByRole('switch', { name: 'May call bank' }).check();
  await waitFor('the request', () => Object(asked('config.calls')).allowed === true);
  assert.deepEqual(asked('config.calls'), { plugin: 'wiki', other: 'bank', allowed: true });
  await panel.getByRole('combobox', { name: 'Allow wiki to call another plugin' }).selectOption('calendar');
  await waitFor('the request', () => Object(asked('config.calls')).other === 'calendar');
  await panel.getByText(/^The plugin starts after the page’s scripts. So/).waitFor();
  await panel.getByRole('switch', { name: 'Secret settings and calls to other plugins' }).check();
  await waitFor('the request', () => asked('config.lateAccess') !== undefined);
  assert.deepEqual(asked('config.lateAccess'), { plugin: 'wiki', allowed: true });
  await shoot(panel, 'plugin-late');
  await panel
    .getByText(/settings$/)
    .first()
    .click();
  await panel.getByText(/so it gets this secret only if you allow it/).waitFor();
});
