// The tests in this file pass in a simulated page and in a real browser.
import { expect, simulate, test } from '@opentabs/sdk/testing';
import plugin from './index.ts';

const url = 'https://shop.example/start';

test('both: the page has the options of the test', async () => {
  const tab = simulate(plugin, {
    url,
    html: '<title>Shop</title><h1 class="big" data-x="1">Hello</h1>',
    cookies: 'a=1; session=s3',
    localStorage: { key: 'value' },
    settings: { apiKey: 'k' },
    globals: { pageGlobal: 7 },
  });
  const call = await tab.call('read_page', {});
  expect(call.result).toEqual({
    title: 'Shop', heading: 'Hello', url, host: 'shop.example', cookie: 's3', stored: 'value', setting: 'k', global: 7,
  });
  expect(tab.url).toBe(url);
});

test('both: no state of the previous page is left', async () => {
  const call = await simulate(plugin, { url }).call('read_page', {});
  expect(call.result).toEqual({ title: '', url, host: 'shop.example', cookie: null, stored: null });
});

test('both: reports come in order', async () => {
  const call = await simulate(plugin).call('count', { to: 3, everyMs: 10 });
  expect(call.result).toEqual({ counted: 3 });
  expect(call.reports).toEqual([1, 2, 3].map((n) => ({ progress: n, total: 3, message: `${n} done` })));
  expect(call.dropped).toEqual([]);
});

test('both: a cancellation aborts a waiting handler', async () => {
  const call = await simulate(plugin).call('count', { to: 1000, everyMs: 100 }, { cancelAtReport: 2 });
  expect([call.error?.code, call.stopped]).toEqual(['cancelled', 'aborted']);
  expect(call.reports.slice(0, 2).map((r) => r.progress)).toEqual([1, 2]);
  const early = await simulate(plugin).call('silent', { ms: 20_000 }, { cancelAt: 0 });
  expect(early.error?.code).toBe('cancelled');
});

test('both: a handler that ignores its signal is detected', async () => {
  const call = await simulate(plugin).call('deaf', {}, { cancelAt: 10 });
  expect([call.error?.code, call.stopped]).toEqual(['cancelled', 'ignored']);
});

test('both: the site responds with its routes', async () => {
  const tab = simulate(plugin, {
    url,
    routes: {
      'GET /api/items/7': { json: { price: 3 }, delayMs: 20 },
      'GET /api/items/8': { status: 404, text: 'gone' },
      'GET https://shop.example/api/items/9*': ({ url }) => ({ json: { asked: url } }),
      'GET /api/items/10': { error: 'connection reset' },
    },
  });
  expect((await tab.call('buy', { id: '7' })).result).toEqual({ answer: { price: 3 } });
  const gone = await tab.call('buy', { id: '8' });
  expect([gone.error?.code, gone.error?.tool?.code, gone.error?.tool?.category]).toEqual(['tool_error', 'NOT_FOUND', 'not_found']);
  expect((await tab.call('buy', { id: '9' })).result).toEqual({ answer: { asked: 'https://shop.example/api/items/9?full=1' } });
  const broken = await tab.call('buy', { id: '10' });
  expect([broken.error?.tool?.code, broken.error?.tool?.retryable]).toEqual(['network_error', true]);
  const missing = await tab.call('buy', { id: '11' });
  expect(missing.error?.message).toMatch('the test has no route "GET /api/items/11?full=1"');
  expect(tab.requests.map(({ method, url }) => `${method} ${url}`)[0]).toBe('GET https://shop.example/api/items/7?full=1');
  expect(tab.logs.map(({ level, message, data }) => [level, message, data])[0]).toEqual(['info', 'buying', [{ id: '7' }]]);
});

test('both: invalid calls are rejected', async () => {
  const tab = simulate(plugin);
  expect((await tab.call('silent', {})).error?.code).toBe('invalid_arguments');
  expect((await tab.call('nothing', {})).error?.code).toBe('unknown_tool');
  const failed = await tab.call('fail', {});
  expect([failed.error?.code, failed.error?.tool]).toEqual([
    'tool_error', { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true, retryAfterMs: 5000 },
  ]);
  const out = simulate(plugin, { html: '<html data-logged-out><body></body></html>' });
  expect((await out.call('read_page', {})).error?.code).toBe('not_ready');
});

test('both: a navigation fails the call', async () => {
  const call = await simulate(plugin, { url }).call('silent', { ms: 20_000 }, { navigateAt: 10 });
  expect(call.error?.code).toBe('navigated');
});

test('both: elements appear and the user denies', async () => {
  expect((await simulate(plugin).call('appear', {})).result).toEqual({ text: 'here' });
  expect((await simulate(plugin, { user: 'deny' }).call('ask', {})).error?.tool?.code).toBe('user_denied');
});

test('both: simulated pages only', async () => {
  const call = await simulate(plugin, { url, preScript: { token: 't' } }).call('read_page', {});
  expect(call.error).toBe(undefined);
});
