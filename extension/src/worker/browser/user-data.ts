import type * as chromeUserData from '../../chrome-user-data.ts';
import { readChoice, readNumber, readText, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { formatCount, makeListResult } from './lists.ts';
import { parseWebUrl } from './navigation.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type UserDataBrowser = typeof chromeUserData;

export function makeUserDataTools(browser: UserDataBrowser): [string, BrowserTool][] {
  return [
    ['browser_history', (call) => searchHistory(browser, call)],
    ['browser_bookmarks', (call) => runBookmarkAction(browser, call)],
    ['browser_notify', (call) => showUserNotification(browser, call)],
  ];
}

// ---- history ----

const DefaultEntryCount = 50;
const DayMs = 24 * 3600 * 1000;

async function searchHistory(browser: UserDataBrowser, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const url = readText(args, 'url');
  const maxEntries = readNumber(args, 'limit') ?? DefaultEntryCount;
  const fromMs = readDate(call, 'from');
  const to = readDate(call, 'to');
  if (url !== undefined) {
    if (readText(args, 'query') !== undefined)
      throw makeCallFailure('invalid_arguments', 'browser_history takes either a query or a url');
    const pageUrl = parseWebUrl(url);
    if (isForbiddenAddress(pageUrl, args))
      throw toolFailure('rejected', {
        forAgent: 'the user has turned this site off',
        forUser: `You have turned browser tools off on ${new URL(pageUrl).origin}. Run \`opentabs browser site\` to change the rule.`,
      });
    const pageVisits = await browser.listVisits(pageUrl);
    const shownVisits = pageVisits.filter(
      ({ atMs }) => atMs >= (fromMs ?? 0) && atMs <= (to ?? Number.POSITIVE_INFINITY),
    );
    const newestVisits = shownVisits.reverse().slice(0, maxEntries);
    const resultLines = newestVisits.map(({ atMs, transition }) => `${formatTime(atMs)} by ${transition}`);
    return {
      ...makeListResult(call, resultLines, 'visit', maxEntries),
      text: `${newestVisits.length} of ${formatCount(shownVisits.length, 'visit')}.`,
    };
  }
  const historySearch = {
    text: readText(args, 'query') ?? '',
    startTime: fromMs ?? Date.now() - DayMs,
    maxResults: maxEntries,
  };
  const historyEntries = await browser.searchHistory(
    to === undefined ? historySearch : { ...historySearch, endTime: to },
  );
  const allowedEntries = historyEntries.filter((entry) => !isForbiddenAddress(entry.url, args));
  const resultLines = allowedEntries.map(
    ({ url: pageUrl, title, lastVisitMs, visitCount }) =>
      `${formatTime(lastVisitMs)} ${JSON.stringify(title)} ${removeSecretsFromUrl(pageUrl)} (${formatCount(visitCount, 'visit')})`,
  );
  const limitNote = historyEntries.length >= maxEntries ? ' There may be more: raise limit, or narrow the dates.' : '';
  const result = makeListResult(call, resultLines, 'entry', maxEntries);
  return { ...result, text: `${result.text}${limitNote}` };
}

/** readDate returns a date argument in milliseconds since 1970, or undefined if the argument is missing. */
function readDate({ args }: BrowserCall, key: string): number | undefined {
  const text = readText(args, key);
  if (text === undefined) return undefined;
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs))
    throw makeCallFailure('invalid_arguments', `${key} must be a date, such as 2027-01-31T12:00:00Z`);
  return timeMs;
}

function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** secretNamePattern matches the names of URL parameters that probably contain secrets, such as "token". */
const secretNamePattern =
  /token|secret|passw|pwd|auth|key|code|session|sid|sig|signature|otp|ticket|jwt|credential|nonce|state/i;
/** secretValuePattern matches values of URL parameters that are probably random keys. */
const secretValuePattern = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{24,}$/i;

/**
 * removeSecretsFromUrl removes the user name, the password and the fragment from a URL, and masks parameters that may
 * contain secrets.
 */
export function removeSecretsFromUrl(pageUrl: string): string {
  if (!URL.canParse(pageUrl)) return '(no address)';
  const url = new URL(pageUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} page`;
  for (const [name, value] of [...url.searchParams])
    if (secretNamePattern.test(name) || secretValuePattern.test(value)) url.searchParams.set(name, '***');
  return url.origin + url.pathname + url.search;
}

// ---- bookmarks ----

const DefaultFolderDepth = 3;

type Bookmark = chromeUserData.Bookmark;

async function runBookmarkAction(browser: UserDataBrowser, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const action = readChoice(args, 'action', ['search', 'tree', 'create']) ?? 'search';
  if (action === 'create') return await createBookmark(browser, call);
  const isAllowed = ({ url }: Bookmark) => url === undefined || !isForbiddenAddress(url, args);
  if (action === 'search') {
    const query = readText(args, 'query');
    if (query === undefined || query === '')
      throw makeCallFailure('invalid_arguments', 'the action search needs a query');
    const matchingBookmarks = await browser.searchBookmarks(query);
    return makeListResult(call, matchingBookmarks.filter(isAllowed).map(formatBookmark), 'bookmark');
  }
  const bookmarkTree = await browser.readBookmarks(readText(args, 'folder'));
  if (!bookmarkTree) throw makeNoFolderFailure();
  const depth = readNumber(args, 'depth') ?? DefaultFolderDepth;
  const resultLines: string[] = [];
  const addLines = (siblingBookmarks: readonly Bookmark[], folderDepth: number) => {
    for (const bookmark of siblingBookmarks.filter(isAllowed)) {
      const isFolded = folderDepth >= depth && bookmark.children.length > 0;
      const omittedNote = isFolded ? ` ${formatCount(bookmark.children.length, 'entry', 'entries')}, not listed` : '';
      resultLines.push(' '.repeat(folderDepth) + formatBookmark(bookmark) + omittedNote);
      if (!isFolded) addLines(bookmark.children, folderDepth + 1);
    }
  };
  addLines(bookmarkTree, 0);
  return makeListResult(call, resultLines, 'entry');
}

function formatBookmark({ id, title, url }: Bookmark): string {
  const name = JSON.stringify(title);
  return url === undefined ? `folder ${id} ${name}` : `bookmark ${id} ${name} ${removeSecretsFromUrl(url)}`;
}

function makeNoFolderFailure(): Error {
  return toolFailure(
    'not_found',
    'there is no folder of bookmarks with this ID. Use browser_bookmarks with the action tree',
  );
}

async function createBookmark(browser: UserDataBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const title = readText(args, 'title');
  if (title === undefined) throw makeCallFailure('invalid_arguments', 'the action create needs a title');
  const url = readText(args, 'url');
  const parentId = readText(args, 'folder');
  const bookmark = {
    title,
    ...(url === undefined ? {} : { url: parseWebUrl(url) }),
    ...(parentId === undefined ? {} : { parentId }),
  };
  const id = await browser.createBookmark(bookmark).catch(() => {
    throw makeNoFolderFailure();
  });
  return { text: `Created ${url === undefined ? 'folder' : 'bookmark'} ${id}.` };
}

// ---- notifications ----

async function showUserNotification(browser: UserDataBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const client = readText(args, '_client') ?? '';
  const isShown = await browser.showNotification({
    title: requireText(args, 'title'),
    message: requireText(args, 'message'),
    source: client === '' ? 'opentabs' : `${client}, by opentabs`,
  });
  if (isShown) return { text: 'Chrome shows the notification, unless the system is set to be quiet.' };
  return { text: 'Not shown: the user does not allow notifications of the extension.' };
}
