import assert from 'node:assert/strict';
import test from 'node:test';
import type { Fields } from '../../../record.ts';
import type { EventListener } from '../debugger/attachment.ts';
import { matchesPattern, Routes } from './routes.ts';

test('the URL pattern of a request rule matches only whole addresses, with * as the only wildcard', () => {
  for (const [pattern, url, isMatch] of [
    ['https://a.example/x', 'https://a.example/x', true],
    ['https://a.example/x', 'https://a.example/xy', false],
    ['*/x?y=1', 'https://a.example/x?y=1', true],
    ['*/x?y=1', 'https://a.example/xzy=1', false],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*b*c', 'axbxbxc', true],
    ['a*b*c', 'axcxb', false],
    ['*(.+)[x]$', 'https://a.example/(.+)[x]$', true],
  ] as const)
    assert.equal(matchesPattern(url, pattern), isMatch, `${pattern} ${url}`);
});

test('a paused request whose site cannot be determined continues', async () => {
  const sentCommands: [string, Fields][] = [];
  let listener: EventListener = () => undefined;
  const requestRoutes = new Routes({
    send: async (method, params = {}) => {
      if (method === 'Page.getFrameTree') throw new Error('the frame is gone');
      sentCommands.push([method, params]);
      return {};
    },
    onEvent: (addedListener) => {
      listener = addedListener;
      return () => undefined;
    },
    onChildTarget: () => () => undefined,
    watchChildren: async () => () => undefined,
  });
  await requestRoutes.add({ site: 'https://a.example', pattern: '*/x?y', answer: undefined, session: 's1' });
  assert.deepEqual(sentCommands.splice(0), [['Fetch.enable', { patterns: [{ urlPattern: '*/x\\?y' }] }]]);
  const makePausedEvent = (resourceType: string, url: string) => ({
    requestId: url,
    resourceType,
    frameId: 'f',
    request: { url },
  });
  listener('Fetch.requestPaused', makePausedEvent('Fetch', 'https://a.example/x?y'), '');
  listener('Fetch.requestPaused', makePausedEvent('Document', 'https://b.example/x?y'), '');
  listener('Fetch.requestPaused', makePausedEvent('Document', 'https://a.example/x?y'), '');
  for (let i = 0; i < 20; i++) await Promise.resolve();
  const routeOutcomes = sentCommands.map(([method, { requestId }]) => `${method} ${String(requestId)}`).sort();
  assert.deepEqual(routeOutcomes, [
    'Fetch.continueRequest https://a.example/x?y',
    'Fetch.continueRequest https://b.example/x?y',
    'Fetch.failRequest https://a.example/x?y',
  ]);
  assert.equal(requestRoutes.routes[0]?.matchCount, 1);
});

test('the end of a session removes its request rules, and keeps rules of other sessions', async () => {
  const patterns: unknown[] = [];
  const requestRoutes = new Routes({
    send: async (_, params = {}) => {
      patterns.push(params.patterns);
      return {};
    },
    onEvent: () => () => undefined,
    onChildTarget: () => () => undefined,
    watchChildren: async () => () => undefined,
  });
  const siteRule = { site: 'https://a.example', answer: undefined };
  await requestRoutes.add({ ...siteRule, pattern: '*/one', session: 's1' });
  await requestRoutes.add({ ...siteRule, pattern: '*/two', session: 's2' });
  await requestRoutes.removeSessionRules('s1');
  assert.deepEqual(patterns.at(-1), [{ urlPattern: '*/two' }]);
  assert.deepEqual(
    requestRoutes.routes.map(({ pattern }) => pattern),
    ['*/two'],
  );
});
