import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginView } from '../../../wire/wire.gen.ts';
import {
  countOwnPermissions,
  findPlugins,
  hashGroups,
  iconUrl,
  readinessOf,
  siteNames,
  toolGroups,
} from './plugin-words.ts';

test('siteNames lists hosts', () => {
  assert.equal(siteNames(['*://localhost/*', '*://127.0.0.1/*', 'https://localhost/a']), 'localhost, 127.0.0.1');
  assert.equal(
    siteNames(['https://a.org/*', 'https://b.org/*', 'https://*.c.org/*', 'https://d.org/*']),
    'a.org, b.org, *.c.org and 1 more',
  );
  assert.equal(siteNames(['<all_urls>', '*://*/*']), 'all sites');
  assert.equal(siteNames(['?']), '?');
  assert.equal(siteNames(['https://a\u202e.org/*']), 'a.org');
});

test('hashGroups splits a hash', () => {
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

test('findPlugins sorts unreviewed plugins first and searches tool names', () => {
  const all = [plugin('mail', true, 'send'), plugin('chat', true, 'post'), plugin('bank', false, 'pay')];
  const names = (text: string) => findPlugins(all, text).map(({ name }) => name);
  assert.deepEqual(names(''), ['bank', 'mail', 'chat']);
  assert.deepEqual(names(' POST '), ['chat']);
  assert.deepEqual(names('the pay'), ['bank']);
  assert.deepEqual(names('x'), []);
});

test('countOwnPermissions counts tools with their own permission', () => {
  const tools = [
    { name: 'a', displayName: '' },
    { name: 'b', displayName: '', permission: 'off' },
  ] as const;
  assert.equal(countOwnPermissions(tools), 1);
});

test('a plugin is ready if it is ready in one tab', () => {
  const tab = (...plugins: { name: string; status: 'live' | 'reload'; ready?: boolean }[]) => ({
    tabId: 1,
    title: '',
    url: '',
    plugins: plugins.map((plugin) => ({ displayName: '', ...plugin })),
  });
  const tabs = [
    tab({ name: 'mail', status: 'live', ready: false }, { name: 'chat', status: 'live', ready: true }),
    tab({ name: 'mail', status: 'reload' }, { name: 'bank', status: 'reload' }),
  ];
  assert.equal(readinessOf('chat', tabs), 'ready');
  assert.equal(readinessOf('mail', tabs), 'unavailable');
  assert.equal(readinessOf('bank', tabs), 'unavailable');
  assert.equal(readinessOf('wiki', tabs), 'closed');
});

test('iconUrl returns a data URL without executable markup', () => {
  assert.equal(iconUrl('<svg onload="x()"/>'), 'data:image/svg+xml,%3Csvg%20onload%3D%22x()%22%2F%3E');
  assert.equal(iconUrl(''), undefined);
  assert.equal(iconUrl('<svg>\ud800</svg>'), undefined);
});

test('toolGroups groups by category and puts uncategorised tools last', () => {
  const tools = [['a'], ['b', 'Reading'], ['c', 'Writing'], ['d', 'Reading']].map(([name = '', category]) => ({
    name,
    displayName: name,
    ...(category === undefined ? {} : { category }),
  }));
  assert.deepEqual(
    toolGroups(tools).map((group) => [group.category, group.tools.map((tool) => tool.name).join(' ')]),
    [
      ['Reading', 'b d'],
      ['Writing', 'c'],
      ['Other', 'a'],
    ],
  );
  assert.deepEqual(
    toolGroups(tools.slice(0, 1)).map((group) => group.category),
    [''],
  );
});
