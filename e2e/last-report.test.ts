/** A client receives the last progress report of each call before the call's result, even on a busy machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { connectModernStdio, isRecord } from './harness/modern.ts';
import { clientTransports, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;

before(async () => {
  stack = await startStack();
});
after(() => stack?.close());

const callCount = process.env.OPENTABS_TEST_ALL ? 1_000 : 250;
const concurrency = 8;
const args = {
  reports: [
    { progress: 1, total: 2 },
    { progress: 2, total: 2, message: 'last' },
  ],
};

async function runConcurrently(count: number, call: (callNumber: number) => Promise<boolean>): Promise<number[]> {
  const failedCallNumbers: number[] = [];
  let nextCallNumber = 0;
  const runCallBatch = async () => {
    while (nextCallNumber < count) {
      const callNumber = nextCallNumber++;
      if (!(await call(callNumber))) failedCallNumbers.push(callNumber);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runCallBatch));
  return failedCallNumbers;
}

async function runWithBusyProcesses<T>(callback: () => Promise<T>): Promise<T> {
  const busyProcesses = [0, 1].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  const processExits = busyProcesses.map((child) => once(child, 'exit'));
  try {
    return await callback();
  } finally {
    for (const child of busyProcesses) child.kill();
    await Promise.all(processExits);
  }
}

/** runWithStalls repeatedly blocks the test process, which contains the MCP client, for 5 to 90 ms. */
async function runWithStalls<T>(callback: () => Promise<T>): Promise<T> {
  let roundIndex = 0;
  const sleepBuffer = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => Atomics.wait(sleepBuffer, 0, 0, 5 + ((roundIndex++ * 37) % 86)), 60);
  try {
    return await callback();
  } finally {
    clearInterval(timer);
  }
}

for (const [name, connectClient] of clientTransports) {
  test(`${callCount} calls on a busy machine deliver each last progress report over ${name}`, async () => {
    const client = await connectClient(stack);
    const call = async () => {
      const callOutcome = await client.call('messages__reports', args);
      assert.equal(callOutcome.isError, false, callOutcome.text);
      return callOutcome.progress.at(-1)?.message === 'last' && callOutcome.progress.at(-1)?.progress === 2;
    };
    assert.deepEqual(await runWithBusyProcesses(() => runConcurrently(callCount, call)), []);
  });

  test(`a client that stalls receives the last progress report of each call over ${name}`, async () => {
    const client = await connectClient(stack);
    const call = async () => (await client.call('messages__reports', args)).progress.at(-1)?.message === 'last';
    assert.deepEqual(await runWithStalls(() => runConcurrently(300, call)), []);
  });
}

test('a stalled stdio client with protocol version 2026-07-28 receives the last progress report of each call', async () => {
  const client = await connectModernStdio(stack);
  const call = async (callNumber: number) => {
    const _meta = {
      progressToken: callNumber,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'messages__reports', arguments: args, _meta };
    const streamMessages: unknown[] = [];
    const exchangeAnswer = await client.exchangeMessage({ id: callNumber, params }, (progress) =>
      streamMessages.push(progress.message),
    );
    assert.ok(
      isRecord(exchangeAnswer.result) && exchangeAnswer.result.isError !== true,
      JSON.stringify(exchangeAnswer),
    );
    return streamMessages.at(-1) === 'last';
  };
  try {
    assert.deepEqual(await runWithStalls(() => runConcurrently(300, call)), []);
  } finally {
    await client.close();
  }
});
