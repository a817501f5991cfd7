/** A call runs as long as it reports progress, up to the hard limit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallOutcome, McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({
    serveFlags: ['--idle-timeout', '5s', '--hard-timeout', '15s', '--progress-interval', '0s'],
  });
  client = await stack.connectHttp();
});
after(() => stack?.close());

/**
 * The unit tests of package dispatch check the exact time limit in fake time, so assertRanUntilTimeout accepts a late
 * end.
 */
function assertRanUntilTimeout(callOutcome: CallOutcome, limitMs: number): void {
  assert.ok(
    callOutcome.durationMs >= limitMs - 5,
    `the call took ${callOutcome.durationMs} ms, want at least its limit of ${limitMs} ms`,
  );
}

const readAbortReason = () => stack.page.evaluate(() => document.documentElement.dataset.aborted);

test('a call that reports progress runs longer than the idle limit and returns its result', async () => {
  const callOutcome = await client.call('messages__export_messages', { channelId: 'general-5-1500' });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.ok(callOutcome.durationMs > 7_000, `the call took ${callOutcome.durationMs} ms, want more than 7,000`);
  assert.deepEqual(
    callOutcome.progress.map((report) => [report.progress, report.total, report.message]),
    [1, 2, 3, 4, 5].map((pageNumber) => [pageNumber, 5, `${pageNumber * 10} messages read`]),
  );
  assert.deepEqual(Object(callOutcome.structured).count, 50);
});

test('progress reports reset the idle timer even if the client sent no progress token', async () => {
  const callOutcome = await client.call(
    'messages__heartbeat',
    { everyMs: 1_000, forMs: 7_000 },
    { omitsProgressToken: true },
  );
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.equal(callOutcome.progress.length, 0);
});

test('a call continues if only the sum of its gaps exceeds the idle limit', async () => {
  const callOutcome = await client.call('messages__heartbeat', { everyMs: 1_500, forMs: 7_500 });
  assert.equal(callOutcome.isError, false, callOutcome.text);
});

test('a silent call times out at the idle limit, and the page receives the abort', async () => {
  const callOutcome = await client.call('messages__silent', { forMs: 60_000 });
  assert.equal(callOutcome.code, 'idle_timeout', callOutcome.text);
  assertRanUntilTimeout(callOutcome, 5_000);
  assert.match(callOutcome.text, /It ran \d+(\.\d)? s and reported no progress\. The (page|tool) .*stop/);
  await waitFor('the page to receive the reason of the abort', async () =>
    /no progress/.test(String(await readAbortReason())),
  );
});

test('a call that never stops reporting times out at the hard limit, and the page receives the abort', async () => {
  const callOutcome = await client.call('messages__heartbeat', { everyMs: 500, forMs: 0 });
  assert.equal(callOutcome.code, 'deadline_exceeded', callOutcome.text);
  assertRanUntilTimeout(callOutcome, 15_000);
  assert.match(
    callOutcome.text,
    /It ran \d+(\.\d)? s; the last progress, report \d+, came \d+(\.\d)? m?s before the end/,
  );
  await waitFor('the page to receive the reason of the abort', async () =>
    /hard limit of 15 s/.test(String(await readAbortReason())),
  );
});

test('the record of a call shows that the handler ignored the abort', async () => {
  const callOutcome = await client.call('messages__stubborn', { forMs: 12_000 });
  assert.equal(callOutcome.code, 'idle_timeout', callOutcome.text);
  assertRanUntilTimeout(callOutcome, 5_000);
  const callRecord = await waitFor('the outcome', async () =>
    (await stack.listCalls()).find((call) => call.tool_name === 'messages__stubborn' && call.stopped !== undefined),
  );
  assert.equal(callRecord.stopped, 'ignored');
});
