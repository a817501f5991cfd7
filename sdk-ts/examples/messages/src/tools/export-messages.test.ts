import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { makeContext } from '@opentabs/sdk/testing';
import { exportMessages } from './export-messages.ts';

/** A site with three pages of two messages; returns the URLs that were asked for. */
function site(t: TestContext, totalPages?: number): string[] {
  const asked: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    asked.push(url);
    const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor') ?? '0');
    const messages = [0, 1].map((n) => ({ id: `${page}.${n}`, text: `text ${n}` }));
    return Response.json({ messages, nextCursor: page < 2 ? String(page + 1) : null, totalPages });
  });
  return asked;
}

const ids = ['0.0', '0.1', '1.0', '1.1', '2.0', '2.1'];

test('it reads all pages, without a context too', async (t) => {
  const asked = site(t);
  const result = await exportMessages.handle({ channelId: 'a/b', pageDelayMs: 0 });
  assert.deepEqual(
    result.messages.map((message) => message.id),
    ids,
  );
  assert.deepEqual([result.channelId, result.count], ['a/b', 6]);
  const path = '/api/channels/a%2Fb/messages';
  assert.deepEqual(asked, [path, `${path}?cursor=1`, `${path}?cursor=2`]);
});

test('it reports each page', async (t) => {
  site(t, 3);
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

test('it stops between two pages', async (t) => {
  const asked = site(t);
  const context = makeContext();
  t.mock.method(context, 'reportProgress', () => context.stop('enough'));
  const call = exportMessages.handle({ channelId: 'a', pageDelayMs: 3_600_000 }, context);
  await assert.rejects(call, { code: 'aborted', message: 'aborted: enough' });
  assert.equal(asked.length, 1);
});

test('a site that answers something else is told as such', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({ error: 'no such channel' }));
  await assert.rejects(exportMessages.handle({ channelId: 'a', pageDelayMs: 0 }), {
    code: 'VALIDATION_ERROR',
    message: /unexpected answer from .*messages: messages:/,
  });
});

test('arguments have defaults and limits', () => {
  assert.deepEqual(exportMessages.input.parse({ channelId: 'a' }), { channelId: 'a', pageDelayMs: 0 });
  assert.equal(exportMessages.input.safeParse({ channelId: '' }).success, false);
});
