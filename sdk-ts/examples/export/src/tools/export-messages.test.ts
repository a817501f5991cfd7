import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { exportMessages } from './export-messages.ts';

/**
 * Mocks a site with three pages of one message each. Returns the list to which the mock adds the path of each request.
 */
function mockSite(t: TestContext): string[] {
  const requestedPaths: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    requestedPaths.push(url);
    const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor'));
    const messages = [{ text: `text ${page}`, author: 'ann', timestamp: '2026-01-01T00:00:00Z' }];
    return Response.json({ messages, totalPages: 3, ...(page < 2 && { nextCursor: String(page + 1) }) });
  });
  return requestedPaths;
}

test('export_messages reports each page', async (t) => {
  const requestedPaths = mockSite(t);
  const context = makeContext();
  const { messages, total } = await exportMessages.handle({ channelId: 'general' }, context);
  assert.equal(total, 3);
  assert.deepEqual(messages[2], { text: 'text 2', author: 'ann', timestamp: '2026-01-01T00:00:00Z' });
  assert.deepEqual(
    requestedPaths,
    ['', '1', '2'].map((cursor) => `/api/channels/general/messages?cursor=${cursor}`),
  );
  assert.deepEqual(
    context.reports,
    [1, 2, 3].map((page) => ({ progress: page, total: 3, message: `Exported page ${page} of 3` })),
  );
});

test('export_messages runs without a context', async (t) => {
  mockSite(t);
  assert.equal((await exportMessages.handle({ channelId: 'general' })).total, 3);
});
