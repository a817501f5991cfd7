import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { exportMessages } from './export-messages.ts';

/** site answers with three pages of one message each and returns the paths that were requested. */
function site(t: TestContext): string[] {
  const asked: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    asked.push(url);
    const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor'));
    const messages = [{ text: `text ${page}`, author: 'ann', timestamp: '2026-01-01T00:00:00Z' }];
    return Response.json({ messages, totalPages: 3, ...(page < 2 && { nextCursor: String(page + 1) }) });
  });
  return asked;
}

test('it reports each page', async (t) => {
  const asked = site(t);
  const context = makeContext();
  const { messages, total } = await exportMessages.handle({ channelId: 'general' }, context);
  assert.equal(total, 3);
  assert.deepEqual(messages[2], { text: 'text 2', author: 'ann', timestamp: '2026-01-01T00:00:00Z' });
  assert.deepEqual(
    asked,
    ['', '1', '2'].map((cursor) => `/api/channels/general/messages?cursor=${cursor}`),
  );
  assert.deepEqual(
    context.reports,
    [1, 2, 3].map((page) => ({ progress: page, total: 3, message: `Exported page ${page} of 3` })),
  );
});

test('it runs without a context', async (t) => {
  site(t);
  assert.equal((await exportMessages.handle({ channelId: 'general' })).total, 3);
});
