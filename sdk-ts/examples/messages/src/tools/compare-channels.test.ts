import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { compareChannels } from './compare-channels.ts';

const channelIds = ['general', 'random'];

test('it exports each channel and keeps the counts', async () => {
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
    { progress: 0, total: 2, message: 'Reading general', audience: 'user' },
    { progress: 1, total: 2, message: 'Reading random', audience: 'user' },
  ]);
  assert.equal(context.endedFor, 'user');
});

test('it ends with the first channel that cannot be exported', async () => {
  const context = makeContext();
  await assert.rejects(compareChannels.handle({ channelIds }, context), { code: 'unknown_tool' });
  assert.equal(context.calls.length, 1);
});

test('it stops with its call', async () => {
  const context = makeContext({ tools: { export_messages: () => new Promise(() => undefined) } });
  const call = compareChannels.handle({ channelIds }, context);
  context.stop('enough');
  await assert.rejects(call, { code: 'aborted', message: 'aborted: enough' });
});

test('it says that it needs a context', async () => {
  await assert.rejects(compareChannels.handle({ channelIds }), { code: 'INTERNAL_ERROR', message: /needs a context/ });
});
