/** Promise: calls leave nothing behind in the server, the extension or the page; make soak ONLY=load does it for ten minutes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World } from '../soak/world.ts';
import { grown, stream, table } from './steady.ts';

let world: World;

before(async () => {
  world = new World(1, { idleTimeout: '20s' });
  await world.start();
});
after(() => world?.close());

test('3,000 calls at 10,000 per minute end as expected, and memory use stays flat', async (t) => {
  const streamed = await stream(world, { calls: 3_000, perMinute: 10_000 }, () => undefined);
  t.diagnostic(table(streamed));
  assert.deepEqual(streamed.wrong, []);
  assert.deepEqual(grown(streamed), []);
});
