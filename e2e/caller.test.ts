/** One plugin can call another plugin only if the user allows this combination of caller and called plugin. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from './harness/client.ts';
import { fetchCallRecords } from './harness/daemon-api.ts';
import { runOrThrow } from './harness/process.ts';
import { everythingPlugin, type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;
let client: McpClient;
const approvalForms: string[] = [];
/** nextDecision is the simulated user's choice in the next approval form. */
let nextDecision = 'deny';

before(async () => {
  stack = await startStack({ plugins: [everythingPlugin] });
  client = await stack.connectHttp((params): Promise<ElicitResult> => {
    approvalForms.push(params.message);
    return Promise.resolve({ action: 'accept', content: { decision: nextDecision } });
  });
});
after(() => stack?.close());

const runCommand = (...args: string[]) => runOrThrow(args, stack.env);
const callNested = async (value: string) => {
  const callOutcome = await client.call('everything__call', {
    tool: 'messages__echo',
    input: { value },
    catchError: true,
  });
  return JSON.stringify(callOutcome.structured ?? callOutcome.text);
};
const allowCallsCommand = 'plugin permission everything --allow-calls-to messages';

test('calls to another plugin are off by default, and the handler, the lists and the audit log report the denial', async () => {
  const callOutcome = await callNested('one');
  assert.match(callOutcome, /"code":"denied"/);
  assert.ok(callOutcome.includes(`The user can allow it with \`opentabs ${allowCallsCommand}\``), callOutcome);
  const [child] = (await fetchCallRecords(stack)).filter((call) => call.tool_name === 'messages__echo');
  assert.deepEqual([child?.status, child?.error_code], ['failed', 'denied']);
  const callList = JSON.stringify(JSON.parse(await runCommand('calls', '--json')));
  assert.ok(callList.includes(`To allow it, run \`opentabs ${allowCallsCommand}\`, or use the side panel.`), callList);
  const { tabId } = (await stack.listTabs())[0] ?? {};
  await waitFor('the audit log to contain the call', async () =>
    (await runCommand('audit', '--tool', 'messages')).includes(
      `called by everything__call (tab ${tabId}, ${stack.site.origin})`,
    ),
  );
  assert.deepEqual(approvalForms, []);
  await client.call('everything__call', { tool: 'echo', input: { value: 'own' } }); // a plugin may call its own tools without approval
});

test('an allowed call to another plugin works, and needs approval if the called tool does', async () => {
  await runCommand(...allowCallsCommand.split(' '));
  assert.match(await callNested('two'), /two/);
  await runCommand('plugin', 'permission', 'messages', 'ask');
  nextDecision = 'allow for this session';
  assert.match(await callNested('three'), /three/);
  const { tabId } = (await stack.listTabs())[0] ?? {};
  assert.equal(approvalForms.length, 1);
  assert.ok(
    approvalForms[0]?.includes(
      `The plugin everything (tab ${tabId}, ${stack.site.origin}) wants to run messages__echo, called by its tool everything__call for client e2e (opentabs-e2e)`,
    ),
    approvalForms[0],
  );
});

test('a permission given to the calling plugin does not extend to the agent, and vice versa', async () => {
  assert.match(await callNested('four'), /four/); // the previous test allowed the call for the session
  assert.equal(approvalForms.length, 1);
  nextDecision = 'deny';
  assert.equal((await client.call('messages__echo', { value: 'agent' })).code, 'denied');
  assert.equal(approvalForms.length, 2);
  await runCommand('plugin', 'permission', 'messages', 'ask'); // setting a permission revokes all grants
  nextDecision = 'allow for this session';
  assert.equal((await client.call('messages__echo', { value: 'agent' })).isError, false);
  nextDecision = 'deny';
  assert.match(await callNested('five'), /"code":"denied"/);
  assert.equal(approvalForms.length, 4);
});

test('calls to another plugin are off again after the user withdraws the permission', async () => {
  await runCommand('plugin', 'permission', 'messages', 'auto');
  await runCommand('plugin', 'permission', 'everything', '--forbid-calls-to', 'messages');
  assert.match(await callNested('six'), /"code":"denied"/);
  assert.equal(approvalForms.length, 4);
});
