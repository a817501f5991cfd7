import type { TestContext } from 'node:test';

/**
 * Mocks a site with three pages of two messages each. Returns an array to which the mock adds each URL that the tested
 * code requests.
 */
export function mockSite(t: TestContext, totalPages?: number): string[] {
  const requestedUrls: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
    init.signal?.throwIfAborted();
    requestedUrls.push(url);
    const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor') ?? '0');
    const messages = [0, 1].map((n) => ({
      id: `${page}.${n}`,
      author: ['ann', 'bob'][(page + n) % 2],
      text: `text ${n}`,
    }));
    return Response.json({ messages, nextCursor: page < 2 ? String(page + 1) : null, totalPages });
  });
  return requestedUrls;
}
