/** A tool can wait for an action of the user, such as a login. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient, ReceivedProgress } from './harness/client.ts';
import { type CallRecord, decideCall, fetchCallRecord, findCall } from './harness/daemon-api.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { pause, waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({
    plugins: [everythingPlugin],
    serveFlags: ['--idle-timeout', '4s', '--hard-timeout', '5s', '--decision-timeout', '12s'],
  });
  client = await stack.connectHttp();
});
after(() => stack?.close());

let keyCount = 0;
const makeUniqueKey = () => `w${++keyCount}`;
const waitForReceivedNote = (noteText: string) =>
  waitFor(`the page to send "${noteText}"`, () => stack.site.receivedNotes.includes(noteText));
const findWaitingCall = (tool: string) => findCall(stack, tool, (call) => call.waiting !== undefined);

test('the idle limit and the hard limit are paused while a tool waits, and the client receives the reason of the wait', async () => {
  const reports: ReceivedProgress[] = [];
  const loginCall = client.call(
    'everything__login',
    { title: 'Log in' },
    { onProgress: (report) => reports.push(report) },
  );
  const call = await findWaitingCall('everything__login');
  assert.deepEqual([call.waiting?.kind, call.waiting?.reason], ['user', 'Log in, then press Done.']);
  await pause(6_000);
  assert.match(JSON.stringify(await decideCall(stack, call.call_id, { allow: true })), /"outcome":"decided"/);
  const callOutcome = await loginCall;
  assert.deepEqual(callOutcome.structured, { loggedIn: true }, callOutcome.text);
  const reportMessages = reports.map((report) => report.message);
  assert.ok(reportMessages.includes('not logged in') && reportMessages.includes('logged in'), reportMessages.join());
});

test('the wait and the decision survive stops of the service worker', async () => {
  const callOutcome = client.call('everything__login');
  const call = await findWaitingCall('everything__login');
  for (let stopCount = 0; stopCount < 3; stopCount++) {
    await stack.chrome.stopWorker();
    const echoOutcome = await client.call('everything__echo', { value: stopCount });
    assert.equal(echoOutcome.isError, false, echoOutcome.text);
  }
  await Promise.all([stack.chrome.stopWorker(), decideCall(stack, call.call_id, { allow: true })]);
  assert.deepEqual((await callOutcome).structured, { loggedIn: true });
});

test('the tool receives user_denied when the user denies, and user_timeout without an answer', async () => {
  const deniedCall = client.call('everything__wait_for_user', { reason: 'Solve the riddle' });
  const waitingCall = await findWaitingCall('everything__wait_for_user');
  await decideCall(stack, waitingCall.call_id, { allow: false });
  assert.match(JSON.stringify((await deniedCall).structured), /"code":"user_denied"/);
  const unansweredCall = await client.call('everything__wait_for_user', { reason: 'Solve the next riddle' });
  assert.match(JSON.stringify(unansweredCall.structured), /"code":"user_timeout"/, unansweredCall.text);
  assert.ok(unansweredCall.durationMs > 11_000);
});

const approveCall = (call: CallRecord) => decideCall(stack, call.call_id, { allow: true });

test('a client that cancels withdraws the approval: the code in the page stops, and a late approval changes nothing', async () => {
  const key = makeUniqueKey();
  const stopController = new AbortController();
  const callOutcome = client.call('everything__login', { key }, { signal: stopController.signal });
  const call = await findWaitingCall('everything__login');
  stopController.abort('enough');
  await assert.rejects(callOutcome);
  await waitForReceivedNote(`stop ${key}`);
  assert.match(JSON.stringify(await approveCall(call)), /"outcome":"ended"/);
  const callRecord = await fetchCallRecord(stack, call.call_id);
  assert.deepEqual([callRecord.status, callRecord.waiting], ['cancelled', undefined]);
});

test('a reload of the page ends the wait', async () => {
  const callOutcome = client.call('everything__login');
  const call = await findWaitingCall('everything__login');
  await stack.page.reload();
  assert.equal((await callOutcome).code, 'navigated');
  assert.match(JSON.stringify(await approveCall(call)), /"outcome":"ended"/);
  await stack.waitForPlugins('/');
});

test('a nested tool that waits for the user pauses the limits of its parent too', async () => {
  const parentCall = client.call('everything__call', { tool: 'login' });
  const call = await findWaitingCall('everything__login');
  await pause(6_000);
  await decideCall(stack, call.call_id, { allow: true });
  const callOutcome = await parentCall;
  assert.deepEqual(callOutcome.structured, { output: { loggedIn: true } }, callOutcome.text);
});
