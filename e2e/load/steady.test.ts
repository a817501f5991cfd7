/** Calls leak no memory or objects in the daemon, the extension or the page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SystemUnderTest } from '../soak/system-under-test.ts';
import { formatTable, listGrowthViolations, streamCalls } from './steady.ts';

let testedSystem: SystemUnderTest;

before(async () => {
  testedSystem = new SystemUnderTest(1, { idleTimeout: '20s' });
  await testedSystem.start();
});
after(() => testedSystem?.close());

test('3,000 calls at 10,000 per minute end as expected, and memory use stays flat', async (t) => {
  const streamResult = await streamCalls(testedSystem, { calls: 3_000, callsPerMinute: 10_000 }, () => undefined);
  t.diagnostic(formatTable(streamResult));
  assert.deepEqual(streamResult.violationTexts, []);
  assert.deepEqual(listGrowthViolations(streamResult), []);
});
