/** The side panel sends exactly the decision that the user chose, and never sends a decision by mistake. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { makeCall, makeInspection, makeSuspendedCalls, makeWaitingCall, samplePlugins } from './sample-views.ts';

let fixture: PanelFixture;

before(async () => {
  fixture = await startPanelFixture();
});
beforeEach(async () => {
  fixture.server.answerRequest = () => ({});
  fixture.server.clearRequests();
  fixture.showCalls([]);
  await fixture.panel.reload();
  await fixture.panel.getByText('No tool is running.').waitFor();
});
after(() => fixture?.close());

async function waitForRequest(method: string): Promise<unknown> {
  return waitFor(method, () => fixture.server.requests.find((request) => request.method === method)?.params);
}

/**
 * clickWhenShown clicks a button as soon as it appears, like a user who wanted to click another element there.
 */
async function clickWhenShown(buttonSelector: string): Promise<void> {
  await fixture.panel.evaluate((buttonSelector) => {
    document.title = '';
    const buttonObserver = new MutationObserver(() => {
      const matches = document.querySelectorAll<HTMLElement>(buttonSelector);
      if (matches.length === 0) return;
      buttonObserver.disconnect();
      for (const button of matches) button.click();
      document.title = 'pressed';
    });
    buttonObserver.observe(document.body, { childList: true, subtree: true, attributes: true });
  }, buttonSelector);
}

const decidedResult = { outcome: 'decided', allowed: true };

test('each button of an approval card sends its decision, and the card shows the outcome', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => decidedResult;
  const decision = { callId: 's1', ticketId: 't1', allow: true };
  const decisionCases: [string, object, string][] = [
    ['Deny', { ...decision, allow: false }, 'Denied.'],
    ['Allow once', { ...decision, scope: 'once' }, 'Allowed once.'],
    ['Allow for 10 min', { ...decision, scope: 'time', forMs: 600_000 }, 'Allowed for 10 min.'],
    ['Allow for this session', { ...decision, scope: 'session' }, 'Allowed for this session.'],
    ['Allow always', { ...decision, scope: 'always' }, 'Allowed from now on.'],
  ];
  for (const [name, params, outcomeText] of decisionCases) {
    server.clearRequests();
    showCalls([makeWaitingCall('s1', 't1')]);
    await panel.getByRole('button', { name }).click();
    assert.deepEqual(await waitForRequest('call.decide'), params);
    showCalls([]);
    await panel.getByText(outcomeText).waitFor();
    await panel.reload();
  }
});

test('"Go to tab" activates the tab of a tool that waits for the user, and "Done" continues the call', async () => {
  const { panel, server, showCalls, sitePage, tabId } = fixture;
  server.answerRequest = () => decidedResult;
  showCalls(makeSuspendedCalls(tabId).slice(1, 2));
  await panel.bringToFront();
  await panel.getByRole('button', { name: 'Go to tab' }).click();
  await waitFor("the site's tab to become the active tab", () =>
    sitePage.evaluate(() => document.visibilityState === 'visible'),
  );
  await panel.bringToFront();
  await panel.getByRole('button', { name: /^Done/ }).click();
  assert.deepEqual(await waitForRequest('call.decide'), { callId: 's2', ticketId: 't2', allow: true });
});

test('"Deny all" stays usable if the panel is drawn again before all calls are denied', async () => {
  const { panel, server, showCalls } = fixture;
  let resolveDecision: (decideResult: object) => void = () => undefined;
  const decideResult = new Promise<object>((resolve) => {
    resolveDecision = resolve;
  });
  server.answerRequest = () => decideResult;
  const calls = [makeWaitingCall('s1', 't1'), makeWaitingCall('s2', 't2')];
  showCalls(calls);
  await panel.getByRole('button', { name: 'Deny all 2' }).click();
  await waitForRequest('call.decide');
  showCalls([...calls, makeWaitingCall('s3', 't3')]);
  await panel.getByText('Deny all 3').waitFor();
  resolveDecision({ outcome: 'decided', allowed: false });
  showCalls(calls.slice(0, 0));
  await panel.getByText('Denied.').nth(1).waitFor();
});

test('an approval card that has just appeared or moved ignores clicks and keys', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => decidedResult;
  await clickWhenShown('.ticket button');
  showCalls([makeWaitingCall('s1', 't1'), makeWaitingCall('s2', 't2')]);
  await panel.getByRole('button', { name: 'Deny' }).nth(1).waitFor();
  assert.ok(await panel.evaluate(() => document.activeElement === document.body), 'no button must have the focus');
  await panel.getByText('messages export_messages is waiting for approval. 2 waiting.').waitFor({ state: 'attached' });
  await panel.keyboard.press('Enter');
  const lastDenyButton = panel.getByRole('button', { name: 'Deny' }).nth(1);
  await waitFor(
    'the last Deny button to be enabled',
    async () => (await lastDenyButton.getAttribute('aria-disabled')) === 'false',
  );
  assert.equal(await panel.title(), 'pressed');
  assert.deepEqual(server.requests, []);
  await clickWhenShown('.gone + .ticket button');
  showCalls([makeWaitingCall('s2', 't2')]);
  await panel.getByText('The call is no longer waiting for approval.').waitFor();
  await waitFor('the script to press the button', () => panel.evaluate(() => document.title === 'pressed'));
  assert.deepEqual(server.requests, []);
  await panel.getByRole('button', { name: 'Deny' }).click();
  assert.deepEqual(await waitForRequest('call.decide'), { callId: 's2', ticketId: 't2', allow: false });
});

test('buttons that have just changed their position in an approval card ignore clicks', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => decidedResult;
  const longArgs = JSON.stringify(Array.from({ length: 30 }, (_, i) => i));
  const waitingCalls = ['t1', 't2', 't3', 't4'].map((id) => makeWaitingCall(id, id, { args: longArgs }));
  showCalls(waitingCalls.slice(0, 1));
  const denyButton = panel.getByRole('button', { name: 'Deny' }).first();
  await waitFor(
    'the Deny button to be enabled',
    async () => (await denyButton.getAttribute('aria-disabled')) === 'false',
  );
  // Each of many approval cards shows fewer lines of arguments, so the card's buttons change their position.
  await clickWhenShown('.crowded > :first-child button');
  showCalls(waitingCalls);
  await waitFor('the script to press the button', () => panel.evaluate(() => document.title === 'pressed'));
  await waitFor(
    'the Deny button to be enabled again',
    async () => (await denyButton.getAttribute('aria-disabled')) === 'false',
  );
  assert.deepEqual(server.requests, []);
  await denyButton.click();
  assert.deepEqual(await waitForRequest('call.decide'), { callId: 't1', ticketId: 't1', allow: false });
});

test('a card shows the error of a rejected decision, and the name of a surface that decided first', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => {
    throw new Error('permissions.json is read-only');
  };
  showCalls([makeWaitingCall('s1', 't1')]);
  await panel.getByRole('button', { name: 'Allow always' }).click();
  await panel.locator('.ticket').getByText('permissions.json is read-only').waitFor();
  server.answerRequest = () => ({ outcome: 'already', by: 'opentabs calls', allowed: false });
  await panel.getByRole('button', { name: 'Allow once' }).click();
  await waitFor('two requests to the server', () => server.requests.length === 2);
  showCalls([makeCall('s1', { status: 'failed', error: 'the user denied this call' })]);
  await panel.getByText('Already denied by opentabs calls.').waitFor();
});

test('the permission of a plugin or a tool is sent when selected, and reset when the server rejects it', async () => {
  const { panel, server } = fixture;
  server.notifyPanel('state.plugins', { plugins: samplePlugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const messagesPermission = panel.getByRole('combobox', { name: 'Permission of Messages' });
  await messagesPermission.selectOption('auto');
  assert.deepEqual(await waitForRequest('config.permission'), { plugin: 'messages', permission: 'auto' });
  server.notifyPanel('state.plugins', { plugins: samplePlugins.map((plugin) => ({ ...plugin, permission: 'auto' })) });
  await waitFor('the list of plugins to be rendered', async () => (await panel.locator('select.auto').count()) >= 3);
  server.notifyPanel('state.plugins', { plugins: samplePlugins }); // This notification simulates a change in the terminal.
  await waitFor(
    'the panel to show the permission that the server sent',
    async () => (await messagesPermission.inputValue()) === 'ask',
  );
  await panel.getByText('3 tools').first().click();
  server.clearRequests();
  await panel.getByRole('combobox', { name: 'Permission of post' }).selectOption('default');
  assert.deepEqual(await waitForRequest('config.permission'), { plugin: 'messages', tool: 'post' });
  server.answerRequest = () => {
    throw new Error('permissions.json is read-only');
  };
  const bankPermission = panel.getByRole('combobox', { name: 'Permission of Bank' });
  await bankPermission.selectOption('auto');
  await panel.getByText('permissions.json is read-only').waitFor();
  assert.equal(await bankPermission.inputValue(), 'off');
});

test('a review applies to the code that was shown to the user', async () => {
  const { panel, server } = fixture;
  let hash = samplePlugins[3]?.hash ?? '';
  server.answerRequest = (method) => (method === 'plugin.inspect' ? makeInspection({ hash }) : {});
  server.notifyPanel('state.plugins', { plugins: samplePlugins });
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  await panel.getByRole('button', { name: 'Review mail' }).click();
  const enableButton = panel.getByRole('button', { name: 'Review and enable' });
  await enableButton.waitFor();
  hash = 'ab'.repeat(32);
  server.notifyPanel('state.plugins', { plugins: samplePlugins.map((plugin) => ({ ...plugin, hash })) });
  await panel.getByRole('button', { name: 'Review mail' }).click(); // the panel does not show the new code yet
  await waitFor(
    'the button to accept clicks',
    async () => (await enableButton.getAttribute('aria-disabled')) === 'false',
  );
  await enableButton.click();
  assert.deepEqual(await waitForRequest('config.review'), { plugin: 'mail', hash, permission: 'ask' });
});

test('the keyboard focus reaches Deny first, and moves to the heading when the focused button disappears', async () => {
  const { panel, server, showCalls } = fixture;
  server.answerRequest = () => decidedResult;
  showCalls([makeWaitingCall('s1', 't1'), makeWaitingCall('s2', 't2')]);
  const denyButton = panel.getByRole('button', { name: 'Deny' }).first();
  await waitFor(
    'the Deny button to be enabled',
    async () => (await denyButton.getAttribute('aria-disabled')) === 'false',
  );
  const focusedText = () => panel.evaluate(() => document.activeElement?.textContent ?? '');
  await panel.keyboard.press('Tab');
  for (let i = 0; i < 20 && (await focusedText()) !== 'Deny'; i++) await panel.keyboard.press('Tab');
  assert.equal(await focusedText(), 'Deny', 'the first focused button must be Deny');
  await panel.keyboard.press('Enter');
  assert.deepEqual(await waitForRequest('call.decide'), { callId: 's1', ticketId: 't1', allow: false });
  showCalls([makeWaitingCall('s2', 't2')]);
  await panel.getByText('Denied.').waitFor();
  assert.match(await focusedText(), /Waiting for you/);
  await panel.keyboard.press('Enter');
  assert.equal(server.requests.length, 1);
});

test('an approval card of a nested call names the calling plugin, also in the text about longer permissions', async () => {
  const { panel, showCalls } = fixture;
  const reason = 'The plugin tickets (tab 7, https://site.test) wants to run messages__export_messages';
  const caller = { plugin: 'tickets', tool: 'tickets__file', tabId: 7, origin: 'https://site.test' };
  showCalls([makeWaitingCall('n1', 't1', { reason, caller })]);
  await panel.getByText(reason).waitFor();
  await panel.getByText('Allow the plugin tickets to run export_messages without asking again').waitFor();
  showCalls([makeWaitingCall('n2', 't2')]);
  await panel.getByText(/^Allow .+ without asking again$/).waitFor();
  await panel
    .getByText('Allow the plugin tickets to run export_messages without asking again')
    .waitFor({ state: 'detached' });
});
