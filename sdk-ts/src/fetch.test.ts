import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { z } from 'zod';
import { fetchFromPage, fetchJSON, fetchText, httpStatusToToolError } from './fetch.ts';
import { runCall } from './running.ts';
import { ToolError } from './tool-error.ts';

type FetchMock = (url: string, init: RequestInit) => Response | Promise<Response>;

function mockFetch(t: TestContext, answer: FetchMock) {
  return t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit = {}) => await answer(url, init));
}

const neverRespond: FetchMock = (_, { signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal?.aborted) reject(signal.reason);
  });

async function awaitToolError(failingPromise: Promise<unknown>): Promise<ToolError> {
  try {
    await failingPromise;
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error('the promise did not reject');
}

test('fetchFromPage sends the cookies and the given options', async (t) => {
  const { mock: fetchMock } = mockFetch(t, () => new Response('ok'));
  const response = await fetchFromPage('/a', { method: 'PUT', headers: { x: '1' } });
  assert.equal(await response.text(), 'ok');
  const [url, init] = fetchMock.calls[0]?.arguments ?? [];
  assert.deepEqual([url, init?.method, init?.headers, init?.credentials], ['/a', 'PUT', { x: '1' }, 'include']);
});

test('fetchFromPage times out on a silent site', async (t) => {
  mockFetch(t, neverRespond);
  const error = await awaitToolError(fetchFromPage('/slow', { timeout: 10 }));
  assert.deepEqual([error.code, error.message, error.retryable], ['TIMEOUT', 'no answer after 10 ms: /slow', true]);
});

test('fetchFromPage stops if the given signal or the signal of the call aborts', async (t) => {
  mockFetch(t, neverRespond);
  const controller = new AbortController();
  const explicitSignalError = awaitToolError(fetchFromPage('/a', { signal: controller.signal }));
  const callSignalError = awaitToolError(runCall(controller, () => fetchFromPage('/a')));
  controller.abort(new DOMException('stopped', 'AbortError'));
  for (const error of [await explicitSignalError, await callSignalError]) {
    assert.deepEqual([error.code, error.message, error.retryable], ['aborted', 'aborted: stopped', false]);
  }
});

test('the timeout of fetchFromPage does not apply after the response headers', async (t) => {
  let requestSignal: AbortSignal | null | undefined;
  mockFetch(t, (_, { signal }) => {
    requestSignal = signal;
    return new Response('body');
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await fetchFromPage('/a', { timeout: 10 });
  t.mock.timers.tick(1000);
  assert.equal(requestSignal?.aborted, false);
});

test('the error of a lost connection is retryable', async (t) => {
  mockFetch(t, () => {
    throw new TypeError('Failed to fetch');
  });
  const error = await awaitToolError(fetchFromPage('/a'));
  assert.deepEqual([error.code, error.retryable], ['network_error', true]);
  assert.match(error.message, /no connection to \/a: Failed to fetch/);
});

test('the error of a bad status contains status, URL and the start of the body', async (t) => {
  mockFetch(t, () => new Response('x'.repeat(2000), { status: 404 }));
  const error = await awaitToolError(fetchFromPage('/a'));
  assert.equal(error.code, 'NOT_FOUND');
  assert.equal(error.message, `HTTP 404 from /a: ${'x'.repeat(512)}`);
});

test('httpStatusToToolError maps each status to a ToolError', () => {
  const readErrorFields = (status: number, headers: Record<string, string> = {}) => {
    const e = httpStatusToToolError(new Response(null, { status, headers }), 'm');
    return [e.code, e.category, e.retryable, e.retryAfterMs];
  };
  assert.deepEqual(readErrorFields(401), ['AUTH_ERROR', 'auth', false, undefined]);
  assert.deepEqual(readErrorFields(403), ['AUTH_ERROR', 'auth', false, undefined]);
  assert.deepEqual(readErrorFields(404), ['NOT_FOUND', 'not_found', false, undefined]);
  assert.deepEqual(readErrorFields(408), ['TIMEOUT', 'timeout', true, undefined]);
  assert.deepEqual(readErrorFields(400), ['VALIDATION_ERROR', 'validation', false, undefined]);
  assert.deepEqual(readErrorFields(422), ['VALIDATION_ERROR', 'validation', false, undefined]);
  assert.deepEqual(readErrorFields(429, { 'retry-after': '7' }), ['RATE_LIMITED', 'rate_limit', true, 7000]);
  assert.deepEqual(readErrorFields(503, { 'retry-after': '2' }), ['http_error', 'internal', true, 2000]);
  assert.deepEqual(readErrorFields(500, { 'retry-after': '2' }), ['http_error', 'internal', true, undefined]);
  assert.deepEqual(readErrorFields(501), ['http_error', 'internal', false, undefined]);
  assert.deepEqual(readErrorFields(418), ['http_error', undefined, false, undefined]);
});

test('fetchJSON parses the body, with and without a schema', async (t) => {
  mockFetch(t, () => Response.json({ n: '4' }));
  assert.deepEqual(await fetchJSON('/a'), { n: '4' });
  assert.deepEqual(await fetchJSON('/a', {}, z.object({ n: z.coerce.number() })), { n: 4 });
  const error = await awaitToolError(fetchJSON('/a', {}, z.object({ n: z.number(), m: z.string() })));
  assert.equal(error.code, 'VALIDATION_ERROR');
  assert.match(error.message, /^unexpected answer from \/a: n: .*; m: /);
});

test('fetchJSON returns undefined for an empty body and rejects a body that is not JSON', async (t) => {
  mockFetch(t, (url) => (url === '/empty' ? new Response(null, { status: 204 }) : new Response('<html>')));
  assert.equal(await fetchJSON('/empty'), undefined);
  assert.equal((await awaitToolError(fetchJSON('/empty', {}, z.object({})))).code, 'VALIDATION_ERROR');
  assert.equal(
    (await awaitToolError(fetchJSON('/page'))).message,
    'the answer from /page is a web page (HTML), not JSON; the user may be logged out, or the address is wrong: <html>',
  );
  assert.equal(await fetchText('/page'), '<html>');
});

test('a failure while the response body is read is reported as a lost connection or an abort', async (t) => {
  const makeBrokenResponse = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.error(new TypeError('terminated'));
        },
      }),
    );
  mockFetch(t, makeBrokenResponse);
  assert.equal((await awaitToolError(fetchText('/a'))).code, 'network_error');
  const controller = new AbortController();
  mockFetch(t, () => {
    controller.abort();
    return makeBrokenResponse();
  });
  assert.equal((await awaitToolError(fetchText('/a', { signal: controller.signal }))).code, 'aborted');
});
