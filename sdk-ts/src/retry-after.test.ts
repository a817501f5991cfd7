import assert from 'node:assert/strict';
import test from 'node:test';
import { parseRateLimitHeader, parseRetryAfterMs } from './retry-after.ts';

const nowMs = Date.UTC(2030, 0, 1);

test('Retry-After contains seconds or a future date', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: nowMs });
  assert.equal(parseRetryAfterMs('120'), 120_000);
  assert.equal(parseRetryAfterMs(' 0 '), 0);
  assert.equal(parseRetryAfterMs('Tue, 01 Jan 2030 00:00:10 GMT'), 10_000);
  assert.equal(parseRetryAfterMs('Mon, 31 Dec 2029 00:00:00 GMT'), undefined);
  assert.equal(parseRetryAfterMs('soon'), undefined);
});

test('the rate limit is read from the first header that is present', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: nowMs });
  const parseHeaders = (headers: Record<string, string>) => parseRateLimitHeader(new Headers(headers));
  assert.equal(parseHeaders({}), undefined);
  assert.equal(parseHeaders({ 'Retry-After': '3', 'x-rate-limit-reset': String(nowMs / 1000 + 60) }), 3000);
  assert.equal(parseHeaders({ 'x-rate-limit-reset': String(nowMs / 1000 + 60), 'x-ratelimit-reset': '5' }), 60_000);
  assert.equal(parseHeaders({ 'X-RateLimit-Reset': String(nowMs + 60_000) }), 60_000);
  assert.equal(parseHeaders({ 'x-ratelimit-reset': '5' }), 5000);
  assert.equal(parseHeaders({ 'RateLimit-Reset': '2.5' }), 2500);
});

test('parseRateLimitHeader returns undefined for a past or invalid time', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: nowMs });
  const parseHeaders = (headers: Record<string, string>) => parseRateLimitHeader(new Headers(headers));
  assert.equal(parseHeaders({ 'x-rate-limit-reset': String(nowMs / 1000 - 1) }), undefined);
  assert.equal(parseHeaders({ 'ratelimit-reset': 'soon' }), undefined);
  assert.equal(parseHeaders({ 'ratelimit-reset': '-5' }), undefined);
});
