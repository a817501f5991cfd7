import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { reports } from './reports.ts';

test('reports sends the given reports with their special numbers, then the loop', async () => {
  const context = makeContext();
  const given = [{ progress: 'NaN', total: 'Infinity' }, { progress: '-Infinity' }, { progress: -1, message: 5 }, {}];
  const result = await reports.handle({ reports: given, loop: 2 }, context);
  assert.deepEqual(context.reports, [
    { progress: Number.NaN, total: Number.POSITIVE_INFINITY },
    { progress: Number.NEGATIVE_INFINITY },
    { progress: -1, message: 5 },
    {},
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ]);
  assert.deepEqual([result.made, result.threw], [6, 0]);
});

test('reports waits everyMs between the reports and counts those that throw', async (t) => {
  const context = makeContext();
  t.mock.method(context, 'reportProgress', () => {
    throw new Error('no');
  });
  const result = await reports.handle({ reports: [{}, {}], loop: 0, everyMs: 1 }, context);
  assert.deepEqual([result.made, result.threw], [2, 2]);
});

test('reports runs without a context', async () => {
  assert.equal((await reports.handle({ reports: [{}], loop: 1 })).made, 2);
});
