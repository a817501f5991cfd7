/** Until the first call has succeeded, the side panel lists the setup steps. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { makeEndedCall, makeFailedCall } from './recent-views.ts';
import { samplePlugins } from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture({ isNewUser: true });
  await fixture.chrome.context.grantPermissions(['clipboard-read', 'clipboard-write']);
});
after(() => fixture?.close());

const readClipboard = () => fixture.panel.evaluate(() => navigator.clipboard.readText());
const waitForDone = (count: number) => fixture.panel.getByText(`${count} of 5 done`).waitFor();

test('the checklist names the next step and copies its commands', async () => {
  const { panel, showCalls, server } = fixture;
  showCalls([]);
  server.notifyPanel('state.browser', { permission: 'off' });
  server.notifyPanel('state.plugins', { plugins: samplePlugins.map((plugin) => ({ ...plugin, permission: 'off' })) });
  await waitForDone(2);
  assert.match((await panel.locator('[aria-current=step]').textContent()) ?? '', /^Tools/);
  for (const [label, shownText] of [
    ['command to search plugins', 'opentabs plugin search slack'],
    ['command to connect clients', 'opentabs setup'],
    ['question for your agent', 'List my open tabs with opentabs.'],
    ['command of the demo', 'opentabs demo'],
  ] as const) {
    await panel.getByRole('button', { name: `Copy ${label}` }).click();
    await waitFor(`${shownText} to be in the clipboard`, async () => (await readClipboard()) === shownText);
  }
  await saveScreenshots(panel, 'onboarding');
  await panel.getByRole('button', { name: 'Review plugins' }).click();
  assert.equal(await panel.getByRole('tab', { name: /Plugins/ }).getAttribute('aria-selected'), 'true');
});

test('setup steps are completed by reports of the server, and by the button for browser tools', async () => {
  const { panel, showCalls, server } = fixture;
  server.clearRequests();
  await panel.getByRole('button', { name: 'Turn on browser tools' }).click();
  await waitFor('the panel to turn on browser tools', () =>
    server.requests.some(({ method }) => method === 'config.browserTools'),
  );
  server.notifyPanel('state.browser', { permission: 'auto' });
  await panel.getByText('Browser tools are on.').waitFor();
  showCalls([makeFailedCall('f1')], { clients: ['claude-code', 'cursor'] });
  await panel.getByText('Connected: claude-code, cursor.').waitFor();
  await waitForDone(4);
  await saveScreenshots(panel, 'onboarding-almost');
});

test('the checklist disappears for good after the first successful call, and can be reopened', async () => {
  const { panel, showCalls } = fixture;
  showCalls([makeEndedCall('c1')]);
  const getStartedHeading = panel.getByRole('heading', { name: 'Get started' });
  await getStartedHeading.waitFor({ state: 'detached' });
  showCalls([]);
  await panel.reload();
  await panel.getByText('No tool is running.').waitFor();
  const button = panel.getByRole('button', { name: 'Get started' });
  await button.click();
  await getStartedHeading.waitFor();
  await panel.getByRole('button', { name: 'Hide' }).click();
  await getStartedHeading.waitFor({ state: 'detached' });
  await button.press('Enter');
  await getStartedHeading.waitFor();
});

test('without a server, the first setup step shows how to start the server', async () => {
  const { panel, server } = fixture;
  await server.close();
  await panel.getByRole('heading', { name: /not running/ }).waitFor();
  assert.match((await panel.locator('[aria-current=step]').textContent()) ?? '', /^Server.*opentabs serve/s);
  await panel.getByRole('button', { name: 'Try again' }).click();
  await saveScreenshots(panel, 'onboarding-no-server');
});
