/**
 * A job continues after the client that started the job has disconnected. The tests of jobs use shortened time limits;
 * `make soak` uses the real limits.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallOutcome, McpClient } from './harness/client.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { waitFor } from './harness/wait.ts';

let stack: Stack;

before(async () => {
  stack = await startStack({
    serveFlags: ['--idle-timeout', '6s', '--hard-timeout', '25s', '--detach', 'never, opentabs-e2e=4s'],
  });
});
after(() => stack?.close());

const callHeartbeat = (client: McpClient, forMs: number, extraArgs: Record<string, unknown> = {}) =>
  client.call('messages__heartbeat', { everyMs: 500, forMs, ...extraArgs });

function readJobId(callOutcome: CallOutcome): string {
  const job = Object(callOutcome.structured);
  assert.equal(callOutcome.isError, false, callOutcome.text);
  assert.equal(job.status, 'running', callOutcome.text);
  assert.match(String(job.job), /^call_/);
  assert.match(
    callOutcome.text,
    /^Job call_\S+ \(messages__heartbeat\) is running.* Call job_wait with \{"job": "call_/,
  );
  return job.job;
}

const findJob = async (job: string) => (await stack.listCalls()).find((call) => call.call_id === job);

test('another session receives the result of a job whose client has disconnected', async () => {
  const firstClient = await stack.connectHttp();
  const callOutcome = await callHeartbeat(firstClient, 14_000);
  const job = readJobId(callOutcome);
  assert.ok(
    callOutcome.durationMs >= 3_995 && callOutcome.progress.length >= 2,
    `${callOutcome.durationMs} ms, ${callOutcome.progress.length} notifications`,
  );
  await firstClient.close();

  const secondClient = await stack.connectStdio();
  const jobList = await secondClient.call('job_list');
  assert.deepEqual(
    Object(jobList.structured).jobs.map((job: unknown) => [Object(job).job, Object(job).status]),
    [[job, 'running']],
  );
  const changedUris: string[] = [];
  secondClient.sdk.setNotificationHandler(ResourceUpdatedNotificationSchema, (updateNotification) => {
    changedUris.push(updateNotification.params.uri);
  });
  const resourceUri = `opentabs://calls/${job}`;
  await secondClient.sdk.subscribeResource({ uri: resourceUri });

  const jobResult = await secondClient.call('job_wait', { job });
  assert.equal(jobResult.isError, false, jobResult.text);
  assert.ok(Object(jobResult.structured).beats >= 20, jobResult.text);
  assert.ok(jobResult.progress.length >= 2, 'job_wait must receive at least two progress reports of the job');
  assert.deepEqual((await secondClient.call('job_result', { job })).structured, jobResult.structured);

  await waitFor('the notification that the job ended', async () => {
    const { contents: resourceContents } = await secondClient.sdk.readResource({ uri: resourceUri });
    const resourceText = resourceContents[0] && 'text' in resourceContents[0] ? resourceContents[0].text : '{}';
    return changedUris.length >= 2 && Object(JSON.parse(resourceText)).status === 'done';
  });
  assert.deepEqual([...new Set(changedUris)], [resourceUri]);
});

test('the idle limit and the hard limit of calls apply to jobs', async () => {
  const client = await stack.connectHttp();
  const handle = await client.call('messages__silent', { forMs: 60_000, _detach: 0 });
  const callOutcome = await client.call('job_wait', { job: Object(handle.structured).job });
  assert.equal(callOutcome.code, 'idle_timeout', callOutcome.text);
});

test('job_cancel stops the code in the page', async () => {
  const client = await stack.connectHttp();
  const job = readJobId(await callHeartbeat(client, 0, { _detach: '0.5' }));
  const callOutcome = await client.call('job_cancel', { job });
  assert.equal(Object(callOutcome.structured).status, 'cancelled');
  const stoppedCall = await waitFor('the job to be stopped in the page', async () => {
    const call = await findJob(job);
    return call?.stopped !== undefined && call;
  });
  assert.deepEqual([stoppedCall.status, stoppedCall.stopped], ['cancelled', 'aborted']);
  assert.equal((await client.call('job_result', { job })).code, 'cancelled');
});

test('a client that cancels a request before it has a job handle cancels the call', async () => {
  const client = await stack.connectHttp();
  const stopController = new AbortController();
  const cancelledCall = client.call(
    'messages__heartbeat',
    { everyMs: 500, forMs: 0, _detach: '15' },
    { signal: stopController.signal },
  );
  const call = await waitFor('the call to run', async () =>
    (await stack.listCalls()).find((call) => call.status === 'running'),
  );
  stopController.abort();
  await assert.rejects(cancelledCall);
  await waitFor('the call to be cancelled', async () => (await findJob(call.call_id))?.status === 'cancelled');
});

test('the SDK accepts a job handle as the result of a tool with an output schema', async () => {
  const client = await stack.connectHttp();
  const { tools } = await client.sdk.listTools();
  assert.equal(tools.filter((tool) => tool.name.startsWith('job_')).length, 4);
  const tool = tools.find((tool) => tool.name === 'messages__heartbeat');
  assert.ok(tool?.inputSchema.properties && '_detach' in tool.inputSchema.properties);
  const callOutcome = await client.sdk.callTool({
    name: 'messages__heartbeat',
    arguments: { everyMs: 500, forMs: 3_000, _detach: 0 },
  });
  assert.equal(Object(callOutcome.structuredContent).status === 'done', false);
});
