import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { countdownTool } from './countdown.ts';

test('countdown reports each step', async () => {
  const context = makeContext();
  assert.deepEqual(await countdownTool.handle({ from: 2, intervalMs: 0 }, context), { counted: 2 });
  assert.deepEqual(context.reports, [
    { progress: 1, total: 2, message: '1 to go', audience: 'user' },
    { progress: 2, total: 2, message: '0 to go', audience: 'user' },
  ]);
  assert.equal(context.endedFor, 'user');
});

test('countdown runs without a context', async () => {
  assert.deepEqual(await countdownTool.handle({ from: 1, intervalMs: 0 }), { counted: 1 });
});

test('countdown stops when its call is stopped', async () => {
  const context = makeContext();
  const call = countdownTool.handle({ from: 3, intervalMs: 3_600_000 }, context);
  context.stop('enough');
  await assert.rejects(call, { code: 'aborted' });
  assert.deepEqual(context.reports, []);
});
