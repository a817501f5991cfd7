import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { hashGroups, matching, ownCount, sitesOf } from './plugin-words.ts';

test('sites by their hosts', () => {
  assert.equal(sitesOf(['*://localhost/*', '*://127.0.0.1/*', 'https://localhost/a']), 'localhost, 127.0.0.1');
  assert.equal(
    sitesOf(['https://a.org/*', 'https://b.org/*', 'https://*.c.org/*', 'https://d.org/*']),
    'a.org, b.org, *.c.org and 1 more',
  );
  assert.equal(sitesOf(['<all_urls>', '*://*/*']), 'all sites');
  assert.equal(sitesOf(['?']), '?');
  assert.equal(sitesOf(['https://a\u202e.org/*']), 'a.org');
});

test('a hash that can be compared', () => {
  assert.equal(hashGroups('9f86d081884c7d659a'), '9f86d081 884c7d65 9a');
});

const plugin = (name: string, reviewed: boolean, tool: string): PluginView => ({
  name,
  displayName: name.toUpperCase(),
  version: '1',
  hash: 'h',
  reviewed,
  permission: 'ask',
  tools: [{ name: tool, displayName: `The ${tool}` }],
});

test('plugins that need a review come first, and are found by their tools', () => {
  const all = [plugin('mail', true, 'send'), plugin('chat', true, 'post'), plugin('bank', false, 'pay')];
  const names = (text: string) => matching(all, text).map(({ name }) => name);
  assert.deepEqual(names(''), ['bank', 'mail', 'chat']);
  assert.deepEqual(names(' POST '), ['chat']);
  assert.deepEqual(names('the pay'), ['bank']);
  assert.deepEqual(names('x'), []);
});

test('tools with a permission of their own', () => {
  const tools = [
    { name: 'a', displayName: '' },
    { name: 'b', displayName: '', permission: 'off' },
  ] as const;
  assert.equal(ownCount(tools), 1);
});
