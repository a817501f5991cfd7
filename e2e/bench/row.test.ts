/** `make bench` prints MISSED if and only if a measured value misses its limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchRow, computeVerdict, formatTable, makeLowerThreshold, makeUpperThreshold } from './row.ts';
import { computeQuantile, summarize } from './samples.ts';

const echoRow: BenchRow = { id: 'echo', what: 'an echo', ours: '1 ms' };

test('a row is MISSED if its value is beyond the limit or a condition is broken', () => {
  const verdictCases: [Partial<BenchRow>, ReturnType<typeof computeVerdict>][] = [
    [{}, ''],
    [{ value: 1.25, threshold: makeUpperThreshold(1.25, 'x') }, 'ok'],
    [{ value: 1.26, threshold: makeUpperThreshold(1.25, 'x') }, 'MISSED'],
    [{ value: Number.NaN, threshold: makeUpperThreshold(1.25, 'x') }, 'MISSED'],
    [{ value: Number.NaN }, 'MISSED'],
    [{ threshold: makeUpperThreshold(1.25, 'x') }, 'MISSED'],
    [{ value: 1500, threshold: makeLowerThreshold(1500, '/s') }, 'ok'],
    [{ value: 1499, threshold: makeLowerThreshold(1500, '/s') }, 'MISSED'],
    [{ value: 1, threshold: makeUpperThreshold(2, 'ms'), broken: 'one was lost' }, 'MISSED'],
    [{ broken: 'one was lost' }, 'MISSED'],
  ];
  for (const [fields, expectedVerdict] of verdictCases)
    assert.equal(computeVerdict({ ...echoRow, ...fields }), expectedVerdict, JSON.stringify(fields));
});

test('the table has value, limit and verdict, and lists the broken conditions below', () => {
  const tableText = formatTable([
    { ...echoRow, value: 3, threshold: makeUpperThreshold(2, 'ms'), broken: 'one was lost' },
  ]);
  assert.match(tableText, /^echo +an echo +1 ms +3\.00 ms +<= 2 ms +MISSED$/m);
  assert.match(tableText, /^echo: one was lost$/m);
});

test('the p50 of a summary is the median of the blocks, so one slow block does not change it', () => {
  const sampleSummary = summarize([
    [1, 2, 3],
    [100, 200, 300],
    [2, 2, 2],
  ]);
  assert.deepEqual(sampleSummary, { p50: 2, p99: 300, max: 300, samples: 9 });
  assert.equal(computeQuantile([5, 1, 3], 0.5), 3);
});
