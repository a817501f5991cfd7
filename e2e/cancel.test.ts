/** Promise: a cancelled call also stops the code in the page, for each way to cancel. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { startOpentabs } from './harness/process.ts';
import { type CallView, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
});
after(() => stack?.close());

/** slow returns a new channel that answers after 20 s. The page drops a request before that only if the call is cancelled. */
let channels = 0;
const slow = () => `c${++channels}-9-20000`;

const dropped = (channel: string) =>
  waitFor(`the page's request for ${channel} to be dropped`, () =>
    stack.site.abortedRequests.some((d) => d.startsWith(channel)),
  );
/** running waits until the page has requested the channel; a cancel before that drops no request. */
const running = (channel: string) =>
  waitFor('a running call', async () =>
    stack.site.requestedChannels.includes(channel)
      ? (await stack.listCalls()).find((c) => c.status === 'running')
      : undefined,
  );
const record = (id: string): Promise<CallView> =>
  waitFor('the outcome', async () =>
    (await stack.listCalls()).find((c) => c.call_id === id && c.stopped !== undefined),
  );

test('notifications/cancelled stops the page and gets no result', async () => {
  const channel = slow();
  const stop = new AbortController();
  const call = client.call('messages__export_messages', { channelId: channel }, { signal: stop.signal });
  const { call_id } = await running(channel);
  stop.abort('enough');
  await assert.rejects(call);
  await dropped(channel);
  const after = await record(call_id);
  assert.deepEqual([after.status, after.stopped], ['cancelled', 'aborted']);
});

test('the reason of a cancel reaches the page, the record and the error', async () => {
  const page = () => stack.page.evaluate(() => document.documentElement.dataset.aborted);
  // A call that is cancelled before its tool starts marks no page.
  const reporting = () =>
    waitFor('a call that reports', async () =>
      (await stack.listCalls()).find((c) => c.status === 'running' && c.reports > 0),
    );
  const beats = { everyMs: 100, forMs: 60_000 };
  const stop = new AbortController();
  const call = client.call('messages__heartbeat', beats, { signal: stop.signal });
  const first = await reporting();
  stop.abort('the wrong channel');
  await assert.rejects(call);
  await waitFor(
    'the page to receive the reason',
    async () => (await page()) === 'cancelled by the client: the wrong channel',
  );
  assert.equal((await record(first.call_id)).cancel_reason, 'the wrong channel');

  const other = client.call('messages__heartbeat', beats);
  const second = await reporting();
  const cancelled = await stack.runCli('calls', 'cancel', second.call_id, '--reason', 'it takes\ntoo long');
  assert.equal(cancelled.code, 0, cancelled.stderr);
  const out = await other;
  assert.match(out.text, /cancelled by the command line: it takes too long \(cancelled\)/);
  await waitFor('the page to receive the reason', async () => /: it takes too long$/.test(String(await page())));
  // The server writes the audit after it has answered.
  for (const reason of ['the wrong channel', 'it takes too long']) {
    await waitFor(`the reason "${reason}" in the audit`, async () =>
      (await stack.runCli('audit', '--json', '--last', '0')).stdout.includes(`"reason":"${reason}"`),
    );
  }
});

test('a client that disconnects stops the code in the page', async () => {
  const channel = slow();
  const leaving = await stack.connectStdio();
  const call = leaving.call('messages__export_messages', { channelId: channel }).catch((error: unknown) => error);
  const { call_id } = await running(channel);
  await leaving.close();
  assert.ok((await call) instanceof Error);
  await dropped(channel);
  assert.equal((await record(call_id)).status, 'cancelled');
});

test('a client cannot cancel a call of another client', async () => {
  const channel = slow();
  const other = await stack.connectHttp();
  const stop = new AbortController();
  const call = client.call('messages__export_messages', { channelId: channel }, { signal: stop.signal });
  const { call_id } = await running(channel);
  for (let id = 0; id < 50; id++) {
    await other.sdk.notification({ method: 'notifications/cancelled', params: { requestId: id, reason: 'mischief' } });
  }
  // Each request was answered, so the server has processed all of them.
  assert.equal((await stack.listCalls()).find((c) => c.call_id === call_id)?.status, 'running');
  stop.abort('enough');
  await assert.rejects(call);
  await dropped(channel);
});

test('Ctrl-C in opentabs call stops the code in the page', async () => {
  const channel = slow();
  const cli = startOpentabs(['call', 'messages__export_messages', '--arg', `channelId=${channel}`], stack.env);
  const { call_id } = await running(channel);
  cli.child.kill('SIGINT');
  const { code } = await cli.ended;
  assert.equal(code, 130);
  await dropped(channel);
  assert.equal((await record(call_id)).status, 'cancelled');
});

test('the stop button of the side panel stops the code in the page, and the client receives the error', async () => {
  const channel = slow();
  const panel = await stack.chrome.openPanel();
  const call = client.call('messages__export_messages', { channelId: channel });
  call.catch(() => undefined); // awaited below; an earlier failure is more useful
  const stop = panel.getByRole('button', { name: /stop/i }).first();
  await running(channel);
  await stop.click();
  const out = await call;
  assert.equal(out.code, 'cancelled', out.text);
  assert.match(out.text, /side panel/);
  await dropped(channel);
});

test('a cancelled call frees its slot for the next call', async () => {
  const out = await client.call('messages__echo', { value: 'still here' });
  assert.equal(out.isError, false, out.text);
});
