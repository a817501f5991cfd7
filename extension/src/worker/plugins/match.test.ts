import assert from 'node:assert/strict';
import test from 'node:test';
import { matchesAnyPattern, parsePattern, toChromePatterns } from './match.ts';

const matchCases: [pattern: string, url: string, want: boolean][] = [
  ['*://example.com/*', 'https://example.com/', true],
  ['*://example.com/*', 'http://example.com/a?b=c', true],
  ['*://example.com/*', 'ftp://example.com/', false],
  ['*://example.com/*', 'https://a.example.com/', false],
  ['*://example.com/*', 'https://example.com:8443/', true],
  ['https://example.com/*', 'http://example.com/', false],
  ['*://*.example.com/*', 'https://example.com/', true],
  ['*://*.example.com/*', 'https://a.b.example.com/', true],
  ['*://*.example.com/*', 'https://badexample.com/', false],
  ['*://*.example.com/*', 'https://example.com.evil.org/', false],
  ['http://localhost:8080/*', 'http://localhost:8080/x', true],
  ['http://localhost:8080/*', 'http://localhost:8081/x', false],
  ['http://localhost:80/*', 'http://localhost/', true],
  ['https://localhost:443/*', 'https://localhost/', true],
  ['*://*/*', 'https://anything.org/', true],
  ['*://[::1]:80/*', 'http://[::1]/', true],
  ['*://example.com/app', 'https://example.com/app', true],
  ['*://example.com/app', 'https://example.com/app/', false],
  ['*://example.com/a*/b*c', 'https://example.com/aXX/bYYc', true],
  ['*://example.com/a*/b*c', 'https://example.com/aXX/bYYd', false],
  ['*://example.com/aa*aa', 'https://example.com/aaa', false],
  ['*://example.com/*q=1', 'https://example.com/find?q=1', true],
  ['*://example.com/app/*', 'https://example.com/app', true],
  ['*://example.com/app/*', 'https://example.com/app?q=1', false],
  ['*://example.com/app/*', 'https://example.com/application', false],
  ['*://example.com/*', 'https://example.com./x', true],
  ['*://localhost/*', 'http://127.0.0.1/', false],
  ['*://example.com/find?q=*', 'https://example.com/find?q=1#q', true],
  ['*://example.com/find', 'https://example.com/find?q=1', false],
  ['*://EXAMPLE.com/*', 'https://example.com/', true],
];

test('match patterns match the same URLs as in Chrome, including the query string', () => {
  for (const [pattern, url, shouldMatch] of matchCases) {
    assert.equal(matchesAnyPattern(url, [pattern], []), shouldMatch, `${pattern} on ${url}`);
  }
});

test('excluded patterns override matching patterns, and invalid URLs and patterns match nothing', () => {
  assert.equal(matchesAnyPattern('https://a.org/x', ['*://a.org/*'], ['*://a.org/x*']), false);
  assert.equal(matchesAnyPattern('https://a.org/y', ['*://a.org/*'], ['*://a.org/x*']), true);
  assert.equal(matchesAnyPattern('about:blank', ['*://*/*'], []), false);
  assert.equal(matchesAnyPattern('', ['*://*/*'], []), false);
  for (const bad of ['', 'example.com', '*://example.com', 'ws://example.com/*', '*://exa*mple.com/*']) {
    assert.equal(parsePattern(bad), undefined, bad);
  }
});

test('toChromePatterns splits a pattern with a port and the scheme *, which Chrome would reject', () => {
  assert.deepEqual(toChromePatterns('*://a.org:8080/x*'), ['http://a.org:8080/x*', 'https://a.org:8080/x*']);
  for (const validPattern of ['*://a.org/*', '*://a.org:*/*', 'http://localhost:8080/*'])
    assert.deepEqual(toChromePatterns(validPattern), [validPattern]);
  assert.deepEqual(toChromePatterns('no pattern'), []);
});
