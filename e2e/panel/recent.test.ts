/** The side panel lists the ended calls with time, client, site, tool, arguments, result and error. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { listTabStops } from './accessibility.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { errorCalls, makeEndedCall, makeEndedCalls } from './recent-views.ts';

let fixture: PanelFixture;

before(async () => {
  fixture = await startPanelFixture();
  await fixture.chrome.context.grantPermissions(['clipboard-read', 'clipboard-write']);
});
beforeEach(async () => {
  fixture.showCalls([]);
  await fixture.panel.goto(`chrome-extension://${fixture.chrome.extensionId}/panel.html`);
  await fixture.panel.getByText('No tool is running.').waitFor();
});
after(() => fixture?.close());

const readClipboard = () => fixture.panel.evaluate(() => navigator.clipboard.readText());
const countRows = () => fixture.panel.locator('.ended > li').count();
const waitForRows = (count: number) =>
  waitFor(`the panel to list ${count} recent calls`, async () => (await countRows()) === count);

test('the filter selects calls by text, failure, plugin and client', async () => {
  const { panel, showCalls } = fixture;
  showCalls(makeEndedCalls(30));
  await waitForRows(30);
  await panel.getByRole('searchbox', { name: 'Search recent calls' }).fill('channel-12');
  await waitForRows(1);
  await panel.getByText('1 of 30', { exact: true }).waitFor();
  await panel.getByRole('searchbox').fill('no such call');
  await panel.getByRole('button', { name: 'Clear the filter' }).click();
  await waitForRows(30);
  await panel.getByRole('switch', { name: 'Failed only' }).check();
  await waitForRows(3);
  await panel.getByRole('switch', { name: 'Failed only' }).uncheck();
  await panel.getByRole('combobox', { name: 'Plugin' }).selectOption('Browser tools');
  await waitFor('the panel to list only calls of browser tools', async () =>
    (await panel.locator('.ended .name').allTextContents()).every((name) => name.includes('browser_snapshot')),
  );
  await panel.getByRole('combobox', { name: 'Plugin' }).selectOption('All plugins');
  await panel.getByRole('combobox', { name: 'Client' }).selectOption('Cursor');
  await waitForRows(10);
});

test('equal consecutive failures share one row, and each success has a separate row', async () => {
  const { panel, showCalls } = fixture;
  showCalls(errorCalls);
  await waitForRows(5);
  await panel.getByText('×3').click();
  await waitFor('the group to list its three calls', async () => (await panel.locator('.failures > li').count()) === 3);
  await panel.locator('.failures summary').nth(1).click();
  await panel.locator('.failures .details').getByText('"random"').waitFor();
});

test('an open row shows all details of the call, with copy buttons', async () => {
  const { panel, showCalls } = fixture;
  const args = '{"channelId":"general","text":"it\'s out"}';
  showCalls([makeEndedCall('call_1', { args }), ...errorCalls.slice(3, 4)]);
  const endedCallRow = panel.locator('.ended > li').first();
  await endedCallRow.locator('summary').click();
  for (const searchText of ['Claude Code', 'chat.example.com', 'call_1', '812 ms', 'Sent to 3 members.'])
    await endedCallRow.locator('.details').getByText(searchText, { exact: true }).waitFor();
  await endedCallRow.getByRole('button', { name: 'Copy arguments' }).click();
  await endedCallRow.getByRole('button', { name: 'Copied arguments' }).waitFor();
  assert.equal(await readClipboard(), args);
  await endedCallRow.getByRole('button', { name: 'Copy result' }).click();
  await waitFor('the result to be in the clipboard', async () => (await readClipboard()) === 'Sent to 3 members.');
  await endedCallRow.getByRole('button', { name: 'Copy command' }).click();
  const command = `opentabs call messages__post --input '{"channelId":"general","text":"it'\\''s out"}'`;
  await waitFor('the command to be in the clipboard', async () => (await readClipboard()) === command);
  const failure = panel.locator('.ended > li').nth(1);
  await failure.locator('summary').click();
  await failure.getByText('idle_timeout').waitFor();
  await failure.getByText('ask for less in one call').waitFor();
  await failure.getByRole('button', { name: 'Copy error' }).click();
  await waitFor('the error to be in the clipboard', async () => (await readClipboard()).startsWith('No progress'));
});

test('Tab reaches all controls in page order, and Enter opens rows', async () => {
  const { panel, showCalls } = fixture;
  showCalls([makeEndedCall('call_1'), ...errorCalls]);
  await waitForRows(6);
  await panel.locator('.ended summary').first().focus();
  await panel.keyboard.press('Enter');
  await panel.locator('.details').waitFor();
  const tabStops = await listTabStops(panel);
  assert.deepEqual(
    tabStops.filter((name) => name.startsWith('invisible')),
    [],
  );
  const names = tabStops.map((name) => name.replace(/^(\w+ )(.{0,24}).*$/s, '$1$2').trim());
  assert.deepEqual(names.slice(0, 3), ['button Calls', 'input', 'input Search recent calls']);
  const copyButtonNames = names.filter((name) => name.startsWith('button Copy'));
  assert.deepEqual(copyButtonNames, ['button Copy arguments', 'button Copy result', 'button Copy command']);
  assert.equal(
    names.filter((name) => name.startsWith('summary')).length,
    7,
    'want the summaries of six calls and of the timing of the open call',
  );
  assert.equal(names.at(-1), 'button Get started');
});

test('a button shows more than 40 recent calls, and only rows near the window are rendered', async () => {
  const { panel, showCalls } = fixture;
  const calls = makeEndedCalls(1000);
  // Like the daemon, the test sends newer calls after older calls, and at most 200 ended calls in one message.
  for (let oldestCallIndex = 800; oldestCallIndex >= 0; oldestCallIndex -= 200) {
    showCalls(calls.slice(oldestCallIndex, oldestCallIndex + 200));
    await panel.locator('#recent', { hasText: String(1000 - oldestCallIndex) }).waitFor();
  }
  await waitForRows(40);
  for (let rowCount = 80; rowCount <= 1000; rowCount += 40) {
    // Press Enter instead of clicking, because the button moves while Chrome lays out rows that scroll into view.
    await panel.getByRole('button', { name: 'Show 40 more' }).press('Enter');
    await waitForRows(rowCount);
  }
  assert.equal(await panel.getByRole('button', { name: /^Show \d+ more/ }).count(), 0);
  // Because of content-visibility, Chrome neither lays out nor paints rows outside of the window.
  const countDrawnRows = () =>
    panel
      .locator('.ended > li > :first-child')
      .evaluateAll(
        (rows) => rows.filter((endedCallRow) => endedCallRow.checkVisibility({ contentVisibilityAuto: true })).length,
      );
  for (const scrollPosition of [0, 0.5, 1]) {
    await panel.evaluate(async (scrollFraction) => {
      window.scrollTo(0, document.body.scrollHeight * scrollFraction);
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    }, scrollPosition);
    const drawnRowCount = await countDrawnRows();
    assert.ok(
      drawnRowCount >= 1 && drawnRowCount <= 200,
      `at ${scrollPosition} of the list, ${drawnRowCount} of 1,000 rows are drawn`,
    );
  }
});
