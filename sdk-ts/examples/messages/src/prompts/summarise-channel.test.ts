import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { mockSite } from '../test/site.ts';
import { summariseChannel } from './summarise-channel.ts';

test('summarise_channel asks for a summary of the last messages and reports each page', async (t) => {
  mockSite(t, 3);
  const context = makeContext();
  assert.equal(
    await summariseChannel.render({ channelId: 'general', last: 2 }, context),
    'Summarise these messages of the channel general:\n\nann: text 0\nbob: text 1',
  );
  assert.deepEqual(
    context.reports.map(({ progress, total, audience }) => [progress, total, audience]),
    [
      [1, 3, 'user'],
      [2, 3, 'user'],
      [3, 3, 'user'],
    ],
  );
});

test('summarise_channel stops when its call is stopped', async (t) => {
  mockSite(t);
  const context = makeContext({ stopAtReport: 1 });
  await assert.rejects(summariseChannel.render({ channelId: 'a', last: 1 }, context), { code: 'aborted' });
});

test('the arguments of summarise_channel have defaults and limits', () => {
  assert.deepEqual(summariseChannel.args.parse({ channelId: 'a' }), { channelId: 'a', last: 50 });
  assert.equal(summariseChannel.args.safeParse({ channelId: 'a', last: 0 }).success, false);
});
