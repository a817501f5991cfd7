/** Each button of the side panel does what its label promises, or shows why the action failed. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { makeCall } from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture({ userScripts: false });
});
after(() => fixture?.close());

test('Stop cancels the call of its row, and shows the reason of a failed cancellation', async () => {
  const { panel, server, showCalls } = fixture;
  showCalls([makeCall('c1', { args: '{"n":1}' }), makeCall('c2', { args: '{"n":2}' })]);
  const stopButton = panel.getByRole('button', { name: 'Stop messages export_messages, n: 2' });
  await stopButton.click();
  const listCancelRequests = () =>
    server.requests.filter(({ method }) => method === 'call.cancel').map(({ params }) => params);
  await waitFor('the panel to cancel the call', () => listCancelRequests().length === 1);
  assert.deepEqual(listCancelRequests(), [{ callId: 'c2' }]);
  server.answerRequest = () => {
    throw new Error('The server is stopping.');
  };
  await stopButton.click();
  await panel.locator('.call', { hasText: 'n: 2' }).getByRole('alert').getByText('The server is stopping.').waitFor();
  server.answerRequest = () => ({});
});

test('without "Allow User Scripts", a notice opens the page where the user turns it on', async () => {
  const { panel, chrome } = fixture;
  const button = panel.getByRole('button', { name: 'Open details page' });
  await button.waitFor();
  await saveScreenshots(panel, 'scene-no-user-scripts');
  const openedPage = chrome.context.waitForEvent('page');
  await button.click();
  const page = await openedPage;
  await waitFor('the details page to open', () => page.url().startsWith('chrome://extensions/?id='));
  await page.close();
});

test('the panel activates and reloads a tab that a plugin matches', async () => {
  const { panel, sitePage } = fixture;
  await panel.bringToFront();
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const tab = panel.locator('.tabs .tab').first();
  await tab.waitFor();
  await tab.click();
  await waitFor('the tab to be in front', () => sitePage.evaluate(() => document.visibilityState === 'visible'));
  await panel.bringToFront();
  const loadPromise = sitePage.waitForEvent('load');
  await panel.getByRole('button', { name: /^Reload / }).click();
  await loadPromise;
});

test('the user names the browser, and Escape restores the name', async () => {
  const { panel, server } = fixture;
  const name = panel.getByRole('textbox', { name: 'This browser' });
  const originalName = await name.inputValue();
  await name.fill('Something else');
  await name.press('Escape');
  await waitFor('the name to be restored', async () => (await name.inputValue()) === originalName);
  await name.fill('Work');
  await name.press('Enter');
  await waitFor('the browser to send its name', () => server.hello?.browserName === 'Work');
});
