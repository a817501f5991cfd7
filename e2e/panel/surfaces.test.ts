/**
 * A call that is waiting for approval reaches the user in a notification, the popup, the terminal and the MCP client.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, beforeEach, test } from 'node:test';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { Page } from 'playwright-core';
import type { CallOutcome, McpClient } from '../harness/client.ts';
import { decideCall, fetchCallRecords } from '../harness/daemon-api.ts';
import { type DesktopNotification, type FakeDesktop, startDesktop } from '../harness/desktop.ts';
import { opentabsBinary } from '../harness/process.ts';
import { everythingPlugin, type Stack, startStack } from '../harness/stack.ts';
import { pause, waitFor } from '../harness/wait.ts';
import { saveScreenshots } from './screenshot.ts';

let fakeDesktop: FakeDesktop;
let stack: Stack;
let client: McpClient;

before(async () => {
  fakeDesktop = await startDesktop();
  stack = await startStack({
    plugins: [{ ...everythingPlugin, permission: 'ask' }],
    chrome: { env: fakeDesktop.env },
  });
  client = await stack.connectHttp();
});
beforeEach(async () => {
  const { code, stderr } = await stack.runCli('plugin', 'permission', 'messages', 'ask');
  assert.equal(code, 0, stderr);
  await waitFor('earlier notifications to close', () => fakeDesktop.notifications().length === 0);
});
after(async () => {
  await stack?.close();
  await fakeDesktop?.close();
});

/** ClickGuardPauseMs is longer than the time for which a new surface, such as a dialog, ignores clicks. */
const ClickGuardPauseMs = 900;

function startCall(value: string, caller: McpClient = client): Promise<CallOutcome> {
  const callOutcome = caller.call('messages__echo', { value });
  callOutcome.catch(() => undefined);
  return callOutcome;
}

async function findNotification(searchedText: string): Promise<DesktopNotification> {
  const find = () => fakeDesktop.notifications().find(({ body }) => body.includes(searchedText));
  await waitFor(`a notification with "${searchedText}"`, find);
  await pause(ClickGuardPauseMs);
  return await waitFor(`the notification with "${searchedText}" to stay`, find);
}

const readBadgeText = () => stack.chrome.context.serviceWorkers()[0]?.evaluate(() => chrome.action.getBadgeText({}));

test('a notification shows the call, its button "Allow once" runs the call, and "Deny" denies it', async () => {
  const allowedCall = startCall('first value');
  const notification = await findNotification('value: first value');
  assert.match(notification.title, /^Allow .*echo.*\?$/i);
  assert.deepEqual(
    [...notification.actions.keys()].sort(),
    ['Allow once', 'Deny', 'default', 'Settings'].filter((name) => notification.actions.has(name)).sort(),
  );
  await waitFor('the badge', async () => (await readBadgeText()) === '1?');
  fakeDesktop.press(notification, 'Allow once');
  assert.match((await allowedCall).text, /first value/);
  await waitFor('the badge to be cleared', async () => (await readBadgeText()) !== '1?');
  const deniedCall = startCall('second value');
  fakeDesktop.press(await findNotification('value: second value'), 'Deny');
  assert.equal((await deniedCall).code, 'denied');
  await waitFor('the audit line', async () => (await stack.runCli('audit')).stdout.includes('a notification'));
});

test('waiting calls get notifications in order of arrival, and a decision closes the notification', async () => {
  const calls: Promise<CallOutcome>[] = [];
  for (const value of ['queue one', 'queue two', 'queue three']) {
    calls.push(startCall(value));
    await waitFor(
      'the call to wait',
      async () => (await fetchCallRecords(stack)).filter((call) => call.waiting).length === calls.length,
    );
  }
  await findNotification('queue one');
  assert.equal(fakeDesktop.notifications().length, 1);
  const [firstWaitingCall] = await fetchWaitingCalls();
  await decideCall(stack, firstWaitingCall?.call_id ?? '', { allow: false });
  fakeDesktop.press(await findNotification('queue two'), 'Deny');
  fakeDesktop.press(await findNotification('queue three'), 'Deny');
  for (const call of calls) assert.equal((await call).code, 'denied');
});

async function fetchWaitingCalls() {
  return (await fetchCallRecords(stack)).filter((call) => call.waiting !== undefined);
}

test('a notification survives worker stops, and its buttons still work', async () => {
  const call = startCall('worker restart');
  const notification = await findNotification('worker restart');
  await stack.chrome.stopWorker();
  await pause(ClickGuardPauseMs);
  const restoredNotification = await findNotification('worker restart');
  assert.equal(
    restoredNotification.id,
    notification.id,
    'the notification must keep its ID, so that the user is not alerted again',
  );
  await stack.chrome.stopWorker();
  fakeDesktop.press(restoredNotification, 'Allow once');
  assert.match((await call).text, /worker restart/);
});

test('a notification that the user closes is not shown again, and the call still waits', async () => {
  const call = startCall('dismissed');
  fakeDesktop.dismiss(await findNotification('dismissed'));
  await pause(ClickGuardPauseMs);
  assert.deepEqual(fakeDesktop.notifications(), []);
  const [waitingCall] = await fetchWaitingCalls();
  await decideCall(stack, waitingCall?.call_id ?? '', { allow: false });
  assert.equal((await call).code, 'denied');
});

test('long arguments are not allowed in a notification; its button opens the panel', async () => {
  const call = startCall('y'.repeat(400));
  const notification = await findNotification('Open the panel');
  assert.equal(notification.actions.has('Allow once'), false);
  fakeDesktop.press(notification, 'Review');
  const panel = await waitFor('the side panel to open', () => stack.chrome.findPanel());
  await panel.getByRole('button', { name: /^Deny/ }).click();
  assert.equal((await call).code, 'denied');
  await closePanel(panel);
});

/** If the test closed the panel's page without window.close(), Chrome would not open the side panel again. */
async function closePanel(panel: Page): Promise<void> {
  await Promise.all([panel.waitForEvent('close'), panel.evaluate(() => window.close())]);
}

test('a click on the notification text opens the panel, and no notification is shown', async () => {
  const call = startCall('open the panel');
  fakeDesktop.press(await findNotification('open the panel'), 'default');
  const panel = await waitFor('the side panel to open', () => stack.chrome.findPanel());
  await panel.locator('.ticket').filter({ hasText: 'open the panel' }).waitFor();
  await waitFor('the notification to close', () => fakeDesktop.notifications().length === 0);
  await closePanel(panel);
  fakeDesktop.press(await findNotification('open the panel'), 'Deny');
  assert.equal((await call).code, 'denied');
});

test('the popup shows the waiting call, decides it, and opens the panel', async () => {
  const call = startCall('in the popup');
  await waitFor('the call to wait', async () => (await fetchWaitingCalls()).length === 1);
  // The test opens the popup's page in a tab, because Chrome closes a real popup when it loses the focus.
  const popupPage = await stack.chrome.openPage(`chrome-extension://${stack.chrome.extensionId}/popup.html`);
  await popupPage.setViewportSize({ width: 360, height: 600 });
  await popupPage.getByText('1 waiting for you.').waitFor();
  await popupPage.locator('.ticket').filter({ hasText: 'in the popup' }).waitFor();
  assert.equal(await popupPage.evaluate(() => document.activeElement?.textContent), 'Open panel');
  await saveScreenshots(popupPage, 'waiting', 'popup');
  await popupPage.getByRole('button', { name: /^Allow once/ }).click();
  assert.match((await call).text, /in the popup/);
  await popupPage.getByText('Allowed once.').waitFor();
  await waitFor('the audit line', async () => (await stack.runCli('audit')).stdout.includes('the popup'));
  // The test replaces chrome.sidePanel.open, because Chrome does not open the side panel again for a popup page in a
  // tab.
  await popupPage.evaluate(() => {
    window.close = () => undefined;
    chrome.sidePanel.open = async ({ windowId }) => {
      document.body.dataset.openedIn = String(windowId);
    };
  });
  await popupPage.getByRole('button', { name: 'Open panel' }).click();
  const windowId = await popupPage.evaluate(async () => String((await chrome.windows.getCurrent()).id));
  await waitFor(
    'the popup to open the panel of its window',
    async () => (await popupPage.evaluate(() => document.body.dataset.openedIn)) === windowId,
  );
  if (!popupPage.isClosed()) await popupPage.close();
});

function startTerminal(value: string) {
  const command = `${opentabsBinary} call messages__echo --arg value='${value}'`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env: { ...process.env, ...stack.env } });
  let searchedText = '';
  child.stdout.on('data', (chunk) => {
    searchedText += String(chunk);
  });
  // The command may have ended before a test types an answer.
  child.stdin.on('error', () => undefined);
  const exitCode = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { text: () => searchedText, type: (line: string) => child.stdin.write(`${line}\n`), ended: exitCode };
}

test('opentabs call asks for approval in a terminal, and Enter denies', async () => {
  const allowingTerminal = startTerminal('typed');
  await waitFor('the question', () => allowingTerminal.text().includes('Allow this call? [y/N]'));
  await pause(ClickGuardPauseMs);
  allowingTerminal.type('y');
  assert.equal(await allowingTerminal.ended, 0, allowingTerminal.text());
  assert.match(allowingTerminal.text(), /typed/);
  const denyingTerminal = startTerminal('only enter');
  await waitFor('the question', () => denyingTerminal.text().includes('Allow this call? [y/N]'));
  await pause(ClickGuardPauseMs);
  denyingTerminal.type('');
  assert.notEqual(await denyingTerminal.ended, 0);
  assert.match(denyingTerminal.text(), /denied/i);
});

test('opentabs call shows in the terminal where the first decision was made', async () => {
  const terminalProcess = startTerminal('elsewhere');
  await waitFor('the question', () => terminalProcess.text().includes('Allow this call? [y/N]'));
  fakeDesktop.press(await findNotification('elsewhere'), 'Allow once');
  assert.equal(await terminalProcess.ended, 0, terminalProcess.text());
  assert.match(terminalProcess.text(), /opentabs: already allowed by a notification/);
});

test('opentabs call without a terminal only waits', async () => {
  const call = stack.runCli('call', 'messages__echo', '--arg', 'value=pipe');
  fakeDesktop.press(await findNotification('value: pipe'), 'Deny');
  const { stderr } = await call;
  assert.doesNotMatch(stderr, /y\/N/);
});

test('if panel, notification, terminal, form and command race, exactly one decides', async () => {
  const callOutcomes: string[] = [];
  for (let roundIndex = 0; roundIndex < 6; roundIndex++) {
    const value = `race ${roundIndex}`;
    const terminalProcess = startTerminal(value);
    await waitFor('the question', () => terminalProcess.text().includes('Allow this call? [y/N]'));
    const notification = await findNotification(value);
    const [waitingCall] = await fetchWaitingCalls();
    const id = waitingCall?.call_id ?? '';
    const workerRestart = roundIndex === 2 ? stack.chrome.stopWorker() : Promise.resolve();
    const decisionCases = [
      () => fakeDesktop.press(notification, 'Deny'),
      () => terminalProcess.type('y'),
      () =>
        decideCall(stack, id, { allow: roundIndex % 2 === 0 }).then((answer) =>
          callOutcomes.push(JSON.stringify(answer)),
        ),
    ];
    await Promise.all(decisionCases.map((_, i) => decisionCases[(i + roundIndex) % decisionCases.length]?.()));
    await workerRestart;
    const exitCode = await terminalProcess.ended;
    const callRecord = (await fetchCallRecords(stack)).find((call) => call.call_id === id);
    const isAllowed = callRecord?.status === 'done';
    assert.equal(exitCode === 0, isAllowed, terminalProcess.text());
    const secondDecision = await decideCall(stack, id, { allow: true });
    assert.match(JSON.stringify(secondDecision), /"outcome":"(ended|already)"/, 'a late decision must have no effect');
    await waitFor('the notifications to close', () =>
      fakeDesktop.notifications().every(({ body }) => !body.includes(value)),
    );
  }
  assert.equal(callOutcomes.length, 6);
});

test('if the user answers in a notification first, a later answer in the form of the MCP client has no effect', async () => {
  let answerForm: (result: ElicitResult) => void = () => undefined;
  const formClient = await stack.connectHttp(() => new Promise((resolve) => (answerForm = resolve)));
  for (let roundIndex = 0; roundIndex < 4; roundIndex++) {
    const key = `form race ${roundIndex}`;
    const call = formClient.call('everything__change', { key });
    call.catch(() => undefined);
    const notification = await findNotification(key);
    if (roundIndex % 2 === 0) fakeDesktop.press(notification, 'Deny');
    answerForm({ action: 'accept', content: { decision: 'allow once' } });
    if (roundIndex % 2 === 1) fakeDesktop.press(notification, 'Deny');
    const callOutcome = await call;
    const hasNote = () => stack.site.receivedNotes.includes(`change ${key}`);
    if (callOutcome.code === 'denied') assert.equal(hasNote(), false, callOutcome.text);
    else await waitFor(`the change of ${key}: ${callOutcome.text}`, hasNote);
    assert.ok(stack.site.receivedNotes.filter((note) => note === `change ${key}`).length <= 1);
  }
});
