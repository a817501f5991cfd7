/** Many concurrent calls of many clients return the right results. */
import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { after, afterEach, before, describe, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { makeRawHttpClient } from '../soak/raw-http.ts';
import type { CallEnding, SoakClient } from '../soak/soak-client.ts';
import { SystemUnderTest } from '../soak/system-under-test.ts';

let testedSystem: SystemUnderTest;
let clients: SoakClient[] = [];

function connectSoakClient(name: string): SoakClient {
  const client = makeRawHttpClient(name, testedSystem.port, testedSystem.clientToken);
  clients.push(client);
  return client;
}

async function measureCallTime(
  client: SoakClient,
  key: string,
  everyMs: number,
): Promise<{ callEnding: CallEnding; ms: number }> {
  const startMs = performance.now();
  const callEnding = await client.call('work__steps', { key, count: 1, everyMs }, {});
  return { callEnding, ms: performance.now() - startMs };
}

function occupyRunningSlots(client: SoakClient, stopSignal: AbortSignal): Promise<CallEnding>[] {
  const keys = Array.from({ length: 8 }, (_, i) => `full${i}`);
  return keys.map((key) => client.call('work__beat', { key, everyMs: 300, forMs: 60_000 }, { stopSignal }));
}

function setUpSystem(settings: Record<string, number | string>): void {
  before(async () => {
    testedSystem = new SystemUnderTest(1, settings);
    await testedSystem.start();
  });
  afterEach(async () => {
    for (const client of clients) assert.deepEqual(client.strayMessages, []);
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
    // The daemon ends a cancelled call shortly after the client has stopped waiting.
    await waitFor('all calls to end', async () => {
      const { running: runningCount, queued } = (await testedSystem.readStatus()).calls;
      return runningCount === 0 && queued === 0;
    });
  });
  after(() => testedSystem?.close());
}

describe('calls in one page', () => {
  setUpSystem({ maxRunning: 1000, idleTimeout: '20s' });

  test('1,000 concurrent calls each get exactly one answer, with their own result', async () => {
    const client = connectSoakClient('crowd');
    const everyMs = 12_000; // all calls must start, and a probe must see them, before the first call ends
    const calls = Array.from({ length: 1000 }, (_, i) => measureCallTime(client, `k${i}`, everyMs));
    await waitFor(
      '1,000 handlers to run at the same time',
      async () => (await testedSystem.listRunningKeys()).length === 1000,
    );
    for (const [i, { callEnding }] of (await Promise.all(calls)).entries()) {
      assert.deepEqual(
        [callEnding.code, callEnding.answerCount, Object(callEnding.structured).key],
        ['ok', 1, `k${i}`],
        callEnding.text,
      );
    }
    testedSystem.countHandlerStarts();
    assert.ok([...testedSystem.handlerStartCounts.values()].every((times) => times === 1));
  });
});

describe('calls of 64 clients', () => {
  setUpSystem({ maxRunning: 8, maxWaiting: 1200, idleTimeout: '20s' });

  test('a client with 1,000 calls does not delay 63 clients with one call each', async (t) => {
    const floodClient = connectSoakClient('greedy');
    const singleCallClients = Array.from({ length: 63 }, (_, i) => connectSoakClient(`modest-${i}`));
    await Promise.all(singleCallClients.map((client, i) => measureCallTime(client, `warm${i}`, 0))); // the first call of each client opens its session
    const startMs = performance.now();
    const floodCalls = Promise.all(Array.from({ length: 1000 }, (_, i) => measureCallTime(floodClient, `g${i}`, 120)));
    await waitFor(
      'more than 800 calls of the greedy client in the queue',
      async () => (await testedSystem.readStatus()).calls.queued > 800,
    );
    const singleCallResults = await Promise.all(
      singleCallClients.map((client, i) => measureCallTime(client, `m${i}`, 40)),
    );
    const queuedCallCount = (await testedSystem.readStatus()).calls.queued;
    const greedyResults = await floodCalls;
    const floodDurationMs = performance.now() - startMs;
    const sortedWaitsMs = singleCallResults.map(({ ms }) => ms).toSorted((a, b) => a - b);
    t.diagnostic(
      `the greedy client's 1,000 calls took ${floodDurationMs.toFixed(0)} ms; the 63 others waited ${sortedWaitsMs[31]?.toFixed(0)} ms (median), ${sortedWaitsMs[62]?.toFixed(0)} ms (maximum), and ${queuedCallCount} calls were still queued`,
    );
    for (const { callEnding } of [...singleCallResults, ...greedyResults])
      assert.equal(callEnding.code, 'ok', callEnding.text);
    // The daemon alternates between clients with queued calls, so one client's 1,000 calls do not delay another client.
    assert.ok(
      queuedCallCount > 300,
      `${queuedCallCount} calls of the greedy client were still queued, want more than 300`,
    );
    assert.ok(
      (sortedWaitsMs[62] ?? 0) < floodDurationMs / 2,
      `a client waited ${sortedWaitsMs[62]} ms, want less than half of ${floodDurationMs} ms`,
    );
  });

  test('a queued call never starts if it is cancelled or its client disconnects', async () => {
    const client = connectSoakClient('cancelling');
    const stopRunning = new AbortController();
    const runningCalls = occupyRunningSlots(client, stopRunning.signal);
    await waitFor('eight running calls', async () => (await testedSystem.listRunningKeys()).length === 8);
    const stopSignal = new AbortController();
    setMaxListeners(0, stopSignal.signal);
    const queuedCalls = [
      ...Array.from({ length: 20 }, (_, i) =>
        client.call('work__echo', { key: `cancelled${i}`, value: 1 }, { stopSignal: stopSignal.signal }),
      ),
      ...Array.from({ length: 20 }, (_, i) =>
        connectSoakClient(`leaver-${i}`).call(
          'work__echo',
          { key: `left${i}`, value: 1 },
          { stopSignal: stopSignal.signal, disconnect: true },
        ),
      ),
    ];
    await waitFor('40 calls in the queue', async () => (await testedSystem.readStatus()).calls.queued === 40);
    stopSignal.abort();
    for (const callEnding of await Promise.all(queuedCalls)) assert.equal(callEnding.code, 'silent', callEnding.text);
    await waitFor('the queue to be empty', async () => (await testedSystem.readStatus()).calls.queued === 0, 20_000);
    stopRunning.abort();
    await Promise.all(runningCalls);
    assert.equal((await measureCallTime(client, 'next', 0)).callEnding.code, 'ok');
    testedSystem.countHandlerStarts();
    assert.deepEqual(
      [...testedSystem.handlerStartCounts.keys()].filter((key) => /^(cancelled|left)/.test(key)),
      [],
    );
  });

  test('a client that fills its queue gets an error with the limit and the action, and other clients still have room', async () => {
    const floodClient = connectSoakClient('greedy');
    const stopSignal = new AbortController();
    const runningCalls = occupyRunningSlots(floodClient, stopSignal.signal);
    await waitFor('eight running calls', async () => (await testedSystem.listRunningKeys()).length === 8);
    const refusedCodes: string[] = [];
    const floodCalls = Array.from({ length: 1300 }, async (_, i) => {
      const call = await measureCallTime(floodClient, `x${i}`, 0);
      if (call.callEnding.code !== 'ok') refusedCodes.push(call.callEnding.code);
      return call;
    });
    await waitFor(
      '1,200 calls in the queue',
      async () => (await testedSystem.readStatus()).calls.queued === 1200,
      60_000,
    );
    const otherClientCall = measureCallTime(connectSoakClient('modest'), 'modest', 0);
    await waitFor('101 refused calls', () => refusedCodes.length === 101, 60_000);
    stopSignal.abort();
    await Promise.all(runningCalls);
    const { callEnding } = await otherClientCall;
    assert.equal(callEnding.code, 'ok', callEnding.text);
    const floodEndings = (await Promise.all(floodCalls)).map(({ callEnding }) => callEnding);
    const refusedCalls = floodEndings.filter(({ code }) => code !== 'ok');
    assert.equal(refusedCalls.length, 101);
    for (const { code, text: endingText } of refusedCalls) {
      assert.equal(code, 'rate_limited', endingText);
      assert.match(
        endingText,
        /1200 calls of this plugin are queued, the maximum \(--max-waiting\).* Wait, then retry/,
      );
    }
  });
});
