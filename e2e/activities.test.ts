/**
 * The activities of a tool arrive complete and in order, and the daemon keeps the activities after the call
 * ends.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { fetchCallRecord, findCall } from './harness/daemon-api.ts';
import { runOrThrow, startOpentabs } from './harness/process.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ plugins: [everythingPlugin] });
  client = await stack.connectHttp();
});
after(() => stack?.close());

async function runDeltasTool(args: Record<string, unknown>) {
  const callOutcome = await client.call('everything__deltas', args);
  assert.equal(callOutcome.isError, false, callOutcome.text);
  const { call_id } = await findCall(stack, 'everything__deltas', (call) => call.status === 'done');
  return await fetchCallRecord(stack, call_id);
}

const makeRows = (count: number) => Array.from({ length: count }, (_, i) => [i + 1]);

test('1,000 deltas sent in one loop are applied in order', async () => {
  const { activities } = await runDeltasTool({ count: 1000, audience: 'user' });
  assert.deepEqual(activities, [
    { type: 'table', content: { columns: ['n'], rows: makeRows(1000) }, audience: 'user' },
  ]);
});

test('a patch that cannot be applied is dropped as a whole, and later patches are applied', async () => {
  const [table] = (await runDeltasTool({ count: 100, addInvalidPatch: true })).activities ?? [];
  assert.deepEqual(table?.content, { columns: ['n'], rows: makeRows(100) });
  assert.ok((table?.dropped ?? 0) >= 1);
});

test('the record of a running call has its activities, also after the service worker was killed', async () => {
  const stopController = new AbortController();
  const call = client.call('everything__deltas', { count: 5, forMs: 20_000 }, { signal: stopController.signal });
  const runningCall = await findCall(stack, 'everything__deltas', (call) => call.status === 'running');
  const readContent = async () => (await fetchCallRecord(stack, runningCall.call_id)).activities?.[0]?.content;
  const allRows = { columns: ['n'], rows: makeRows(5) };
  await waitFor(
    'the activity of the call to have five rows',
    async () => JSON.stringify(await readContent()) === JSON.stringify(allRows),
  );
  await stack.chrome.stopWorker();
  assert.deepEqual(await readContent(), allRows);
  stopController.abort();
  await assert.rejects(call);
  // The MCP client returns from a cancelled call before the daemon has cancelled the call.
  await waitFor(
    'the call to end',
    async () => (await fetchCallRecord(stack, runningCall.call_id)).status !== 'running',
  );
});

test('opentabs calls show --follow prints the activities for the user until the call ends', async () => {
  const call = client.call('everything__deltas', { count: 1000, forMs: 3_000, audience: 'user' });
  const { call_id } = await findCall(stack, 'everything__deltas', (call) => call.status === 'running');
  const userEventsCommand = startOpentabs(['calls', 'show', call_id, '--follow'], stack.env);
  await call;
  const { code, stdout } = await userEventsCommand.commandResult;
  assert.equal(code, 0);
  const outputLines = stdout.split('\n').map((line) => line.trim());
  assert.ok(outputLines.some((line) => line.startsWith('activity table')));
  assert.ok(outputLines.includes('1') && outputLines.includes('1000'), stdout.slice(-500));
  assert.match(stdout, / {2}done after \d+\.\d s, requested by .*\n$/);

  const { call_id: internalAudienceCallId } = await runDeltasTool({ count: 3 });
  assert.match(
    await runOrThrow(['calls', 'show', internalAudienceCallId], stack.env),
    /1 activity is not for the user/,
  );
  assert.match(
    await runOrThrow(['calls', 'show', internalAudienceCallId, '--verbose'], stack.env),
    /activity table \(not for the user\)\n/,
  );
});

test('an activity may contain any JSON of up to 256 KiB, and larger content is dropped while the call continues', async () => {
  const showActivity = async (type: string, content: unknown) => {
    const callOutcome = await client.call('everything__show_activity', { type, content });
    assert.equal(callOutcome.isError, false, callOutcome.text);
    const { call_id } = await findCall(stack, 'everything__show_activity', (call) => call.status === 'done');
    return (await fetchCallRecord(stack, call_id)).activities;
  };
  assert.deepEqual(await showActivity('text', 'a\nb'), [{ type: 'text', content: 'a\nb' }]);
  assert.deepEqual(await showActivity('my own', [null, { n: 1.5 }]), [{ type: 'my own', content: [null, { n: 1.5 }] }]);
  const largeText = 'x'.repeat(256 * 1024 - 2);
  assert.deepEqual(await showActivity('code', largeText), [{ type: 'code', content: largeText }]);
  assert.equal(await showActivity('code', `${largeText}x`), undefined);
});
