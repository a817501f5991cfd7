/** Promise: large results arrive complete, delay no other client, and use memory only while in transit. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { pause, waitFor } from '../harness/wait.ts';
import { World } from '../soak/world.ts';
import { rss } from './measure.ts';
import { Caller, type Came } from './results.ts';

const mib = 1 << 20;
let world: World;
let pid: number;

before(async () => {
  world = new World(1, { maxResultBytes: 100 * mib, idleTimeout: '60s', hardTimeout: '120s' });
  await world.start();
  pid = await world.serverPid();
});
after(() => world?.close());

async function caller(): Promise<Caller> {
  const made = new Caller(world);
  await made.open();
  return made;
}

/** assertResult checks a response without storing it: the result must be in it as text and as data. */
function assertResult(came: Came, bytes: number): void {
  assert.ok(
    came.bytes > 2 * bytes && came.bytes < 2 * bytes + 10_000,
    `${came.bytes} bytes came: ${came.head.slice(0, 600)}`,
  );
  assert.match(came.head, /\\"text\\":\\"0 xxx/);
  assert.match(came.tail, /x"}/);
}

test('a result of 90 MB arrives complete, and one of 101 MB fails with result_too_large, both sizes and the action', async () => {
  const client = await caller();
  assertResult(await client.call('work__big', { key: 'ninety', bytes: 90 * mib }), 90 * mib);
  const refused = await client.call('work__big', { key: 'more', bytes: 101 * mib });
  assert.match(refused.head, /result of big has 101\.\d MB, the limit is 100 MB \(result_too_large\).*Ask for less/);
});

test('ten concurrent results of 50 MB arrive complete in bounded memory, and short calls run in between', async (t) => {
  await waitFor('the memory of the test before', () => rss(pid).now < 200 * mib, 30_000);
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // resets the recorded peak
  const callers = await Promise.all(Array.from({ length: 10 }, caller));
  const short = await caller();
  const all = Promise.all(callers.map((c, i) => c.call('work__big', { key: `fifty${i}`, bytes: 50 * mib })));
  const echoes: number[] = [];
  const over = { yet: false };
  const looking = (async () => {
    while (!over.yet) {
      await pause(100);
      echoes.push((await short.call('work__echo', { key: 'echo', value: 1 })).ms);
    }
  })();
  const came = await all;
  over.yet = true;
  await looking;
  for (const one of came) assertResult(one, 50 * mib);
  const { peak } = rss(pid);
  const sorted = echoes.toSorted((a, b) => a - b);
  t.diagnostic(
    `server at most ${Math.round(peak / mib)} MB; last result after ${Math.max(...came.map((c) => c.ms)).toFixed(0)} ms;` +
      ` ${echoes.length} echoes meanwhile, ${sorted[sorted.length >> 1]?.toFixed(0)} ms in the middle, ${sorted.at(-1)?.toFixed(0)} ms at worst`,
  );
  assert.ok(peak < 600 * mib, `the server held ${Math.round(peak / mib)} MB`);
  assert.ok(echoes.length > 10, `${echoes.length} echoes came through`);
  await waitFor('the memory to be given back', () => rss(pid).now < 150 * mib, 40_000);
  const { goroutines } = (await world.status()).memory;
  assert.ok(goroutines < 60, `${goroutines} goroutines`);
});

test('a client that does not read its large result delays no other client, and its memory is freed when it disconnects', async () => {
  const [deaf, short] = [await caller(), await caller()];
  const held = await deaf.hold('work__big', { key: 'unread', bytes: 50 * mib });
  await pause(1_000);
  for (let i = 0; i < 20; i++) {
    const { ms, head } = await short.call('work__echo', { key: 'echo', value: i });
    assert.match(head, /structuredContent/);
    assert.ok(ms < 5_000, `an echo took ${ms} ms`);
  }
  assertResult(await short.call('work__big', { key: 'other', bytes: 20 * mib }), 20 * mib);
  held.leave();
  await waitFor('the memory to be given back', () => rss(pid).now < 150 * mib, 40_000);
});
