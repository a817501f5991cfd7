/** The benchmark rows that need no browser can be measured, here at the smallest scale. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BenchFixture } from './bench-fixture.ts';
import type { BenchRow } from './row.ts';
import { measureDispatch, measureHubCalls, measureSearch } from './rows/gobench.ts';
import { measureSubscribers } from './rows/subscribers.ts';

function assertRowsAreMeasured(benchRows: readonly BenchRow[]): void {
  assert.notEqual(benchRows.length, 0);
  for (const benchRow of benchRows) {
    assert.doesNotMatch(`${benchRow.ours} ${benchRow.floor}`, /NaN/, benchRow.what);
    assert.ok(benchRow.value === undefined || benchRow.value > 0, `${benchRow.what}: ${benchRow.value}`);
  }
}

for (const [rowName, measureRow] of Object.entries({ measureDispatch, measureHub: measureHubCalls, measureSearch })) {
  test(`${rowName} finds its Go benchmarks and their metrics`, async () => {
    assertRowsAreMeasured(await measureRow(undefined, ['-benchtime=1x']));
  });
}

test('the row "subscribers" is measured with three subscribers', async () => {
  const fixture = new BenchFixture();
  try {
    assertRowsAreMeasured(await measureSubscribers(fixture, { subscriberCount: 3, callsPerBlock: 20, roundCount: 1 }));
  } finally {
    await fixture.close();
  }
});
