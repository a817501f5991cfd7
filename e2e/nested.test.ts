/** Nested calls run, fail, report progress and stop like calls of an agent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from './harness/client.ts';
import { fetchCallRecord, fetchCallRecords, findCall } from './harness/daemon-api.ts';
import { runOrThrow } from './harness/process.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({ plugins: [everythingPlugin], serveFlags: ['--idle-timeout', '8s'] });
  client = await stack.connectHttp();
  await runOrThrow(['plugin', 'permission', 'everything', '--allow-calls-to', 'messages'], stack.env);
});
after(() => stack?.close());

let keyCount = 0;
const makeUniqueKey = () => `k${++keyCount}-`;
const waitForReceivedNote = (noteText: string) =>
  waitFor(`the page to send "${noteText}"`, () => stack.site.receivedNotes.includes(noteText));
const callTool = (args: Record<string, unknown>, signal?: AbortSignal) =>
  client.call('everything__call', args, signal ? { signal } : {});

test('a tool receives the result of a tool that it calls, in the same plugin or in another plugin', async () => {
  const samePluginCall = await callTool({ tool: 'echo', input: { value: { n: [1] } } });
  assert.deepEqual(samePluginCall.structured, { output: { value: { n: [1] }, path: '/' } }, samePluginCall.text);
  const otherPluginCall = await callTool({ tool: 'messages__echo', input: { value: 'hello' } });
  assert.match(JSON.stringify(otherPluginCall.structured), /hello/, otherPluginCall.text);
  const child = await findCall(stack, 'messages__echo');
  const parent = await findCall(stack, 'everything__call', (call) => call.call_id === child.parent_call_id);
  assert.deepEqual([child.depth, parent.depth ?? 0, child.status, parent.status], [1, 0, 'done', 'done']);
});

test('a large result of a nested call arrives complete', async () => {
  const callOutcome = await callTool({ tool: 'big', input: { bytes: 3 * 1024 * 1024 } });
  assert.equal(callOutcome.isError, false, callOutcome.text.slice(0, 200));
  assert.ok(JSON.stringify(callOutcome.structured) === `{"output":{"text":"${'x'.repeat(3 * 1024 * 1024)}"}}`);
});

test('reports of a nested call keep the silent parent call running, and the client receives them', async () => {
  const callOutcome = await callTool({ tool: 'steps', input: { count: 20, everyMs: 500 } });
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.ok(callOutcome.durationMs > 9_000);
  assert.match(String(callOutcome.progress.at(-1)?.message), /everything__steps: internal step 20/);
});

test('an error thrown by a called tool rejects in the calling tool, with its code', async () => {
  const toolError = { code: 'LIMIT', message: 'slow down', retryable: true };
  const caughtCall = await callTool({ tool: 'fail', input: toolError, catchError: true });
  assert.match(JSON.stringify(caughtCall.structured), /"code":"LIMIT","message":".*slow down.*","retryable":true/);
  const callOutcome = await callTool({ tool: 'fail', input: toolError });
  assert.equal(callOutcome.isError, true);
  assert.match(callOutcome.text, /slow down/);
  assert.match(callOutcome.text, /LIMIT/);
});

test('a call to a tool that cannot be called rejects with the reason', async () => {
  for (const [tool, input, code] of [
    ['none', {}, 'unknown_tool'],
    ['missing__echo', {}, 'unknown_tool'],
    ['silent', { forMs: 'long' }, 'invalid_arguments'],
    ['big', { bytes: 17 * 1024 * 1024 }, 'result_too_large'],
    ['silent', { forMs: 20_000 }, 'idle_timeout'],
  ] as const) {
    const callOutcome = await callTool({ tool, input, catchError: true, key: makeUniqueKey() });
    assert.match(
      JSON.stringify(callOutcome.structured),
      new RegExp(`"code":"${code}"`),
      `${tool}: ${callOutcome.text}`,
    );
  }
});

test('endless recursion and too many nested calls are stopped', async () => {
  const runRecursiveTool = (args: Record<string, unknown>) => client.call('everything__call_itself', args);
  assert.deepEqual((await runRecursiveTool({ levels: 8 })).structured, { depth: 8 });
  assert.match((await runRecursiveTool({ levels: 9 })).text, /8 calls deep/);
  assert.match((await runRecursiveTool({ levels: 3, sameInput: true })).text, /calls itself with the same arguments/);
  const manyCalls = await client.call('everything__call_many', { tool: 'echo', count: 70 });
  const noteText = JSON.stringify(manyCalls.structured);
  assert.equal(noteText.match(/"path":"\/"/g)?.length, 64, manyCalls.text);
  assert.equal(noteText.match(/nested_too_deep/g)?.length, 6);
});

test('cancelling the top call stops the code of all nested calls', async () => {
  const key = makeUniqueKey();
  const stopController = new AbortController();
  const callOutcome = client.call(
    'everything__call_itself',
    { levels: 3, forMs: 20_000, key },
    { signal: stopController.signal },
  );
  await waitForReceivedNote(`begin ${key}0`);
  stopController.abort('enough');
  await assert.rejects(callOutcome);
  for (const level of [0, 1, 2, 3]) await waitForReceivedNote(`stop ${key}${level}`);
  const calls = (await fetchCallRecords(stack))
    .filter((call) => call.tool_name === 'everything__call_itself')
    .slice(0, 4);
  assert.deepEqual(
    calls.map((call) => call.status),
    ['cancelled', 'cancelled', 'cancelled', 'cancelled'],
  );
});

test('a tool can abort a nested call and continue', async () => {
  const key = makeUniqueKey();
  const callOutcome = await callTool({
    tool: 'silent',
    input: { forMs: 20_000, key },
    abortAfterMs: 4_000,
    catchError: true,
  });
  assert.match(JSON.stringify(callOutcome.structured), /"code":"aborted","message":"aborted: given up"/);
  await waitForReceivedNote(`stop ${key}`);
});

test('a nested call runs in the requested tab', async () => {
  const secondPage = await stack.openTab('/second');
  const tab = (await stack.listTabs()).find((tab) => tab.url.endsWith('/second'));
  assert.ok(tab && 'tabId' in tab);
  const callOutcome = await callTool({ tool: 'echo', tabId: tab.tabId });
  assert.match(JSON.stringify(callOutcome.structured), /"path":"\/second"/, callOutcome.text);
  await secondPage.close();
});

test('a nested call and its result survive stops of the service worker', async () => {
  const key = makeUniqueKey();
  const callOutcome = callTool({ tool: 'steps', input: { count: 80, everyMs: 250, key } });
  await waitForReceivedNote(`begin ${key}`);
  for (let stopCount = 0; stopCount < 3; stopCount++) {
    const { call_id } = await findCall(stack, 'everything__steps', (call) => call.status === 'running');
    const previousMessage = (await fetchCallRecord(stack, call_id)).message;
    await waitFor(
      'the next report of the nested call',
      async () => (await fetchCallRecord(stack, call_id)).message !== previousMessage,
    );
    await stack.chrome.stopWorker();
  }
  assert.deepEqual((await callOutcome).structured, { output: { steps: 80 } });
});
