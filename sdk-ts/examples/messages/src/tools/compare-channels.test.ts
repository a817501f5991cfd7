import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { compareChannels } from './compare-channels.ts';

const channelIds = ['general', 'random'];

test('compare_channels exports each channel and returns the counts', async () => {
  const context = makeContext({
    tools: {
      export_messages: ({ channelId }: { channelId: string }) => ({ channelId, count: channelId.length, messages: [] }),
    },
  });
  assert.deepEqual(await compareChannels.handle({ channelIds }, context), {
    channels: [
      { channelId: 'general', count: 7 },
      { channelId: 'random', count: 6 },
    ],
  });
  assert.deepEqual(
    context.calls.map((call) => call.input),
    [{ channelId: 'general' }, { channelId: 'random' }],
  );
  assert.deepEqual(context.reports, [
    { percent: 0, message: 'Reading general', audience: 'user' },
    { percent: 50, message: 'Reading random', audience: 'user' },
    { percent: 100, message: 'Read 2 channels', audience: 'user' },
  ]);
  assert.equal(context.endedFor, 'user');
});

test('compare_channels reports each channel as an equal share of the progress', async () => {
  const reportPercents = async (...ids: string[]) => {
    const context = makeContext({ tools: { export_messages: { channelId: 'a', count: 1, messages: [] } } });
    await compareChannels.handle({ channelIds: ids }, context);
    return context.reports.map(({ percent }) => percent);
  };
  assert.deepEqual(await reportPercents('a', 'b', 'c'), [0, 33, 66, 100]);
  assert.deepEqual(await reportPercents('a'), [0, 100]);
});

test('compare_channels fails at the first channel that cannot be exported', async () => {
  const context = makeContext();
  await assert.rejects(compareChannels.handle({ channelIds }, context), { code: 'unknown_tool' });
  assert.equal(context.calls.length, 1);
});

test('compare_channels stops when its call is stopped', async () => {
  const context = makeContext({ tools: { export_messages: () => new Promise(() => undefined) } });
  const call = compareChannels.handle({ channelIds }, context);
  context.stop('enough');
  await assert.rejects(call, { code: 'aborted', message: 'aborted: enough' });
});

test('compare_channels fails without a context', async () => {
  await assert.rejects(compareChannels.handle({ channelIds }), { code: 'INTERNAL_ERROR', message: /needs a context/ });
});
