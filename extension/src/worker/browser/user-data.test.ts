import assert from 'node:assert/strict';
import test from 'node:test';
import { awaitFailure, findTool, makeBrowserCall } from '../../../test/browser-call.ts';
import type { Bookmark, HistorySearch, NotificationText } from '../../chrome-user-data.ts';
import { makeUserDataTools, removeSecretsFromUrl } from './user-data.ts';

const sampleVisit = { title: 'A', lastVisitMs: Date.UTC(2026, 0, 2), visitCount: 3 };
const makeBookmark = (id: string, title: string, children: readonly Bookmark[] = []): Bookmark => ({
  id,
  title,
  url: children.length > 0 ? undefined : 'https://a.example/',
  children,
});

function makeFixture() {
  const historySearches: HistorySearch[] = [];
  const notifications: NotificationText[] = [];
  const permissionState = { isGranted: true };
  const tools = makeUserDataTools({
    searchHistory: async (search) => {
      historySearches.push(search);
      return [
        { ...sampleVisit, url: 'https://a.example/?q=x' },
        { ...sampleVisit, url: 'https://bank.example/' },
      ];
    },
    listVisits: async () => [
      { atMs: 1000, transition: 'link' },
      { atMs: 2000, transition: 'typed' },
    ],
    searchBookmarks: async () => [makeBookmark('5', 'A')],
    readBookmarks: async (folder) =>
      folder === 'none'
        ? undefined
        : [makeBookmark('0', '', [makeBookmark('1', 'Bar', [makeBookmark('5', 'A', [makeBookmark('6', 'B')])])])],
    createBookmark: async () => '7',
    showNotification: async (text) => {
      notifications.push(text);
      return permissionState.isGranted;
    },
  });
  const runTool = (name: string, args: Readonly<Record<string, unknown>>) =>
    findTool(tools, name)(makeBrowserCall(args));
  return { historySearches, notifications, permissionState, runTool };
}

test('addresses in the history contain no user name, no fragment and no secret parameter', () => {
  for (const [pageAddress, expectedLines] of [
    ['https://ada:pw@a.example/x?q=lamp&page=2#top', 'https://a.example/x?q=lamp&page=2'],
    ['https://a.example/?access_token=1&q=a', 'https://a.example/?access_token=***&q=a'],
    ['https://a.example/?x=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9', 'https://a.example/?x=***'],
    ['javascript:alert(1)', 'javascript: page'],
    ['nothing', '(no address)'],
  ] as const)
    assert.equal(removeSecretsFromUrl(pageAddress), expectedLines, pageAddress);
});

test('the history omits sites that a rule forbids', async () => {
  const { historySearches, runTool } = makeFixture();
  const args = { query: 'x', from: '2026-01-01', to: '2026-01-03', limit: 2, _frames: { 'bank.example': false } };
  assert.deepEqual(await runTool('browser_history', args), {
    text: '1 entry. There may be more: raise limit, or narrow the dates.',
    content: '2026-01-02T00:00:00Z "A" https://a.example/?q=x (3 visits)',
  });
  const [startTime, endTime] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 3)];
  assert.deepEqual(historySearches, [{ text: 'x', startTime, endTime, maxResults: 2 }]);
  const ambiguousFailure = await awaitFailure(runTool('browser_history', { query: 'x', url: 'https://a.example/' }));
  assert.equal(ambiguousFailure.code, 'invalid_arguments');
});

test('the visits to an address are listed newest first', async () => {
  const { runTool } = makeFixture();
  const result = await runTool('browser_history', { url: 'https://a.example/', limit: 1 });
  assert.deepEqual(result, { text: '1 of 2 visits.', content: '1970-01-01T00:00:02Z by typed' });
});

test('a bookmark tree has the requested depth, and marks folders whose content is not listed', async () => {
  const { runTool } = makeFixture();
  const { content } = await runTool('browser_bookmarks', { action: 'tree', depth: 2 });
  assert.equal(content, 'folder 0 ""\n folder 1 "Bar"\n  folder 5 "A" 1 entry, not listed');
  assert.equal(
    (await awaitFailure(runTool('browser_bookmarks', { action: 'tree', folder: 'none' }))).code,
    'not_found',
  );
  assert.equal((await awaitFailure(runTool('browser_bookmarks', { action: 'search' }))).code, 'invalid_arguments');
});

test('a notification names the client, and the result reports whether Chrome showed the notification', async () => {
  const { notifications, permissionState, runTool } = makeFixture();
  const args = { title: 'Done', message: 'Paid', _client: 'claude' };
  assert.match((await runTool('browser_notify', args)).text ?? '', /^Chrome shows/);
  assert.deepEqual(notifications, [{ title: 'Done', message: 'Paid', source: 'claude, by opentabs' }]);
  permissionState.isGranted = false;
  assert.match((await runTool('browser_notify', args)).text ?? '', /^Not shown/);
});
