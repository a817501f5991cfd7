/** A tool with the permission "ask" runs only after the user has approved the call in the side panel. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { CallOutcome, McpClient } from '../harness/client.ts';
import { decideCall, fetchCallRecord, fetchCallRecords, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot } from '../harness/process.ts';
import { everythingPlugin, type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

const screenshotFolder = `${repositoryRoot}e2e/out`;
let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  mkdirSync(screenshotFolder, { recursive: true });
  stack = await startStack({ plugins: [everythingPlugin] });
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
beforeEach(() => setPermission('messages', 'ask'));
after(() => stack?.close());

async function setPermission(name: string, permission: string): Promise<void> {
  const { code, stderr } = await stack.runCli('plugin', 'permission', name, permission);
  assert.equal(code, 0, stderr);
}

/** If the call fails, only a test that awaits the promise of callEcho receives the error. */
function callEcho(value: string, caller: McpClient = client): Promise<CallOutcome> {
  const callOutcome = caller.call('messages__echo', { value });
  callOutcome.catch(() => undefined);
  return callOutcome;
}

function findWaitingCard(value: string): Locator {
  return panel.locator('.ticket:not(.gone)').filter({ hasText: value });
}

/** pressButton presses the button again and again, because an approval card that has just moved ignores clicks. */
async function pressButton(value: string, name: string): Promise<void> {
  const { call_id, waiting: waitingView } = await waitFor('a call that waits for approval', async () =>
    (await fetchCallRecords(stack)).find((call) => call.waiting !== undefined),
  );
  const isApprovalDecided = async () =>
    (await fetchCallRecord(stack, call_id)).waiting?.ticket_id !== waitingView?.ticket_id;
  await waitFor(`${name}, pressed for ${value}`, async () => {
    if (await isApprovalDecided()) return true;
    await findWaitingCard(value).getByRole('button', { name }).click({ timeout: 10_000 });
    await findWaitingCard(value).waitFor({ state: 'detached', timeout: 2_000 });
    return await isApprovalDecided();
  });
}

test('a call that the user allows once runs with the shown arguments, and the next call needs approval again', async () => {
  const call = callEcho('first value');
  await findWaitingCard('first value').waitFor();
  assert.match(
    await findWaitingCard('first value').innerText(),
    /echo[\s\S]*messages\s+echo[\s\S]*e2e[\s\S]*value\s+first value/i,
  );
  await panel.screenshot({ path: `${screenshotFolder}/panel-approval.png` });
  await pressButton('first value', 'Allow once');
  assert.match((await call).text, /first value/);
  const nextCall = callEcho('second value');
  await pressButton('second value', 'Deny');
  assert.equal((await nextCall).code, 'denied');
});

test('"Allow always" lets the client run the tool without approval until the user presses "Ask again"', async () => {
  const call = callEcho('first call');
  await pressButton('first call', 'Allow always');
  await call;
  assert.equal((await callEcho('second call')).isError, false);
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const messagesPlugin = panel.locator('.plugins > li').filter({ has: panel.locator('[title=messages]') });
  await messagesPlugin.getByText(/^\d+ tools/).click();
  await panel.getByText('always for client e2e').waitFor();
  await panel.getByRole('button', { name: 'Ask again' }).click();
  await panel.getByText('always for client e2e').waitFor({ state: 'detached' });
  await panel.getByRole('tab', { name: /Calls/ }).click();
  const thirdCall = callEcho('third call');
  await pressButton('third call', 'Deny');
  assert.equal((await thirdCall).code, 'denied');
});

test('"Allow for 10 min" applies to all sessions of the client, and "Allow for this session" to one session', async () => {
  const otherClient = await stack.connectHttp();
  const temporarilyApprovedCall = callEcho('some time');
  await pressButton('some time', 'Allow for 10 min');
  await temporarilyApprovedCall;
  assert.equal((await callEcho('in time', otherClient)).isError, false);
  await setPermission('messages', 'ask'); // setting a permission revokes the earlier grants of the tool
  const sessionApprovedCall = callEcho('my session');
  await pressButton('my session', 'Allow for this session');
  await sessionApprovedCall;
  assert.equal((await callEcho('mine')).isError, false);
  const otherClientCall = callEcho('not mine', otherClient);
  await pressButton('not mine', 'Deny');
  assert.equal((await otherClientCall).code, 'denied');
});

test('an approval card unfolds a long argument, and shows the arguments as JSON', async () => {
  const value = `long ${'x '.repeat(1000)}end`;
  const call = callEcho(value);
  const card = findWaitingCard('long x');
  const collapsedValue = card.locator('.value.folded');
  await collapsedValue.waitFor();
  await card.getByRole('button', { name: 'Show all of value' }).click();
  await collapsedValue.waitFor({ state: 'detached' });
  const valueBox = await card.locator('dd .value').boundingBox();
  assert.ok(
    valueBox !== null && valueBox.height > 100,
    `the value is ${valueBox?.height} px high, so the user sees only a part`,
  );
  const json = card.getByLabel('Arguments as JSON');
  assert.equal(await json.isVisible(), false);
  await card.getByText('JSON', { exact: true }).click();
  await json.waitFor();
  assert.deepEqual(JSON.parse((await json.textContent()) ?? ''), { value });
  await pressButton('long x', 'Deny');
  assert.equal((await call).code, 'denied');
});

test('"Deny all" denies each waiting call, and a call that comes later waits for approval', async () => {
  const calls = ['one of three', 'two of three', 'three of three'].map((value) => callEcho(value));
  const button = panel.getByRole('button', { name: 'Deny all 3' });
  await button.waitFor();
  await waitFor('"Deny all", pressed until it takes effect', async () => {
    if ((await button.count()) === 0) return true;
    await button.click({ timeout: 10_000 }); // a button that has just moved ignores clicks
    await button.waitFor({ state: 'detached', timeout: 2_000 });
    return true;
  });
  for (const call of calls) assert.equal((await call).code, 'denied');
  await panel.locator('.outcome').filter({ hasText: 'Denied' }).nth(2).waitFor();
  const laterCall = callEcho('later than all');
  await pressButton('later than all', 'Allow once');
  assert.equal((await laterCall).isError, false);
});

/** throwLineNumber is the number of the source line in which the tool everything__fail throws its error. */
const throwLineNumber =
  readFileSync(`${repositoryRoot}e2e/testdata/everything/src/index.ts`, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes('throw new ToolError(message, code, { retryable })')) + 1;

test('the developer view shows the stack of a thrown error in the files of the author', async () => {
  assert.equal(
    (await client.call('everything__fail', { code: 'BROKEN', message: 'It is broken.' })).code,
    'tool_error',
  );
  const brokenCallRow = panel.locator('.ended > li', { hasText: 'It is broken.' }).first();
  await brokenCallRow.locator('summary').first().click();
  await brokenCallRow.getByText('Developer', { exact: true }).click();
  const stack = brokenCallRow.getByLabel('Stack', { exact: true });
  await stack.waitFor();
  assert.match((await stack.textContent()) ?? '', new RegExp(`^at src/index\\.ts:${throwLineNumber}:11\\n`));
});

test('a client that cancels its call withdraws the approval card, and a late approval runs nothing', async () => {
  const stopController = new AbortController();
  const call = client.call('messages__echo', { value: 'withdrawn' }, { signal: stopController.signal });
  call.catch(() => undefined);
  await findWaitingCard('withdrawn').waitFor();
  const { call_id, waiting: waitingView } = await findCall(
    stack,
    'messages__echo',
    (call) => call.waiting !== undefined,
  );
  stopController.abort('enough');
  await panel.getByText('Withdrawn: the call was cancelled.').waitFor();
  const secondDecision = await decideCall(stack, call_id, { allow: true, ticket_id: waitingView?.ticket_id });
  assert.match(JSON.stringify(secondDecision), /ended/);
  assert.equal((await fetchCallRecord(stack, call_id)).status, 'cancelled');
});

test('an approval card stays while the panel reloads and the browser reconnects', async () => {
  const call = callEcho('reconnected');
  await findWaitingCard('reconnected').waitFor();
  await panel.reload();
  await findWaitingCard('reconnected').waitFor();
  const name = panel.getByLabel('This browser');
  await name.fill('Another name'); // the browser reconnects to send its new name
  await name.press('Enter');
  await waitFor('the browser to reconnect under its new name', async () =>
    (await stack.runCli('status')).stdout.includes('Another name'),
  );
  await pressButton('reconnected', 'Allow once');
  assert.match((await call).text, /reconnected/);
});

test('a tool that waits for the user continues when the user presses Done, and fails when the user presses Stop', async () => {
  const call = client.call('everything__login', { title: 'Log in', reason: 'The site needs your password.' });
  call.catch(() => undefined);
  await panel.locator('.reason', { hasText: 'The site needs your password.' }).waitFor();
  await panel.locator('.call').getByText('not logged in').waitFor();
  await findWaitingCard('The site needs').getByRole('button', { name: 'Go to tab' }).waitFor();
  await pressButton('The site needs', 'Done');
  assert.deepEqual((await call).structured, { loggedIn: true });
  const stoppedCall = client.call('everything__wait_for_user', { reason: 'A second thing.' });
  await pressButton('A second thing', 'Stop');
  assert.match(JSON.stringify((await stoppedCall).structured), /"code":"user_denied"/);
});

test('if two surfaces decide at the same time, the first decision counts and the other surface shows it', async () => {
  // When an outcome card disappears, the approval card moves up, and a card that has just moved ignores clicks.
  await waitFor(
    'the outcomes of earlier calls to disappear',
    async () => (await panel.locator('.outcome').count()) === 0,
  );
  const raceCall = callEcho('contested');
  const allowButton = findWaitingCard('contested').getByRole('button', { name: 'Allow once' });
  await waitFor(
    'the Allow button to be enabled',
    async () => (await allowButton.getAttribute('aria-disabled')) === 'false',
  );
  const button = await allowButton.elementHandle();
  const { call_id } = await findCall(stack, 'messages__echo', (call) => call.waiting !== undefined);
  const [, decision] = await Promise.all([
    button?.evaluate((element) => element instanceof HTMLElement && element.click()),
    decideCall(stack, call_id, { allow: false }),
  ]);
  const isDenied = (await raceCall).code === 'denied';
  assert.equal(Object(decision).outcome === 'decided', isDenied, JSON.stringify(decision));
  const outcomePattern = isDenied ? /Already denied by|Not run/ : /Allowed once/;
  await panel.locator('.outcome').filter({ hasText: outcomePattern }).waitFor();
});

test('a terminal that decides after the panel prints that the call was already allowed', async () => {
  const silentCall = client.call('messages__silent', { forMs: 4_000 });
  silentCall.catch(() => undefined);
  await pressButton('"forMs": 4000', 'Allow once');
  const { call_id } = await findCall(stack, 'messages__silent');
  const repeatedDenial = await stack.runCli('calls', 'deny', call_id);
  assert.notEqual(repeatedDenial.code, 0);
  assert.match(repeatedDenial.stderr, /already allowed, by the side panel|not waiting for approval|has already ended/);
  assert.equal((await silentCall).isError, false);
});

test('the panel shows that a call was allowed in a terminal', async () => {
  const call = callEcho('by terminal');
  await findWaitingCard('by terminal').waitFor();
  const { call_id } = await findCall(stack, 'messages__echo', (call) => call.waiting !== undefined);
  assert.equal((await stack.runCli('calls', 'approve', call_id)).code, 0);
  assert.equal((await call).isError, false);
  await panel.getByText('Already allowed by the command line.').waitFor();
});

test('a call whose approval times out does not run, and the panel shows the reason', async () => {
  await stack.restartDaemon('SIGTERM', ['--decision-timeout', '1s']);
  await stack.waitForPlugins('/');
  const call = callEcho('too late', await stack.connectHttp());
  assert.equal((await call).code, 'approval_timeout');
  await panel
    .locator('.ended')
    .getByText(/no approval within/)
    .waitFor();
  assert.equal(await panel.locator('.ticket:not(.gone)').count(), 0);
});
