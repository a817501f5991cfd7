/** Promise: a tool may wait for its person, as for a login; nothing is lost meanwhile, and nobody waits for ever. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CallRecord, callRecord, decideCall, findCall } from './harness/api.ts';
import type { McpClient, ReceivedProgress } from './harness/client.ts';
import { everything, type Stack, startStack } from './harness/stack.ts';
import { pause, until } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;

before(async () => {
  stack = await startStack({
    plugins: [everything],
    serve: ['--idle-timeout', '4s', '--hard-timeout', '5s', '--decision-timeout', '12s'],
  });
  client = await stack.client();
});
after(() => stack?.close());

let keys = 0;
const newKey = () => `w${++keys}`;
const noted = (text: string) => until(`the page to say "${text}"`, () => stack.site.notes.includes(text));
const waits = (tool: string) => findCall(stack, tool, (c) => c.waiting !== undefined);

test('both limits stand still while the tool waits, and its client hears of it', async () => {
  const seen: ReceivedProgress[] = [];
  const out = client.call('everything__login', { title: 'Log in' }, { onProgress: (p) => seen.push(p) });
  const call = await waits('everything__login');
  assert.deepEqual([call.waiting?.kind, call.waiting?.reason], ['user', 'Log in, then press Done.']);
  await pause(6_000);
  assert.match(JSON.stringify(await decideCall(stack, call.call_id, { allow: true })), /"outcome":"decided"/);
  const ended = await out;
  assert.deepEqual(ended.structured, { loggedIn: true }, ended.text);
  const messages = seen.map((p) => p.message);
  assert.ok(messages.includes('not logged in') && messages.includes('logged in'), messages.join());
});

test('the wait survives deaths of the service worker, and so does the decision', async () => {
  const out = client.call('everything__login');
  const call = await waits('everything__login');
  for (let deaths = 0; deaths < 3; deaths++) {
    await stack.chrome.stopWorker();
    const echo = await client.call('everything__echo', { value: deaths });
    assert.equal(echo.isError, false, echo.text);
  }
  await Promise.all([stack.chrome.stopWorker(), decideCall(stack, call.call_id, { allow: true })]);
  assert.deepEqual((await out).structured, { loggedIn: true });
});

test('a person who says no, and one who never answers', async () => {
  const no = client.call('everything__ask', { reason: 'Solve the riddle' });
  const refused = await waits('everything__ask');
  await decideCall(stack, refused.call_id, { allow: false });
  assert.match(JSON.stringify((await no).structured), /"code":"user_denied"/);
  const nobody = await client.call('everything__ask', { reason: 'Solve the next riddle' });
  assert.match(JSON.stringify(nobody.structured), /"code":"user_timeout"/, nobody.text);
  assert.ok(nobody.tookMs > 11_000);
});

/** late decides about a call that has ended. */
const late = (call: CallRecord) => decideCall(stack, call.call_id, { allow: true });

test('a client that cancels withdraws the question: the page stops, and a late yes changes nothing', async () => {
  const key = newKey();
  const stop = new AbortController();
  const out = client.call('everything__login', { key }, { signal: stop.signal });
  const call = await waits('everything__login');
  stop.abort('enough');
  await assert.rejects(out);
  await noted(`stop ${key}`);
  assert.match(JSON.stringify(await late(call)), /"outcome":"ended"/);
  const ended = await callRecord(stack, call.call_id);
  assert.deepEqual([ended.status, ended.waiting], ['cancelled', undefined]);
});

test('a page that is loaded anew ends the wait', async () => {
  const out = client.call('everything__login');
  const call = await waits('everything__login');
  await stack.page.reload();
  assert.equal((await out).code, 'navigated');
  assert.match(JSON.stringify(await late(call)), /"outcome":"ended"/);
  await stack.live('/');
});

test('a tool that waits below another one holds the limits of both', async () => {
  const out = client.call('everything__call', { tool: 'login' });
  const call = await waits('everything__login');
  await pause(6_000);
  await decideCall(stack, call.call_id, { allow: true });
  const ended = await out;
  assert.deepEqual(ended.structured, { output: { loggedIn: true } }, ended.text);
});
