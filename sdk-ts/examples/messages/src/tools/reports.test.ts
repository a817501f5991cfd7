import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { reportsTool } from './reports.ts';

test('the tool reports sends the given reports, numbers such as NaN included, and then a loop of reports', async () => {
  const context = makeContext();
  const givenReports = [
    { progress: 'NaN', total: 'Infinity' },
    { progress: '-Infinity' },
    { progress: -1, message: 5 },
    {},
  ];
  const result = await reportsTool.handle({ reports: givenReports, loop: 2 }, context);
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

test('the tool reports waits everyMs between two reports and counts the reports that throw', async (t) => {
  const context = makeContext();
  t.mock.method(context, 'reportProgress', () => {
    throw new Error('no');
  });
  const result = await reportsTool.handle({ reports: [{}, {}], loop: 0, everyMs: 1 }, context);
  assert.deepEqual([result.made, result.threw], [2, 2]);
});

test('the tool reports runs without a context', async () => {
  assert.equal((await reportsTool.handle({ reports: [{}], loop: 1 })).made, 2);
});
