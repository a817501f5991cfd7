/**
 * A client with a short request timeout loses only its first long call. The official TypeScript client reports its
 * request timeout when it cancels a call.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { McpClient } from '../harness/client.ts';
import { clientTransports, type Stack, startStack } from '../harness/stack.ts';
import { waitFor } from '../harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

/** By default, a client of the official TypeScript SDK waits 60,000 ms for a response. */
const timeoutMs = 9_000;
const toleranceMs = 1_000;

const callTool = (client: McpClient, name: string, args: Record<string, unknown>) =>
  client.call(name, args, { timeoutMs });

async function callUntilEnd(client: McpClient, name: string, args: Record<string, unknown>) {
  let callOutcome = await callTool(client, name, args);
  let startedJobCount = 0;
  for (; Object(callOutcome.structured).status === 'running' && startedJobCount < 20; startedJobCount++) {
    callOutcome = await callTool(client, 'job_wait', { job: Object(callOutcome.structured).job });
  }
  return { callOutcome, jobs: startedJobCount };
}

for (const [transportName, connectClient] of clientTransports) {
  test(`over ${transportName}, a client loses only its first timed-out call`, async () => {
    const client = await connectClient(stack);
    await waitFor('a client whose timeout is unknown', async () => {
      const { stdout } = await stack.runCli('status', '--json');
      return JSON.parse(stdout).clients.every((clientStatus: unknown) => Object(clientStatus).timeout === undefined);
    });
    const longCallArgs = { everyMs: 500, forMs: 20_000 };
    await assert.rejects(callTool(client, 'messages__heartbeat', longCallArgs), /Request timed out/);
    await waitFor('the daemon to record the timeout of the client', async () => {
      const { stdout } = await stack.runCli('client', 'timeout', 'list', '--json');
      const [auditEntry] = JSON.parse(stdout);
      if (auditEntry?.name !== 'opentabs-e2e' || auditEntry.progress_restarts !== undefined) return false;
      return Math.abs(auditEntry.timeout_ms - timeoutMs) <= toleranceMs;
    });
    const { callOutcome, jobs } = await callUntilEnd(client, 'messages__heartbeat', longCallArgs);
    assert.equal(callOutcome.isError, false, callOutcome.text);
    assert.ok(Object(callOutcome.structured).beats >= 20, callOutcome.text);
    assert.ok(jobs >= 2, `the daemon started ${jobs} jobs, want at least 2`);
    await stack.runCli('client', 'timeout', 'forget', 'opentabs-e2e');
    await client.close();
  });
}
