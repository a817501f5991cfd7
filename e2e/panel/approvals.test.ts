/** Promise: a tool that asks runs when a person allows it in the side panel, and only then. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { McpClient, Outcome } from '../harness/client.ts';
import { callRecord, decideCall, findCall } from '../harness/daemon-api.ts';
import { repositoryRoot } from '../harness/process.ts';
import { everythingPlugin, type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

const out = `${repositoryRoot}e2e/out`;
let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  mkdirSync(out, { recursive: true });
  stack = await startStack({ plugins: [everythingPlugin] });
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
beforeEach(() => permit('messages', 'ask'));
after(() => stack?.close());

async function permit(name: string, permission: string): Promise<void> {
  const { code, stderr } = await stack.runCli('plugin', 'permission', name, permission);
  assert.equal(code, 0, stderr);
}

/** echo calls the tool that asks; a failure is told by who awaits it. */
function echo(value: string, by: McpClient = client): Promise<Outcome> {
  const ended = by.call('messages__echo', { value });
  ended.catch(() => undefined);
  return ended;
}

/** card returns the question about a call with this value. */
function card(value: string): Locator {
  return panel.locator('.ticket:not(.gone)').filter({ hasText: value });
}

/** press presses a button of the question about a call until that counts: a card that moved, because one above it went, takes no press. */
async function press(value: string, name: string): Promise<void> {
  const asks = card(value);
  await asks.waitFor();
  await waitFor(`${name}, pressed for ${value}`, async () => {
    if ((await asks.count()) === 0) return true;
    await asks.getByRole('button', { name }).click({ timeout: 10_000 });
    await asks.waitFor({ state: 'detached', timeout: 2_000 });
    return true;
  });
}

test('allowed once: the arguments are shown, the call runs, the next one asks again', async () => {
  const ended = echo('first value');
  await card('first value').waitFor();
  assert.match(
    await card('first value').innerText(),
    /messages\s+echo[\s\S]*opentabs-e2e[\s\S]*"value": "first value"/,
  );
  await panel.screenshot({ path: `${out}/panel-approval.png` });
  await press('first value', 'Allow once');
  assert.match((await ended).text, /first value/);
  const next = echo('second value');
  await press('second value', 'Deny');
  assert.equal((await next).code, 'denied');
});

test('always: the tool runs for this client without a question, and the panel shows it', async () => {
  const ended = echo('for ever');
  await press('for ever', 'Allow always');
  await ended;
  assert.equal((await echo('no question')).isError, false);
  await panel.getByRole('tab', { name: /Plugins/ }).click();
  const messages = panel.locator('.plugins > li').filter({ has: panel.locator('[title=messages]') });
  await messages.getByText(/^\d+ tools/).click();
  await panel.getByText('always for client e2e').waitFor();
  await panel.getByRole('button', { name: 'Ask again' }).click();
  await panel.getByText('always for client e2e').waitFor({ state: 'detached' });
  await panel.getByRole('tab', { name: /Calls/ }).click();
  const asks = echo('asked again');
  await press('asked again', 'Deny');
  assert.equal((await asks).code, 'denied');
});

test('for some time: in every session of the client; for this session: in no other', async () => {
  const other = await stack.connectHttp();
  const timed = echo('some time');
  await press('some time', 'Allow for 10 min');
  await timed;
  assert.equal((await echo('in time', other)).isError, false);
  await permit('messages', 'ask'); // takes what was allowed back
  const session = echo('my session');
  await press('my session', 'Allow for this session');
  await session;
  assert.equal((await echo('mine')).isError, false);
  const foreign = echo('not mine', other);
  await press('not mine', 'Deny');
  assert.equal((await foreign).code, 'denied');
});

test('a client that cancels withdraws its question, and a late yes runs nothing', async () => {
  const stop = new AbortController();
  const ended = client.call('messages__echo', { value: 'withdrawn' }, { signal: stop.signal });
  ended.catch(() => undefined);
  await card('withdrawn').waitFor();
  const { call_id, waiting } = await findCall(stack, 'messages__echo', (call) => call.waiting !== undefined);
  stop.abort('enough');
  await panel.getByText('Withdrawn: the call was cancelled.').waitFor();
  const late = await decideCall(stack, call_id, { allow: true, ticket_id: waiting?.ticket_id });
  assert.match(JSON.stringify(late), /ended/);
  assert.equal((await callRecord(stack, call_id)).status, 'cancelled');
});

test('a question waits on while the panel and the link are gone', async () => {
  const ended = echo('patient');
  await card('patient').waitFor();
  await panel.reload();
  await card('patient').waitFor();
  const name = panel.getByLabel('This browser');
  await name.fill('Another name'); // is told to the server by a new link
  await name.press('Enter');
  await waitFor('the new link', async () => (await stack.runCli('status')).stdout.includes('Another name'));
  await press('patient', 'Allow once');
  assert.match((await ended).text, /patient/);
});

test('a tool that waits for the person goes on when the person is done', async () => {
  const ended = client.call('everything__login', { title: 'Log in', reason: 'The site wants to know you.' });
  ended.catch(() => undefined);
  await panel.getByText('The site wants to know you.').waitFor();
  await panel.locator('.call').getByText('not logged in').waitFor();
  await card('The site wants').getByRole('button', { name: 'Go to tab' }).waitFor();
  await press('The site wants', 'Done');
  assert.deepEqual((await ended).structured, { loggedIn: true });
  const stopped = client.call('everything__ask', { reason: 'A second thing.' });
  await press('A second thing', 'Stop');
  assert.match(JSON.stringify((await stopped).structured), /"code":"user_denied"/);
});

test('two surfaces at once: the first one counts, the other is told', async () => {
  // They would move the card, which then takes no press, and look like its outcome.
  await waitFor('no outcome of an earlier question', async () => (await panel.locator('.outcome').count()) === 0);
  const ended = echo('contested');
  const allow = card('contested').getByRole('button', { name: 'Allow once' });
  await waitFor('a button', async () => (await allow.getAttribute('aria-disabled')) === 'false');
  const button = await allow.elementHandle();
  const { call_id } = await findCall(stack, 'messages__echo', (call) => call.waiting !== undefined);
  const [, theirs] = await Promise.all([
    button?.evaluate((one) => one instanceof HTMLElement && one.click()),
    decideCall(stack, call_id, { allow: false }),
  ]);
  const won = (await ended).code === 'denied';
  assert.equal(Object(theirs).outcome === 'decided', won, JSON.stringify(theirs));
  const fate = won ? /Already denied by|Not run/ : /Allowed once/;
  await panel.locator('.outcome').filter({ hasText: fate }).waitFor();
});

test('allowed in the panel: a terminal that is late is told', async () => {
  const ended = client.call('messages__silent', { forMs: 4_000 });
  ended.catch(() => undefined);
  await press('"forMs": 4000', 'Allow once');
  const { call_id } = await findCall(stack, 'messages__silent', (call) => call.status === 'running');
  const late = await stack.runCli('calls', 'deny', call_id);
  assert.notEqual(late.code, 0);
  assert.match(late.stderr, /already allowed, by the side panel|not waiting for approval|has already ended/);
  assert.equal((await ended).isError, false);
});

test('allowed in a terminal: the panel says so', async () => {
  const ended = echo('by terminal');
  await card('by terminal').waitFor();
  const { call_id } = await findCall(stack, 'messages__echo', (call) => call.waiting !== undefined);
  assert.equal((await stack.runCli('calls', 'approve', call_id)).code, 0);
  assert.equal((await ended).isError, false);
  await panel.getByText('Already allowed elsewhere.').waitFor();
});

test('nobody decides in time: nothing runs, and the panel says so', async () => {
  const short = await startStack({ serveFlags: ['--decision-timeout', '1s'] });
  try {
    await short.runCli('plugin', 'permission', 'messages', 'ask');
    const shown = await short.chrome.openPanel();
    const ended = (await short.connectHttp()).call('messages__echo', { value: 'too late' });
    assert.equal((await ended).code, 'approval_timeout');
    await shown
      .locator('.ended')
      .getByText(/no approval within/)
      .waitFor();
    assert.equal(await shown.locator('.ticket:not(.gone)').count(), 0);
  } finally {
    await short.close();
  }
});
