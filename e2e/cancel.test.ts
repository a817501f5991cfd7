/** Every way to cancel a call also stops the tool's code in the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import type { CallRecord } from './harness/daemon-api.ts';
import { startOpentabs } from './harness/process.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
});
after(() => stack?.close());

let channelCount = 0;
/** The test site delays each response for a slow channel by 20 s. */
const makeSlowChannelId = () => `c${++channelCount}-9-20000`;

const waitForAbortedRequest = (channel: string) =>
  waitFor(`the page to abort its request for ${channel}`, () =>
    stack.site.abortedRequests.some((path) => path.startsWith(channel)),
  );
/** A call must not be cancelled before the page sends its HTTP request, because no request would be aborted. */
const waitForRunningCall = (channel: string) =>
  waitFor('a running call that has requested its channel', async () =>
    stack.site.requestedChannels.includes(channel)
      ? (await stack.listCalls()).find((call) => call.status === 'running')
      : undefined,
  );
const waitForStoppedCall = (id: string): Promise<CallRecord> =>
  waitFor('the outcome of the cancelled call', async () =>
    (await stack.listCalls()).find((call) => call.call_id === id && call.stopped !== undefined),
  );

test('notifications/cancelled stops the code in the page, and the client gets no result', async () => {
  const channel = makeSlowChannelId();
  const stopController = new AbortController();
  const call = client.call('messages__export_messages', { channelId: channel }, { signal: stopController.signal });
  const { call_id } = await waitForRunningCall(channel);
  stopController.abort('enough');
  await assert.rejects(call);
  await waitForAbortedRequest(channel);
  const stoppedCall = await waitForStoppedCall(call_id);
  assert.deepEqual([stoppedCall.status, stoppedCall.stopped], ['cancelled', 'aborted']);
});

test('the reason of a cancel reaches the page, the record and the error', async () => {
  const readAbortReason = () => stack.page.evaluate(() => document.documentElement.dataset.aborted);
  // Wait for a progress report, because a tool that is cancelled before its start writes nothing to the page.
  const waitForReportingCall = () =>
    waitFor('a call that reports', async () =>
      (await stack.listCalls()).find((call) => call.status === 'running' && call.reports > 0),
    );
  const heartbeatArgs = { everyMs: 100, forMs: 60_000 };
  const stopController = new AbortController();
  const call = client.call('messages__heartbeat', heartbeatArgs, { signal: stopController.signal });
  const firstCallRecord = await waitForReportingCall();
  stopController.abort('the wrong channel');
  await assert.rejects(call);
  await waitFor(
    'the page to receive the reason of the cancel',
    async () => (await readAbortReason()) === 'cancelled by the client: the wrong channel',
  );
  assert.equal((await waitForStoppedCall(firstCallRecord.call_id)).cancel_reason, 'the wrong channel');

  const secondCall = client.call('messages__heartbeat', heartbeatArgs);
  const secondCallRecord = await waitForReportingCall();
  const cancelResult = await stack.runCli(
    'calls',
    'cancel',
    secondCallRecord.call_id,
    '--reason',
    'it takes\ntoo long',
  );
  assert.equal(cancelResult.code, 0, cancelResult.stderr);
  const callOutcome = await secondCall;
  assert.match(callOutcome.text, /cancelled by the command line: it takes too long \(cancelled\)/);
  await waitFor('the page to receive the reason of the cancel', async () =>
    /: it takes too long$/.test(String(await readAbortReason())),
  );
  // The daemon writes the audit entry of a cancellation only after its response to the request.
  for (const reason of ['the wrong channel', 'it takes too long']) {
    await waitFor(`the reason "${reason}" in the audit`, async () =>
      (await stack.runCli('audit', '--json', '--last', '0')).stdout.includes(`"reason":"${reason}"`),
    );
  }
});

test('a client that disconnects stops the code in the page', async () => {
  const channel = makeSlowChannelId();
  const leavingClient = await stack.connectStdio();
  const call = leavingClient.call('messages__export_messages', { channelId: channel }).catch((error: unknown) => error);
  const { call_id } = await waitForRunningCall(channel);
  await leavingClient.close();
  assert.ok((await call) instanceof Error);
  await waitForAbortedRequest(channel);
  assert.equal((await waitForStoppedCall(call_id)).status, 'cancelled');
});

test('a client cannot cancel a call of another client', async () => {
  const channel = makeSlowChannelId();
  const otherClient = await stack.connectHttp();
  const stopController = new AbortController();
  const call = client.call('messages__export_messages', { channelId: channel }, { signal: stopController.signal });
  const { call_id } = await waitForRunningCall(channel);
  for (let id = 0; id < 50; id++) {
    await otherClient.sdk.notification({
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'mischief' },
    });
  }
  assert.equal((await stack.listCalls()).find((call) => call.call_id === call_id)?.status, 'running');
  stopController.abort('enough');
  await assert.rejects(call);
  await waitForAbortedRequest(channel);
});

test('Ctrl-C in opentabs call stops the code in the page', async () => {
  const channel = makeSlowChannelId();
  const command = startOpentabs(['call', 'messages__export_messages', '--arg', `channelId=${channel}`], stack.env);
  const { call_id } = await waitForRunningCall(channel);
  command.child.kill('SIGINT');
  const { code } = await command.commandResult;
  assert.equal(code, 130);
  await waitForAbortedRequest(channel);
  assert.equal((await waitForStoppedCall(call_id)).status, 'cancelled');
});

test('the stop button of the side panel stops the code in the page, and the client receives the error', async () => {
  const channel = makeSlowChannelId();
  const panel = await stack.chrome.openPanel();
  const call = client.call('messages__export_messages', { channelId: channel });
  call.catch(() => undefined); // handled below; an earlier failure has the clearer message
  const stopButton = panel.getByRole('button', { name: /stop/i }).first();
  await waitForRunningCall(channel);
  await stopButton.click();
  const callOutcome = await call;
  assert.equal(callOutcome.code, 'cancelled', callOutcome.text);
  assert.match(callOutcome.text, /side panel/);
  await waitForAbortedRequest(channel);
});

test('a cancelled call frees its slot for the next call', async () => {
  const callOutcome = await client.call('messages__echo', { value: 'still here' });
  assert.equal(callOutcome.isError, false, callOutcome.text);
});
