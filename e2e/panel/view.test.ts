/** The side panel shows all states of calls and plugins at a width of 360 px, in light and dark mode. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import {
  callsWithActivities,
  failedCalls,
  makeInspection,
  makeManyCalls,
  makeSuspendedCalls,
  makeWaitingCall,
  runningCalls,
  samplePlugins,
} from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture();
});
beforeEach(async () => {
  fixture.showCalls([]);
  await fixture.panel.goto(`chrome-extension://${fixture.chrome.extensionId}/panel.html`);
});
after(() => fixture?.close());

test('running calls are listed, and nested calls are indented below their parent', async () => {
  const { panel, showCalls } = fixture;
  showCalls(runningCalls);
  await panel.getByText('page 42 of 100').waitFor();
  await panel.locator('.word', { hasText: 'indexing' }).waitFor();
  const leftEdges = await panel
    .locator('.call')
    .evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().left));
  const [c1 = 0, c2 = 0, c3 = 0, c4 = 0] = leftEdges;
  assert.ok(c1 === c2 && c2 < c3 && c3 < c4, String(leftEdges));
  await saveScreenshots(panel, 'running');
});

test('the panel shows internal messages while its switch is on, and the switch survives a reload', async () => {
  const { panel, showCalls } = fixture;
  showCalls(runningCalls);
  await panel.getByText('page 42 of 100').waitFor();
  // The panel shows a call's result only if the result is for the user.
  await panel.locator('.ended', { hasText: 'echo' }).waitFor();
  assert.equal(await panel.getByText('Sent to 3 recipients.').count(), 1);
  const countShownInternalTexts = async () => [
    await panel.getByText('chunk 7 of 10').count(),
    await panel.getByText('secret').count(),
  ];
  assert.deepEqual(await countShownInternalTexts(), [0, 0]);
  const showEverythingSwitch = panel.getByRole('switch', { name: 'Show everything' });
  await showEverythingSwitch.check();
  await waitFor(
    'the panel to show the internal report and result',
    async () => String(await countShownInternalTexts()) === '1,1',
  );
  await panel.reload();
  await waitFor(
    'the reloaded panel to show the internal report and result',
    async () => String(await countShownInternalTexts()) === '1,1',
  );
  await showEverythingSwitch.uncheck();
  await waitFor(
    'the panel to hide the internal report and result',
    async () => String(await countShownInternalTexts()) === '0,0',
  );
});

test('a failed call shows its error', async () => {
  const { panel, showCalls } = fixture;
  showCalls(failedCalls);
  await panel.getByText('failed').first().click();
  await panel
    .locator('.details')
    .getByText(/Ask for fewer pages/)
    .waitFor();
  assert.equal(await panel.getByText('echo').count(), 1);
  await saveScreenshots(panel, 'failed');
});

test('calls that wait for the user show their approval cards', async () => {
  const { panel, showCalls, tabId } = fixture;
  showCalls(makeSuspendedCalls(tabId));
  await panel.getByRole('button', { name: 'Go to tab' }).waitFor();
  await waitFor(
    'all buttons of the cards to be enabled',
    async () => (await panel.locator('[aria-disabled=true]').count()) === 0,
  );
  await saveScreenshots(panel, 'suspended');
});

test('twelve approval cards at once show the first five and a button for the rest', async () => {
  const { panel, showCalls } = fixture;
  showCalls(Array.from({ length: 12 }, (_, i) => makeWaitingCall(`s${i}`, `t${i}`)));
  const denyButtons = panel.getByRole('button', { name: /^Deny(?! all)/ });
  await denyButtons.nth(4).waitFor();
  assert.equal(await denyButtons.count(), 5);
  await waitFor(
    'all buttons of the cards to be enabled',
    async () => (await panel.locator('[aria-disabled=true]').count()) === 0,
  );
  await saveScreenshots(panel, '12-approvals');
  await panel.getByRole('button', { name: 'Show 7 more' }).click();
  await waitFor('the panel to show twelve approval cards', async () => (await denyButtons.count()) === 12);
});

test('activities are drawn according to their type, and never as HTML', async () => {
  const { panel, showCalls } = fixture;
  showCalls(callsWithActivities);
  await panel.getByRole('cell', { name: 'Subject of message 30' }).waitFor();
  await panel.getByText(/^SELECT id, subject/).waitFor();
  await panel.getByText(/<img src=x/).waitFor();
  assert.equal(await panel.locator('img').count(), 0);
  assert.equal(await panel.getByText('not for the user').count(), 0);
  await saveScreenshots(panel, 'activities');
});

test('updates of 30 running calls keep the cards and the focus', async () => {
  const { panel, showCalls } = fixture;
  showCalls(makeManyCalls(0));
  await panel.getByText('page 27 of 30').waitFor();
  await panel.evaluate(() => {
    const callList = document.querySelector('.calls');
    const mutationCounter = { count: 0 };
    Object.assign(globalThis, { changes: mutationCounter });
    if (callList)
      new MutationObserver((records) => (mutationCounter.count += records.length)).observe(callList, {
        childList: true,
      });
  });
  const stopButton = panel.getByRole('button', { name: /^Stop/ }).nth(20);
  await stopButton.focus();
  for (let stepNumber = 1; stepNumber <= 20; stepNumber++) showCalls(makeManyCalls(stepNumber / 20));
  await waitFor(
    'the panel to show nine finished progress bars',
    async () => (await panel.getByText('100%').count()) === 9,
  );
  assert.equal(await panel.evaluate(() => Object(globalThis).changes.count), 0, 'no card must be replaced');
  assert.ok(
    await stopButton.evaluate((button) => button === document.activeElement),
    'the focus must stay on the Stop button',
  );
  await saveScreenshots(panel, '30-calls');
});

test('plugins are listed with their permissions, and an unreviewed plugin has a review button', async () => {
  const { panel, server } = fixture;
  server.answerRequest = (method) => (method === 'plugin.inspect' ? makeInspection() : {});
  server.notifyPanel('state.plugins', { plugins: samplePlugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByText('needs a reload').waitFor();
  await panel.getByRole('button', { name: 'Review mail' }).waitFor();
  await panel.getByText('3 tools, 2 with their own permission').first().click();
  await panel.getByRole('combobox', { name: 'Permission of post' }).waitFor();
  await panel.getByText('Exports all messages of a channel').waitFor();
  const readingToolList = panel.getByRole('list', { name: 'Reading' }).first();
  assert.deepEqual(await readingToolList.locator('.tool').allTextContents(), [
    'echoread-onlyReturns its arguments.',
    'export_messagesmay writeExports all messages of a channel, page by page.',
  ]);
  await saveScreenshots(panel, 'plugins');
});

test('the badge shows the number of calls that are waiting for approval, also while the panel is closed', async () => {
  const { server, panel } = fixture;
  await panel.goto('about:blank');
  server.notifyPanel('state.waiting', { count: 2 });
  const readBadge = () =>
    fixture.worker.evaluate(async () => [await chrome.action.getBadgeText({}), await chrome.action.getTitle({})]);
  await waitFor(
    'the badge to show two waiting calls',
    async () => String(await readBadge()) === '2?,opentabs: 2 calls waiting for approval',
  );
  server.notifyPanel('state.waiting', { count: 0 });
  await waitFor('the badge to disappear', async () => String(await readBadge()) === ',opentabs');
});
