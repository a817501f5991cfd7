import assert from 'node:assert/strict';
import test from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { mockSite } from '../test/site.ts';
import { exportMessages } from './export-messages.ts';

const ids = ['0.0', '0.1', '1.0', '1.1', '2.0', '2.1'];

test('export_messages reads all pages, even without a context', async (t) => {
  const requestedUrls = mockSite(t);
  const result = await exportMessages.handle({ channelId: 'a/b', pageDelayMs: 0 });
  assert.deepEqual(
    result.messages.map((message) => message.id),
    ids,
  );
  assert.deepEqual([result.channelId, result.count], ['a/b', 6]);
  const path = '/api/channels/a%2Fb/messages';
  assert.deepEqual(requestedUrls, [path, `${path}?cursor=1`, `${path}?cursor=2`]);
});

test('export_messages reports each page', async (t) => {
  mockSite(t, 3);
  const context = makeContext();
  await exportMessages.handle({ channelId: 'a', pageDelayMs: 0 }, context);
  assert.deepEqual(
    context.reports.map((report) => [report.progress, report.total, report.message, report.audience]),
    [
      [1, 3, '2 messages read', 'user'],
      [2, 3, '4 messages read', 'user'],
      [3, 3, '6 messages read', 'user'],
    ],
  );
});

test('export_messages sets the audience of its result to the user', async (t) => {
  mockSite(t);
  const context = makeContext();
  await exportMessages.handle({ channelId: 'a', pageDelayMs: 0 }, context);
  assert.equal(context.endedFor, 'user');
});

test('export_messages stops between two pages', async (t) => {
  const requestedUrls = mockSite(t);
  const context = makeContext({ stopAtReport: 1 });
  const call = exportMessages.handle({ channelId: 'a', pageDelayMs: 3_600_000 }, context);
  await assert.rejects(call, { code: 'aborted' });
  assert.equal(requestedUrls.length, 1);
});

test('an unexpected answer of the site is a VALIDATION_ERROR', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({ error: 'no such channel' }));
  await assert.rejects(exportMessages.handle({ channelId: 'a', pageDelayMs: 0 }), {
    code: 'VALIDATION_ERROR',
    message: /unexpected answer from .*messages: messages:/,
  });
});

test('the arguments of export_messages have defaults and limits', () => {
  assert.deepEqual(exportMessages.input.parse({ channelId: 'a' }), { channelId: 'a', pageDelayMs: 0 });
  assert.equal(exportMessages.input.safeParse({ channelId: '' }).success, false);
});
