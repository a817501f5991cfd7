import type * as chromeUserData from '../../chrome-user-data.ts';
import { readChoice, readNumber, readText, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { formatCount, makeListResult } from './lists.ts';
import { parseWebUrl } from './navigation.ts';
import { callFailure, toolFailure } from './tool-failure.ts';

export type UserDataBrowser = typeof chromeUserData;

export function makeUserDataTools(browser: UserDataBrowser): [string, BrowserTool][] {
  return [
    ['browser_history', (call) => searchHistory(browser, call)],
    ['browser_bookmarks', (call) => runBookmarkAction(browser, call)],
    ['browser_notify', (call) => showUserNotification(browser, call)],
  ];
}

// ---- history ----

const DefaultEntries = 50;
const DayMs = 24 * 3600 * 1000;

async function searchHistory(browser: UserDataBrowser, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const url = readText(args, 'url');
  const limit = readNumber(args, 'limit') ?? DefaultEntries;
  const from = readDate(call, 'from');
  const to = readDate(call, 'to');
  if (url !== undefined) {
    if (readText(args, 'query') !== undefined)
      throw callFailure('invalid_arguments', 'browser_history takes either a query or a url');
    const address = parseWebUrl(url);
    if (isForbiddenAddress(address, args))
      throw toolFailure('rejected', {
        forAgent: 'the user has turned this site off',
        forUser: `You have turned browser tools off on ${new URL(address).origin}. Run \`opentabs browser site\` to change the rule.`,
      });
    const visits = await browser.listVisits(address);
    const shown = visits.filter(({ atMs }) => atMs >= (from ?? 0) && atMs <= (to ?? Number.POSITIVE_INFINITY));
    const newest = shown.reverse().slice(0, limit);
    const lines = newest.map(({ atMs, transition }) => `${formatTime(atMs)} by ${transition}`);
    return {
      ...makeListResult(call, lines, 'visit', limit),
      text: `${newest.length} of ${formatCount(shown.length, 'visit')}.`,
    };
  }
  const search = { text: readText(args, 'query') ?? '', startTime: from ?? Date.now() - DayMs, maxResults: limit };
  const found = await browser.searchHistory(to === undefined ? search : { ...search, endTime: to });
  const allowed = found.filter((entry) => !isForbiddenAddress(entry.url, args));
  const lines = allowed.map(
    ({ url: address, title, lastVisitMs, visitCount }) =>
      `${formatTime(lastVisitMs)} ${JSON.stringify(title)} ${removeSecretsFromUrl(address)} (${formatCount(visitCount, 'visit')})`,
  );
  const note = found.length >= limit ? ' There may be more: raise limit, or narrow the dates.' : '';
  const result = makeListResult(call, lines, 'entry', limit);
  return { ...result, text: `${result.text}${note}` };
}

/** readDate returns a date argument in milliseconds since 1970, or undefined if the argument is missing. */
function readDate({ args }: BrowserCall, key: string): number | undefined {
  const text = readText(args, key);
  if (text === undefined) return undefined;
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs))
    throw callFailure('invalid_arguments', `${key} must be a date, such as 2027-01-31T12:00:00Z`);
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
export function removeSecretsFromUrl(address: string): string {
  if (!URL.canParse(address)) return '(no address)';
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} page`;
  for (const [name, value] of [...url.searchParams])
    if (secretNamePattern.test(name) || secretValuePattern.test(value)) url.searchParams.set(name, '***');
  return url.origin + url.pathname + url.search;
}

// ---- bookmarks ----

const DefaultDepth = 3;

type Bookmark = chromeUserData.Bookmark;

async function runBookmarkAction(browser: UserDataBrowser, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const action = readChoice(args, 'action', ['search', 'tree', 'create']) ?? 'search';
  if (action === 'create') return await createBookmark(browser, call);
  const isAllowed = ({ url }: Bookmark) => url === undefined || !isForbiddenAddress(url, args);
  if (action === 'search') {
    const query = readText(args, 'query');
    if (query === undefined || query === '') throw callFailure('invalid_arguments', 'the action search needs a query');
    const found = await browser.searchBookmarks(query);
    return makeListResult(call, found.filter(isAllowed).map(formatBookmark), 'bookmark');
  }
  const tree = await browser.readBookmarks(readText(args, 'folder'));
  if (!tree) throw makeNoFolderFailure();
  const depth = readNumber(args, 'depth') ?? DefaultDepth;
  const lines: string[] = [];
  const addLines = (bookmarks: readonly Bookmark[], level: number) => {
    for (const bookmark of bookmarks.filter(isAllowed)) {
      const isFolded = level >= depth && bookmark.children.length > 0;
      const rest = isFolded ? ` ${formatCount(bookmark.children.length, 'entry', 'entries')}, not listed` : '';
      lines.push(' '.repeat(level) + formatBookmark(bookmark) + rest);
      if (!isFolded) addLines(bookmark.children, level + 1);
    }
  };
  addLines(tree, 0);
  return makeListResult(call, lines, 'entry');
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
  if (title === undefined) throw callFailure('invalid_arguments', 'the action create needs a title');
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
