import type * as chromeUserData from '../../chrome-user-data.ts';
import { readChoice, readNumber, readText, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { countText, listResult } from './lists.ts';
import { webAddress } from './navigation.ts';
import { callFailure, toolFailure } from './tool-failure.ts';

/** UserDataBrowser contains the Chrome functions that the tools for history, bookmarks and notifications use. */
export type UserDataBrowser = typeof chromeUserData;

/** makeUserDataTools returns the tools browser_history, browser_bookmarks and browser_notify. */
export function makeUserDataTools(browser: UserDataBrowser): [string, BrowserTool][] {
  return [
    ['browser_history', (call) => searchHistory(browser, call)],
    ['browser_bookmarks', (call) => runBookmarkAction(browser, call)],
    ['browser_notify', (call) => notify(browser, call)],
  ];
}

// ---- history ----

/** DefaultEntries is how many history entries browser_history returns if the argument limit is missing. */
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
    const address = webAddress(url);
    if (isForbiddenAddress(address, args))
      throw toolFailure('rejected', {
        forAgent: 'the user has turned this site off',
        forUser: `You have turned browser tools off on ${new URL(address).origin}. Run \`opentabs browser site\` to change the rule.`,
      });
    const visits = await browser.listVisits(address);
    const shown = visits.filter(({ atMs }) => atMs >= (from ?? 0) && atMs <= (to ?? Number.POSITIVE_INFINITY));
    const newest = shown.reverse().slice(0, limit);
    const lines = newest.map(({ atMs, transition }) => `${timeText(atMs)} by ${transition}`);
    return {
      ...listResult(call, lines, 'visit', limit),
      text: `${newest.length} of ${countText(shown.length, 'visit')}.`,
    };
  }
  const search = { text: readText(args, 'query') ?? '', startTime: from ?? Date.now() - DayMs, maxResults: limit };
  const found = await browser.searchHistory(to === undefined ? search : { ...search, endTime: to });
  const allowed = found.filter((entry) => !isForbiddenAddress(entry.url, args));
  const lines = allowed.map(
    ({ url: address, title, lastVisitMs, visitCount }) =>
      `${timeText(lastVisitMs)} ${JSON.stringify(title)} ${addressWithoutSecrets(address)} (${countText(visitCount, 'visit')})`,
  );
  const note = found.length >= limit ? ' There may be more: raise limit, or narrow the dates.' : '';
  const result = listResult(call, lines, 'entry', limit);
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

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** secretName matches the names of URL parameters that probably contain secrets, such as "token". */
const secretName =
  /token|secret|passw|pwd|auth|key|code|session|sid|sig|signature|otp|ticket|jwt|credential|nonce|state/i;
/** secretValue matches values of URL parameters that are probably random keys. */
const secretValue = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{24,}$/i;

/**
 * addressWithoutSecrets removes the user name, the password and the fragment from a URL, and masks parameters that may
 * contain secrets.
 */
export function addressWithoutSecrets(address: string): string {
  if (!URL.canParse(address)) return '(no address)';
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} page`;
  for (const [name, value] of [...url.searchParams])
    if (secretName.test(name) || secretValue.test(value)) url.searchParams.set(name, '***');
  return url.origin + url.pathname + url.search;
}

// ---- bookmarks ----

/** DefaultDepth is how many levels of the bookmark tree browser_bookmarks lists if the argument depth is missing. */
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
    return listResult(call, found.filter(isAllowed).map(bookmarkLine), 'bookmark');
  }
  const tree = await browser.readBookmarks(readText(args, 'folder'));
  if (!tree) throw noFolder();
  const depth = readNumber(args, 'depth') ?? DefaultDepth;
  const lines: string[] = [];
  const addLines = (bookmarks: readonly Bookmark[], level: number) => {
    for (const bookmark of bookmarks.filter(isAllowed)) {
      const isFolded = level >= depth && bookmark.children.length > 0;
      const rest = isFolded ? ` ${countText(bookmark.children.length, 'entry', 'entries')}, not listed` : '';
      lines.push(' '.repeat(level) + bookmarkLine(bookmark) + rest);
      if (!isFolded) addLines(bookmark.children, level + 1);
    }
  };
  addLines(tree, 0);
  return listResult(call, lines, 'entry');
}

function bookmarkLine({ id, title, url }: Bookmark): string {
  const name = JSON.stringify(title);
  return url === undefined ? `folder ${id} ${name}` : `bookmark ${id} ${name} ${addressWithoutSecrets(url)}`;
}

function noFolder(): Error {
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
    ...(url === undefined ? {} : { url: webAddress(url) }),
    ...(parentId === undefined ? {} : { parentId }),
  };
  const id = await browser.createBookmark(bookmark).catch(() => {
    throw noFolder();
  });
  return { text: `Created ${url === undefined ? 'folder' : 'bookmark'} ${id}.` };
}

// ---- notifications ----

async function notify(browser: UserDataBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const client = readText(args, '_client') ?? '';
  const isShown = await browser.showNotification({
    title: requireText(args, 'title'),
    message: requireText(args, 'message'),
    source: client === '' ? 'opentabs' : `${client}, by opentabs`,
  });
  if (isShown) return { text: 'Chrome shows the notification, unless the system is set to be quiet.' };
  return { text: 'Not shown: the user does not allow notifications of the extension.' };
}
