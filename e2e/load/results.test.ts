/** Large tool results arrive complete, delay no other client, and use memory only during the transfer. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { SystemUnderTest } from '../soak/system-under-test.ts';
import { readResidentMemory } from './measure.ts';
import { LargeResultClient, type ResponseSummary } from './results.ts';

const bytesPerMib = 1 << 20;
const concurrentMib = process.env.OPENTABS_TEST_ALL ? 50 : 20;
let testedSystem: SystemUnderTest;
let pid: number;

before(async () => {
  testedSystem = new SystemUnderTest(1, {
    maxResultBytes: 100 * bytesPerMib,
    idleTimeout: '120s',
    hardTimeout: '240s',
  });
  await testedSystem.start();
  pid = await testedSystem.serverPid();
});
after(() => testedSystem?.close());

async function openClient(): Promise<LargeResultClient> {
  const client = new LargeResultClient(testedSystem);
  await client.open();
  return client;
}

/**
 * assertResultSize receives only a summary of the response, because storing whole responses would use too much memory.
 */
function assertResultSize(responseSummary: ResponseSummary, bytes: number): void {
  assert.ok(
    responseSummary.bytes > 2 * bytes && responseSummary.bytes < 2 * bytes + 10_000,
    `the client received ${responseSummary.bytes} bytes, want slightly more than ${2 * bytes}: ${responseSummary.responseStart.slice(0, 600)}`,
  );
  assert.match(responseSummary.responseStart, /\\"text\\":\\"0 xxx/);
  assert.match(responseSummary.responseEnd, /x"}/);
}

test('a result of 90 MB arrives complete, and a result of 101 MB fails with an error that names both sizes and the action', async () => {
  const client = await openClient();
  assertResultSize(await client.call('work__big', { key: 'ninety', bytes: 90 * bytesPerMib }), 90 * bytesPerMib);
  const refusedCall = await client.call('work__big', { key: 'more', bytes: 101 * bytesPerMib });
  assert.match(
    refusedCall.responseStart,
    /result of big has 101\.\d MB, the limit is 100 MB \(result_too_large\).*Ask for less/,
  );
});

test(`ten concurrent results of ${concurrentMib} MB arrive complete in bounded memory, and short calls run in between`, async (t) => {
  await waitFor(
    'the server to free the memory of the previous test',
    () => readResidentMemory(pid).currentResidentBytes < 200 * bytesPerMib,
    30_000,
  );
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // resets the recorded memory peak of the daemon
  const callingClients = await Promise.all(Array.from({ length: 10 }, openClient));
  const shortClient = await openClient();
  const largeCalls = Promise.all(
    callingClients.map((callingClient, i) =>
      callingClient.call('work__big', { key: `large${i}`, bytes: concurrentMib * bytesPerMib }),
    ),
  );
  const echoDurationsMs: number[] = [];
  const largeCallState = { isDone: false };
  const shortCallLoop = (async () => {
    while (!largeCallState.isDone) {
      await pause(100);
      echoDurationsMs.push((await shortClient.call('work__echo', { key: 'echo', value: 1 })).durationMs);
    }
  })();
  const largeResponses = await largeCalls;
  largeCallState.isDone = true;
  await shortCallLoop;
  for (const response of largeResponses) assertResultSize(response, concurrentMib * bytesPerMib);
  const { peak: peakBytes } = readResidentMemory(pid);
  const sortedEchoes = echoDurationsMs.toSorted((a, b) => a - b);
  t.diagnostic(
    `server peak ${Math.round(peakBytes / bytesPerMib)} MB; last result after ${Math.max(...largeResponses.map((callingClient) => callingClient.durationMs)).toFixed(0)} ms;` +
      ` ${echoDurationsMs.length} echoes meanwhile, ${sortedEchoes[sortedEchoes.length >> 1]?.toFixed(0)} ms (median), ${sortedEchoes.at(-1)?.toFixed(0)} ms (maximum)`,
  );
  assert.ok(
    peakBytes < (200 + 8 * concurrentMib) * bytesPerMib,
    `the server used ${Math.round(peakBytes / bytesPerMib)} MB, want less than ${200 + 8 * concurrentMib} MB`,
  );
  assert.ok(echoDurationsMs.length > 10, `${echoDurationsMs.length} echo calls returned, want more than 10`);
  await waitFor(
    'the server to free the memory of the results',
    () => readResidentMemory(pid).currentResidentBytes < 150 * bytesPerMib,
    40_000,
  );
  const { goroutines } = (await testedSystem.readStatus()).memory;
  assert.ok(goroutines < 60, `the server has ${goroutines} goroutines, want fewer than 60`);
});

test('a client that does not read its large result delays no other client, and its memory is freed when it disconnects', async () => {
  const [unreadingClient, shortClient] = [await openClient(), await openClient()];
  const unreadResponseCall = await unreadingClient.callWithoutReading('work__big', {
    key: 'unread',
    bytes: 50 * bytesPerMib,
  });
  await pause(1_000);
  for (let i = 0; i < 20; i++) {
    const { durationMs: ms, responseStart } = await shortClient.call('work__echo', {
      key: 'echo',
      value: i,
    });
    assert.match(responseStart, /structuredContent/);
    assert.ok(ms < 5_000, `an echo call took ${ms} ms, want less than 5,000`);
  }
  assertResultSize(await shortClient.call('work__big', { key: 'other', bytes: 20 * bytesPerMib }), 20 * bytesPerMib);
  unreadResponseCall.disconnect();
  await waitFor(
    'the server to free the memory of the results',
    () => readResidentMemory(pid).currentResidentBytes < 150 * bytesPerMib,
    40_000,
  );
});
