/** Browser and daemon reconnect automatically after a lost link, and running calls end as documented. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack();
  client = await stack.connectHttp();
});
after(() => stack?.close());

test('a call continues after the service worker was killed, with its progress and its result', async () => {
  const reportedNumbers: number[] = [];
  const call = client.call(
    'messages__countdown',
    { from: 6, intervalMs: 500 },
    { onProgress: (report) => reportedNumbers.push(report.progress) },
  );
  await waitFor('the first report of the call', () => reportedNumbers.length > 0);
  await stack.chrome.stopWorker();
  const callOutcome = await call;
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.equal(callOutcome.progress.at(-1)?.progress, 6);
});

test('the next call after the service worker was killed succeeds', async () => {
  await stack.chrome.stopWorker();
  const callOutcome = await client.call('messages__echo', { value: 'next' });
  assert.equal(callOutcome.isError, false, callOutcome.text);
});

test('the browser and the clients reconnect to a server that was killed and restarted', async () => {
  const stdioClient = await stack.connectStdio();
  const interruptedCall = stdioClient.call('messages__heartbeat', { everyMs: 100, forMs: 60_000 }).then(
    (callOutcome) => callOutcome.text,
    (error: unknown) => String(error),
  );
  await waitFor('a running call that has reported progress', async () =>
    (await stack.listCalls()).some((call) => call.status === 'running' && call.reports > 0),
  );
  await stack.restartDaemon('SIGKILL');
  assert.match(await interruptedCall, /restarted/);
  const startMs = performance.now();
  await stack.waitForPlugins('/');
  // Without retries by the extension, the link would return only at Chrome's next alarm, up to 30 s later.
  assert.ok(performance.now() - startMs < 25_000, 'the browser must reconnect within 25 s');
  const callOutcome = await stdioClient.call('messages__echo', { value: 'again' });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  await waitFor('the page to receive the cancel of its call', () =>
    stack.page.evaluate(() => document.documentElement.dataset.aborted !== undefined),
  );
});

test('calls that run when the server stops fail with shutdown', async () => {
  const httpClient = await stack.connectHttp();
  const call = httpClient.call('messages__silent', { forMs: 60_000 }).then(
    (callOutcome) => callOutcome.code,
    (error: unknown) => String(error),
  );
  await waitFor('the call to run', async () => (await stack.listCalls()).find((call) => call.status === 'running'));
  await stack.restartDaemon('SIGTERM');
  assert.equal(await call, 'shutdown');
  await stack.waitForPlugins('/');
});
