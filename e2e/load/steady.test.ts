/** Calls leak no memory or objects in the daemon, the extension or the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SystemUnderTest } from '../soak/system-under-test.ts';
import { findGrowth, formatTable, streamCalls } from './steady.ts';

let system: SystemUnderTest;

before(async () => {
  system = new SystemUnderTest(1, { idleTimeout: '20s' });
  await system.start();
});
after(() => system?.close());

test('3,000 calls at 10,000 per minute end as expected, and memory use stays flat', async (t) => {
  const streamResult = await streamCalls(system, { calls: 3_000, perMinute: 10_000 }, () => undefined);
  t.diagnostic(formatTable(streamResult));
  assert.deepEqual(streamResult.violations, []);
  assert.deepEqual(findGrowth(streamResult), []);
});
