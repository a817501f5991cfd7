/** At a width of 360 px, the side panel is readable with many plugins and calls, long names and errors. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { repositoryRoot } from '../harness/process.ts';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import {
  errorCalls,
  failedCallDetails,
  longCalls,
  makeEndedCall,
  makeEndedCalls,
  makeFailedCall,
} from './recent-views.ts';
import { makeCall, samplePlugins } from './sample-views.ts';
import { saveScreenshots } from './screenshot.ts';

let fixture: PanelFixture;

before(async () => {
  mkdirSync(`${repositoryRoot}e2e/out`, { recursive: true });
  fixture = await startPanelFixture();
});
beforeEach(async () => {
  fixture.showCalls([]);
  fixture.server.notifyPanel('state.plugins', {});
  await fixture.panel.goto(`chrome-extension://${fixture.chrome.extensionId}/panel.html`);
  await fixture.panel.getByText('No tool is running.').waitFor();
});
after(() => fixture?.close());

for (const count of [0, 1, 40]) {
  test(`the side panel is readable with ${count} plugins`, async () => {
    const { panel, server } = fixture;
    const plugins = Array.from({ length: count }, (_, i) => ({
      ...(samplePlugins[i % samplePlugins.length] ?? {}),
      name: `plugin-${i}`,
      displayName: `Plugin ${i + 1}`,
    }));
    server.notifyPanel('state.plugins', { plugins });
    await panel.getByRole('tab', { name: /Plugins/ }).click();
    await waitFor(
      'the panel to list the plugins',
      async () => (await panel.locator('.plugins > li').count()) === count,
    );
    await saveScreenshots(panel, `scene-plugins-${count}`);
  });
}

for (const count of [0, 1, 30, 1000]) {
  test(`the side panel is readable with ${count} recent calls`, async () => {
    const { panel, showCalls } = fixture;
    const calls = makeEndedCalls(count);
    // The daemon sends at most 200 ended calls in one message.
    for (let start = 0; start < count; start += 200) showCalls(calls.slice(start, start + 200));
    if (count > 0) await panel.locator('.ended > li').first().waitFor();
    await saveScreenshots(panel, `scene-recent-${count}`);
  });
}

test('the side panel is readable with one running call', async () => {
  const { panel, showCalls } = fixture;
  showCalls([
    makeCall('c1', {
      site: 'chat.example.com',
      args: '{"channelId":"general"}',
      progress: 0.4,
      userMessage: 'page 4 of 10',
    }),
  ]);
  await panel.getByText('page 4 of 10').waitFor();
  await saveScreenshots(panel, 'scene-running-1');
});

test('with long names, the side panel keeps the name of each tool and each control visible', async () => {
  const { panel, showCalls } = fixture;
  showCalls(longCalls);
  await panel.locator('.ended > li').nth(3).waitFor();
  const hiddenElements = await panel.locator('.name .tool, .stop, .status, .line .time').evaluateAll((elements) =>
    elements.flatMap((element) => {
      const { left: leftEdge, right: rightEdge, width } = element.getBoundingClientRect();
      return width < 25 || leftEdge < 0 || rightEdge > window.innerWidth
        ? `${element.className} ${leftEdge} ${rightEdge}`
        : [];
    }),
  );
  assert.deepEqual(hiddenElements, []);
  await panel.locator('.ended summary').first().click();
  await panel.locator('.ended .details').first().waitFor();
  await saveScreenshots(panel, 'scene-long-names');
});

test('the side panel is readable with calls that ended with errors', async () => {
  const { panel, showCalls } = fixture;
  showCalls(errorCalls);
  await panel.getByText('×3').waitFor();
  await saveScreenshots(panel, 'scene-errors');
  await panel.getByText('×3').click();
  await panel.locator('.failures summary').first().click();
  await panel.locator('.ended > li', { hasText: 'No progress' }).locator('summary').click();
  await saveScreenshots(panel, 'scene-errors-open');
});

test('the side panel shows the timing of a call and the developer view of a failed call', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = (method) => (method === 'call.inspect' ? failedCallDetails : {});
  showCalls([makeFailedCall('call_1', { error: 'Failed to fetch' }), makeEndedCall('call_2')]);
  const endedCallRow = panel.locator('.ended > li').first();
  await endedCallRow.locator('summary').first().click();
  server.clearRequests();
  await endedCallRow.getByText('Timing', { exact: true }).click();
  const table = endedCallRow.getByRole('table');
  await table.getByRole('row', { name: 'approval 3.2 ms 1.2 s' }).waitFor();
  assert.equal(await table.getByRole('row').count(), failedCallDetails.phases.length + 1);
  await endedCallRow.getByText(failedCallDetails.traceId).waitFor();
  await endedCallRow.getByText('Developer', { exact: true }).click();
  await endedCallRow.getByText('at load (src/load.ts:12:9)').waitFor();
  await endedCallRow.getByText('(CORS)').waitFor();
  await endedCallRow.getByText('warning <b>retrying</b> 2 of 3').waitFor();
  assert.equal(await endedCallRow.locator('.failure b').count(), 0, 'text from a page must not become markup');
  assert.deepEqual(
    server.requests,
    [{ method: 'call.inspect', params: { callId: 'call_1' } }],
    'timing and developer view must share one request',
  );
  await saveScreenshots(panel, 'scene-timing');
  const secondEndedCall = panel.locator('.ended > li').nth(1);
  await secondEndedCall.locator('summary').first().click();
  await secondEndedCall.getByText('Timing', { exact: true }).waitFor();
  assert.equal(await secondEndedCall.getByText('Developer', { exact: true }).count(), 0);
  server.answerRequest = () => ({
    phases: [
      { name: 'queue', startMs: 0, ms: 12 },
      { name: 'running', startMs: 12, ms: 800 },
    ],
  });
  await secondEndedCall.getByText('Timing', { exact: true }).click();
  await secondEndedCall.getByText('Calls in quick succession are not traced').waitFor();
});

test('the timing and the developer view of a call that is not recorded any more show the reason', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => {
    throw new Error('the call is not recorded any more');
  };
  showCalls([makeFailedCall('call_1', { status: 'timed out' })]);
  await panel.locator('.ended summary').first().click();
  await panel.getByText('Developer', { exact: true }).click();
  await panel.getByRole('alert').filter({ hasText: 'the call is not recorded any more' }).waitFor();
  server.answerRequest = () => ({ phases: [] });
  await panel.getByText('Timing', { exact: true }).click();
  await panel.getByText('has nothing about this call').waitFor();
  await saveScreenshots(panel, 'scene-developer-nothing');
  server.answerRequest = () => ({});
});

test('with different versions, the panel shows the commands that update the older side', async () => {
  const { panel, server, chrome } = fixture;
  for (const [version, command] of [
    ['0.2.0', 'opentabs extension install'],
    ['0.0.9', 'opentabs upgrade'],
  ] as const) {
    server.version = version;
    await chrome.stopWorker();
    await panel.getByText(command, { exact: true }).waitFor();
    await saveScreenshots(panel, `scene-version-${version}`);
  }
  server.version = '0.1.0';
  await chrome.stopWorker();
  await panel.locator('.notice').waitFor({ state: 'detached' });
});
