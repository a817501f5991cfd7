import { expect, simulate, test } from '@opentabs/sdk/testing';
import plugin from './index.ts';

const url = 'https://shop.example/start';

test('the page has the options of the test', async () => {
  const tab = simulate(plugin, {
    url,
    html: '<title>Shop</title><h1 class="big" data-x="1">Hello</h1>',
    cookies: 'a=1; session=s3',
    localStorage: { key: 'value' },
    settings: { apiKey: 'k' },
    preScript: { token: 't' },
    globals: { pageGlobal: 7 },
  });
  const call = await tab.call('read_page', {});
  expect(call.result).toEqual({
    title: 'Shop', heading: 'Hello', url, host: 'shop.example', cookie: 's3', stored: 'value', setting: 'k', early: 't', global: 7,
  });
});

test('a new page has no state of the previous page', async () => {
  const call = await simulate(plugin, { url }).call('read_page', {});
  expect(call.result).toEqual({ title: '', url, host: 'shop.example', cookie: null, stored: null });
});

test('five minutes of virtual time pass at once, and progress reports keep a call alive', async () => {
  const call = await simulate(plugin).call('count', { to: 10, everyMs: 29_000 });
  expect(call.result).toEqual({ counted: 10 });
  expect(call.reports.length).toBe(10);
  expect(call.reports[9]).toEqual({ progress: 10, total: 10, message: '10 done' });
  expect(call.tookMs).toBe(290_000);
});

test('a call without progress reports fails after 30 s', async () => {
  const call = await simulate(plugin).call('silent', { ms: 31_000 });
  expect(call.error).toEqual({ code: 'idle_timeout', message: 'no progress and no result for 30 s' });
  expect(call.stopped).toBe('aborted');
  expect(call.tookMs).toBe(30_000);
});

test('a call fails after 5 minutes in total', async () => {
  const call = await simulate(plugin).call('count', { to: 100, everyMs: 10_000 });
  expect(call.error?.code).toBe('deadline_exceeded');
  expect(call.tookMs).toBe(300_000);
});

test('a cancellation at a given time or at a progress report aborts a waiting handler', async () => {
  const late = await simulate(plugin).call('count', { to: 100 }, { cancelAt: 2500 });
  expect([late.error?.code, late.stopped, late.reports.length, late.tookMs]).toEqual(['cancelled', 'aborted', 2, 2500]);
  const reported = await simulate(plugin).call('count', { to: 100 }, { cancelAtReport: 4 });
  expect([reported.error?.code, reported.stopped, reported.reports.length]).toEqual(['cancelled', 'aborted', 4]);
  const early = await simulate(plugin).call('count', {}, { cancelAt: 0 });
  expect([early.error?.code, early.reports.length]).toEqual(['cancelled', 0]);
});

test('a handler that ignores its signal is detected', async () => {
  const call = await simulate(plugin).call('deaf', {}, { cancelAt: 1000 });
  expect([call.error?.code, call.stopped, call.tookMs]).toEqual(['cancelled', 'ignored', 3000]);
});

test('the site responds with its routes', async () => {
  const tab = simulate(plugin, {
    url,
    routes: {
      'GET /api/items/7': { json: { price: 3 }, delayMs: 800 },
      'GET /api/items/8': { status: 404, text: 'gone' },
      'GET https://shop.example/api/items/9*': ({ url }) => ({ json: { asked: url } }),
      'GET /api/items/10': { error: 'connection reset' },
    },
  });
  const found = await tab.call('buy', { id: '7' });
  expect([found.result, found.tookMs]).toEqual([{ answer: { price: 3 } }, 800]);
  const gone = await tab.call('buy', { id: '8' });
  expect([gone.error?.code, gone.error?.tool?.code, gone.error?.tool?.category]).toEqual(['tool_error', 'NOT_FOUND', 'not_found']);
  expect((await tab.call('buy', { id: '9' })).result).toEqual({ answer: { asked: 'https://shop.example/api/items/9?full=1' } });
  const broken = await tab.call('buy', { id: '10' });
  expect([broken.error?.tool?.code, broken.error?.tool?.retryable]).toEqual(['network_error', true]);
  const missing = await tab.call('buy', { id: '11' });
  expect(missing.error?.message).toMatch('the test has no route "GET /api/items/11?full=1"');
  expect(tab.requests.map(({ method, url }) => `${method} ${url}`)).toContain('GET https://shop.example/api/items/7?full=1');
  expect(tab.logs.map(({ level, message, data }) => [level, message, data])[0]).toEqual(['info', 'buying', [{ id: '7' }]]);
});

test('the path of a route can contain characters that a URL escapes', async () => {
  const tab = simulate(plugin, { url, routes: { 'GET /api/items/münze': { json: { price: 4 } } } });
  expect((await tab.call('buy', { id: 'münze' })).result).toEqual({ answer: { price: 4 } });
  expect(tab.requests[0].url).toEqual('https://shop.example/api/items/m%C3%BCnze?full=1');
});

test('URLs follow the standard', () => {
  const at = new URL('../b?x=1#h', 'https://user:pw@MÜNCHEN.example:443/a/c/');
  expect(at.href).toEqual('https://user:pw@xn--mnchen-3ya.example/a/b?x=1#h');
  at.searchParams.append('q', 'ä b');
  at.port = '8443';
  at.username = '';
  at.password = '';
  expect([at.origin, at.search]).toEqual(['https://xn--mnchen-3ya.example:8443', '?x=1&q=%C3%A4+b']);
  at.search = '?y=2';
  expect([...at.searchParams]).toEqual([['y', '2']]);
  expect([new URL('http://[::1]:80/').host, new URL('https://127.1/').hostname]).toEqual(['[::1]', '127.0.0.1']);
  expect(new URLSearchParams('a=1&a=2').has('a', '3')).toEqual(false);
  expect([URL.canParse('https://a b/'), URL.parse('/path')]).toEqual([false, null]);
});

test('arguments and results are validated like on the server', async () => {
  const tab = simulate(plugin);
  expect((await tab.call('silent', {})).error?.message).toMatch(/^the arguments of silent are not valid:\nms: /);
  expect((await tab.call('silent', { ms: 1, more: 2 })).error?.message).toMatch('more: unknown argument; allowed: ms');
  expect((await tab.call('nothing', {})).error?.code).toBe('unknown_tool');
  expect((await tab.call('wrong', {})).error?.code).toBe('invalid_result');
  expect((await tab.call('fail', {})).error).toEqual({
    code: 'tool_error', message: 'slow down', tool: { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true, retryAfterMs: 5000 },
  });
});

test('a plugin that is not ready runs nothing', async () => {
  const call = await simulate(plugin, { html: '<html data-logged-out><body></body></html>' }).call('read_page', {});
  expect(call.error?.code).toBe('not_ready');
});

test('a call keeps the result that it returned before the page navigated', async () => {
  const tab = simulate(plugin, { url });
  expect((await tab.call('go', {})).result).toEqual({ going: true });
  expect(tab.url).toBe('https://shop.example/elsewhere');
  expect((await simulate(plugin, { url }).call('go', { stay: true })).error?.code).toBe('navigated');
  expect((await simulate(plugin, { url }).call('count', {}, { navigateAt: 1500 })).error?.code).toBe('navigated');
});

test('simulated users and tools respond to calls, and a tool can wait for an element', async () => {
  expect((await simulate(plugin).call('appear', {})).result).toEqual({ text: 'here' });
  const tab = simulate(plugin, { tools: { other__tool: ({ a }: { a: number }) => a + 1 } });
  const call = await tab.call('ask', {});
  expect([call.result, call.userRequests.length, call.calls]).toEqual([{ nested: 2 }, 1, [{ tool: 'other__tool', input: { a: 1 } }]]);
  expect((await simulate(plugin, { user: 'deny' }).call('ask', {})).error?.tool?.code).toBe('user_denied');
});

test('a prompt is rendered', async () => {
  const tab = simulate(plugin);
  expect((await tab.prompt('hello', { who: 'ann' })).result).toBe('Hello ann');
  expect((await tab.prompt('hello', {})).error?.code).toBe('invalid_arguments');
});

test('expectations can be negated', () => {
  expect([1, { a: 2 }]).toContain({ a: 2 });
  expect('text').not.toMatch('other');
  expect({ a: undefined }).toEqual({});
  expect(() => {
    throw new Error('no');
  }).toThrow('no');
  expect(() => expect(1).toBe(2)).toThrow('expected 1 to be 2');
  expect(new Date(2026, 0, 1)).not.toEqual(new Date(2027, 0, 1));
});

test('an assertion about a promise fails, even with `not`', async () => {
  const promise = Promise.resolve({ counted: 3 });
  const actual = expect(promise);
  for (const assert of [
    () => actual.toEqual({}),
    () => actual.not.toEqual({ counted: 3 }),
    () => actual.not.toBe(undefined),
    () => actual.not.toContain(1),
    () => actual.toMatch('Promise'),
    () => actual.toBeTruthy(),
    () => actual.not.toThrow(),
  ]) expect(assert).toThrow('the tested value is a promise; write await before it');
  expect(promise).toBe(promise);
  expect(promise).not.toBe(Promise.resolve());
  expect(() => actual.not.toBe(promise)).toThrow('expected another promise');
});

test('an error about a function without a name contains the word "function"', () => {
  expect(() => expect(() => 1).toBe(1)).toThrow('expected function to be 1');
});

test('toThrow rejects a function that returns a promise', async () => {
  expect(() => expect(() => Promise.resolve(1)).not.toThrow()).toThrow('the function returns a promise');
});
