import assert from 'node:assert/strict';
import test from 'node:test';
import type { PluginView } from '../../../wire/wire.gen.ts';
import {
  countToolPermissions,
  findFailedPlugins,
  findPackageName,
  findPlugins,
  findReadiness,
  formatHash,
  formatSites,
  groupTools,
  makeIconUrl,
  type PluginFilter,
} from './plugin-words.ts';

test('formatSites shortens site patterns to a list of hosts', () => {
  assert.equal(formatSites(['*://localhost/*', '*://127.0.0.1/*', 'https://localhost/a']), 'localhost, 127.0.0.1');
  assert.equal(
    formatSites(['https://a.org/*', 'https://b.org/*', 'https://*.c.org/*', 'https://d.org/*']),
    'a.org, b.org, *.c.org and 1 more',
  );
  assert.equal(formatSites(['<all_urls>', '*://*/*']), 'all sites');
  assert.equal(formatSites(['?']), '?');
  assert.equal(formatSites(['https://a\u202e.org/*']), 'a.org');
});

test('formatHash splits a hash into groups of eight characters', () => {
  assert.equal(formatHash('9f86d081884c7d659a'), '9f86d081 884c7d65 9a');
});

const makePlugin = (name: string, isReviewed: boolean, tool: string): PluginView => ({
  name,
  displayName: name.toUpperCase(),
  version: '1',
  hash: 'h',
  reviewed: isReviewed,
  permission: 'ask',
  tools: [{ name: tool, displayName: `The ${tool}` }],
});

test('findPlugins sorts unreviewed plugins first and searches tool names', () => {
  const allPlugins = [
    makePlugin('mail', true, 'send'),
    makePlugin('chat', true, 'post'),
    makePlugin('bank', false, 'pay'),
  ];
  const names = (searchText: string) => findPlugins(allPlugins, searchText, 'all').map(({ name }) => name);
  assert.deepEqual(names(''), ['bank', 'mail', 'chat']);
  assert.deepEqual(names(' POST '), ['chat']);
  assert.deepEqual(names('the pay'), ['bank']);
  assert.deepEqual(names('x'), []);
});

test('findPlugins filters by state, and searches sites', () => {
  const disabledPlugin = { ...makePlugin('off', true, 't'), permission: 'off', problem: 'x is not defined' } as const;
  const partlyDisabledPlugin = {
    ...disabledPlugin,
    name: 'partly',
    tools: [{ name: 't', displayName: 'T', permission: 'ask' }],
  } as const;
  const mailPlugin = { ...makePlugin('mail', true, 'send'), matches: ['https://post.example/*'] };
  const allPlugins = [
    mailPlugin,
    disabledPlugin,
    partlyDisabledPlugin,
    { ...makePlugin('bank', false, 'pay'), permission: 'off' as const },
  ];
  const names = (filter: PluginFilter, searchText = '') =>
    findPlugins(allPlugins, searchText, filter).map(({ name }) => name);
  assert.deepEqual(names('review'), ['bank']);
  assert.deepEqual(names('on'), ['mail', 'partly']);
  assert.deepEqual(names('off'), ['off']);
  assert.deepEqual(names('failed'), ['off', 'partly']);
  assert.deepEqual(names('all', 'post.example'), ['mail']);
});

test('findFailedPlugins finds plugins that could not be loaded', () => {
  const failedPlugins = [
    { name: 'old', path: '/plugins/a', error: '' },
    { path: '/plugins/b', error: '' },
  ];
  assert.equal(findFailedPlugins(failedPlugins, 'OLD', 'all').length, 1);
  assert.equal(findFailedPlugins(failedPlugins, 'plugins', 'failed').length, 2);
  assert.equal(findFailedPlugins(failedPlugins, '', 'on').length, 0);
});

test('countToolPermissions counts tools with their own permission', () => {
  const tools = [
    { name: 'a', displayName: '' },
    { name: 'b', displayName: '', permission: 'off' },
  ] as const;
  assert.equal(countToolPermissions(tools), 1);
});

test('findReadiness returns "ready" for a plugin that is ready in at least one tab', () => {
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
  assert.equal(findReadiness('chat', tabs), 'ready');
  assert.equal(findReadiness('mail', tabs), 'unavailable');
  assert.equal(findReadiness('bank', tabs), 'unavailable');
  assert.equal(findReadiness('wiki', tabs), 'closed');
});

test('makeIconUrl returns a data URL without executable markup', () => {
  assert.equal(makeIconUrl('<svg onload="x()"/>'), 'data:image/svg+xml,%3Csvg%20onload%3D%22x()%22%2F%3E');
  assert.equal(makeIconUrl(''), undefined);
  assert.equal(makeIconUrl('<svg>\ud800</svg>'), undefined);
});

test('groupTools groups tools by category, and puts tools without a category last', () => {
  const tools = [['a'], ['b', 'Reading'], ['c', 'Writing'], ['d', 'Reading']].map(([name = '', category]) => ({
    name,
    displayName: name,
    ...(category === undefined ? {} : { category }),
  }));
  assert.deepEqual(
    groupTools(tools).map((toolGroup) => [toolGroup.toolCategory, toolGroup.tools.map((tool) => tool.name).join(' ')]),
    [
      ['Reading', 'b d'],
      ['Writing', 'c'],
      ['Other', 'a'],
    ],
  );
  assert.deepEqual(
    groupTools(tools.slice(0, 1)).map((toolGroup) => toolGroup.toolCategory),
    [''],
  );
});

test('findPackageName accepts only names that an npm package can have', () => {
  assert.equal(findPackageName(' Slack '), 'slack');
  assert.equal(findPackageName('@acme/opentabs-plugin-crm'), '@acme/opentabs-plugin-crm');
  for (const searchText of ['', 'two words', '/home/ada', '../x', '@acme', '@acme/', 'a/b', '.x'])
    assert.equal(findPackageName(searchText), '');
});
