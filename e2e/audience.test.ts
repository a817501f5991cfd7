/** Each surface shows the user only progress reports for the audience "user". */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { McpClient } from './harness/client.ts';
import { findCall } from './harness/daemon-api.ts';
import { runOrThrow, startOpentabs, stopProcess } from './harness/process.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
let panel: Page;

before(async () => {
  stack = await startStack({ plugins: [everythingPlugin], serveFlags: ['--progress-interval', '0s'] });
  client = await stack.connectHttp();
  panel = await stack.chrome.openPanel();
});
after(() => stack?.close());

async function makeThreeCalls() {
  const stepsOutcome = await client.call('everything__steps', {
    count: 4,
    everyMs: 150,
    userEvery: 2,
    endAudience: 'user',
  });
  const internalAudienceOutcome = await client.call('everything__steps', { count: 3, everyMs: 100 });
  const failedCall = await client.call('everything__fail', { code: 'ODD', message: 'it went wrong' });
  assert.deepEqual(
    [stepsOutcome.isError, internalAudienceOutcome.isError, failedCall.isError],
    [false, false, true],
    stepsOutcome.text,
  );
  return { stepsOutcome, internalOnly: internalAudienceOutcome };
}

function subscribeToEvents(filter: string) {
  const controller = new AbortController();
  const eventStream = { text: '', stop: () => controller.abort() };
  const response = fetch(`http://127.0.0.1:${stack.port}/events${filter}`, {
    headers: { authorization: `Bearer ${stack.token}` },
    signal: controller.signal,
  });
  const readStream = response.then(async ({ body }) => {
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) eventStream.text += decoder.decode(chunk, { stream: true });
  });
  readStream.catch(() => undefined);
  return { read: eventStream, started: waitFor(`/events${filter}`, () => eventStream.text.includes(': following')) };
}

test('terminals and /events filter reports by audience; agents and the audit log get all reports', async () => {
  const userEventsCommand = startOpentabs(['calls', '--follow'], stack.env);
  const allEventsCommand = startOpentabs(['calls', '--follow', '--verbose'], stack.env);
  const allEvents = subscribeToEvents('');
  const userEvents = subscribeToEvents('?audience=user');
  await Promise.all([allEvents.started, userEvents.started]);
  await waitFor(
    'all terminals to start following',
    () => userEventsCommand.stderr().includes('following') && allEventsCommand.stderr().includes('following'),
  );

  const { stepsOutcome, internalOnly } = await makeThreeCalls();

  assert.deepEqual(
    stepsOutcome.progress.map((report) => [report.message, '_meta' in report && report._meta]),
    [1, 2, 3, 4].map((reportNumber) => [
      `${reportNumber % 2 ? 'internal' : 'user'} step ${reportNumber}`,
      { 'opentabs/audience': reportNumber % 2 ? 'internal' : 'user' },
    ]),
  );
  assert.equal(internalOnly.progress.length, 3);

  await waitFor('the last event of the failed call', () => userEventsCommand.stdout().includes('it went wrong'));
  await waitFor('the last event of the failed call', () => allEventsCommand.stdout().includes('it went wrong'));
  await waitFor('the last event of the failed call', () => allEvents.read.text.includes('it went wrong'));
  await waitFor('the last event of the failed call', () => userEvents.read.text.includes('it went wrong'));
  for (const [name, auditText, includesInternal] of [
    ['calls --follow', userEventsCommand.stdout(), false],
    ['calls --follow --verbose', allEventsCommand.stdout(), true],
    ['/events', allEvents.read.text, true],
    ['/events?audience=user', userEvents.read.text, false],
  ] as const) {
    for (const progressMessage of ['user step 2', 'user step 4', 'it went wrong'])
      assert.ok(auditText.includes(progressMessage), `${name} must contain the message "${progressMessage}"`);
    assert.equal(auditText.includes('internal step 1'), includesInternal, `${name}: ${auditText}`);
  }
  assert.equal((userEvents.read.text.match(/^event: ended$/gm) ?? []).length, 3);
  assert.equal((allEvents.read.text.match(/^event: ended$/gm) ?? []).length, 3);
  await Promise.all([stopProcess(userEventsCommand), stopProcess(allEventsCommand)]);
  allEvents.read.stop();
  userEvents.read.stop();

  // The audit contains the messages of all calls, for every audience.
  const auditLog = await waitFor('the audit log to contain the calls', async () => {
    const auditText = await runOrThrow(['audit', '--json'], stack.env);
    return auditText.includes('user step 4') && auditText.includes('internal step 3') ? auditText : undefined;
  });
  assert.equal((auditLog.match(/"audience":"user","last_messages"/g) ?? []).length, 1, auditLog);
});

test('the side panel shows reports for the user only, and all reports if "Show everything" is on', async () => {
  const call = client.call('everything__steps', { count: 40, everyMs: 300, userEvery: 5 });
  const card = panel.locator('.call').filter({ hasText: 'steps' });
  await findCall(
    stack,
    'everything__steps',
    (call) => call.status === 'running' && /internal step/.test(call.message ?? ''),
  );
  await card.getByText(/user step/).waitFor();
  assert.equal(await card.getByText(/internal step/).count(), 0);
  await panel.getByRole('switch', { name: 'Show everything' }).check();
  await card.getByText(/internal step/).waitFor();
  assert.equal((await call).isError, false);
  await panel.locator('.ended').getByText('steps').first().waitFor();
  await panel.getByRole('switch', { name: 'Show everything' }).uncheck();
});
