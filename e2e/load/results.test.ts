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
let system: SystemUnderTest;
let pid: number;

before(async () => {
  system = new SystemUnderTest(1, { maxResultBytes: 100 * bytesPerMib, idleTimeout: '120s', hardTimeout: '240s' });
  await system.start();
  pid = await system.serverPid();
});
after(() => system?.close());

async function openClient(): Promise<LargeResultClient> {
  const client = new LargeResultClient(system);
  await client.open();
  return client;
}

/** assertResult receives only a summary of the response, because storing whole responses would use too much memory. */
function assertResult(summary: ResponseSummary, bytes: number): void {
  assert.ok(
    summary.bytes > 2 * bytes && summary.bytes < 2 * bytes + 10_000,
    `the client received ${summary.bytes} bytes: ${summary.firstBytes.slice(0, 600)}`,
  );
  assert.match(summary.firstBytes, /\\"text\\":\\"0 xxx/);
  assert.match(summary.lastBytes, /x"}/);
}

test('a result of 90 MB arrives complete, and a result of 101 MB fails with an error that names both sizes and the action', async () => {
  const client = await openClient();
  assertResult(await client.call('work__big', { key: 'ninety', bytes: 90 * bytesPerMib }), 90 * bytesPerMib);
  const refusedCall = await client.call('work__big', { key: 'more', bytes: 101 * bytesPerMib });
  assert.match(
    refusedCall.firstBytes,
    /result of big has 101\.\d MB, the limit is 100 MB \(result_too_large\).*Ask for less/,
  );
});

test(`ten concurrent results of ${concurrentMib} MB arrive complete in bounded memory, and short calls run in between`, async (t) => {
  await waitFor(
    'the server to free the memory of the previous test',
    () => readResidentMemory(pid).now < 200 * bytesPerMib,
    30_000,
  );
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // This write resets the daemon's recorded memory peak.
  const callers = await Promise.all(Array.from({ length: 10 }, openClient));
  const shortClient = await openClient();
  const largeCalls = Promise.all(
    callers.map((c, i) => c.call('work__big', { key: `large${i}`, bytes: concurrentMib * bytesPerMib })),
  );
  const echoes: number[] = [];
  const largeCallState = { isDone: false };
  const shortCalls = (async () => {
    while (!largeCallState.isDone) {
      await pause(100);
      echoes.push((await shortClient.call('work__echo', { key: 'echo', value: 1 })).durationMs);
    }
  })();
  const responses = await largeCalls;
  largeCallState.isDone = true;
  await shortCalls;
  for (const response of responses) assertResult(response, concurrentMib * bytesPerMib);
  const { peak } = readResidentMemory(pid);
  const sortedEchoes = echoes.toSorted((a, b) => a - b);
  t.diagnostic(
    `server peak ${Math.round(peak / bytesPerMib)} MB; last result after ${Math.max(...responses.map((c) => c.durationMs)).toFixed(0)} ms;` +
      ` ${echoes.length} echoes meanwhile, ${sortedEchoes[sortedEchoes.length >> 1]?.toFixed(0)} ms (median), ${sortedEchoes.at(-1)?.toFixed(0)} ms (maximum)`,
  );
  assert.ok(peak < (200 + 8 * concurrentMib) * bytesPerMib, `the server used ${Math.round(peak / bytesPerMib)} MB`);
  assert.ok(echoes.length > 10, `only ${echoes.length} echoes returned`);
  await waitFor(
    'the server to free the memory of the results',
    () => readResidentMemory(pid).now < 150 * bytesPerMib,
    40_000,
  );
  const { goroutines } = (await system.readStatus()).memory;
  assert.ok(goroutines < 60, `the server has ${goroutines} goroutines`);
});

test('a client that does not read its large result delays no other client, and its memory is freed when it disconnects', async () => {
  const [notReading, shortClient] = [await openClient(), await openClient()];
  const unreadCall = await notReading.callWithoutReading('work__big', { key: 'unread', bytes: 50 * bytesPerMib });
  await pause(1_000);
  for (let i = 0; i < 20; i++) {
    const { durationMs: ms, firstBytes: head } = await shortClient.call('work__echo', { key: 'echo', value: i });
    assert.match(head, /structuredContent/);
    assert.ok(ms < 5_000, `an echo lasted ${ms} ms`);
  }
  assertResult(await shortClient.call('work__big', { key: 'other', bytes: 20 * bytesPerMib }), 20 * bytesPerMib);
  unreadCall.disconnect();
  await waitFor(
    'the server to free the memory of the results',
    () => readResidentMemory(pid).now < 150 * bytesPerMib,
    40_000,
  );
});
