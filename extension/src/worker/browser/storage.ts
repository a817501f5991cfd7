import type * as chromeSiteData from '../../chrome-site-data.ts';
import { type Fields, isRecord } from '../../record.ts';
import { readChoice, readFlag, readText, readTexts, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { formatCount, formatCursorHint, makeListResult, readCursor } from './lists.ts';
import { parseWebUrl } from './navigation.ts';
import type { TabFrames } from './tab-frames.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type StorageBrowser = typeof chromeSiteData;

export function makeStorageTools(browser: StorageBrowser, frames: TabFrames): [string, BrowserTool][] {
  return [
    ['browser_cookies', (call) => runCookieAction(browser, call)],
    ['browser_storage', (call) => runStorageAction(frames, call)],
    ['browser_clear_site_data', (call) => clearSiteData(browser, call)],
  ];
}

const StorageActions = ['list', 'get', 'set', 'delete'] as const;

function requireAction({ args }: BrowserCall): (typeof StorageActions)[number] {
  const action = readChoice(args, 'action', StorageActions);
  if (action === undefined)
    throw makeCallFailure('invalid_arguments', `the argument action must be one of ${StorageActions.join(', ')}`);
  return action;
}

// ---- cookies ----

type Cookie = chromeSiteData.Cookie;

async function runCookieAction(browser: StorageBrowser, call: BrowserCall): Promise<BrowserResult> {
  const action = requireAction(call);
  const url = parseWebUrl(requireText(call.args, 'url'));
  const name = readText(call.args, 'name');
  if (action === 'list') {
    const cookies = (await browser.readCookies(url)).filter((cookie) => name === undefined || cookie.name === name);
    return makeListResult(call, cookies.map(formatCookie), 'cookie');
  }
  if (name === undefined) throw makeCallFailure('invalid_arguments', `the action ${action} needs the name of a cookie`);
  if (action === 'set') return await setCookie(browser, call, url, name);
  const cookies = (await browser.readCookies(url)).filter((cookie) => cookie.name === name);
  if (cookies.length === 0)
    throw toolFailure('not_found', 'the browser has no such cookie for this address. Use the action list');
  if (action === 'get') {
    const cookieLines = cookies.map((cookie) => `${formatCookie(cookie)}\nvalue: ${cookie.value}`);
    return { ...makeListResult(call, cookieLines, 'cookie') };
  }
  const removalResults = await Promise.all(cookies.map((cookie) => browser.removeCookie(cookie)));
  return { text: `Deleted ${formatCount(removalResults.filter(Boolean).length, 'cookie')}.` };
}

/** formatCookie describes a cookie in one line without its value. */
function formatCookie(cookie: Cookie): string {
  const { name, domain, path, sameSite, expires, partition } = cookie;
  return [
    `${JSON.stringify(name)} ${cookie.isHostOnly ? domain : `${domain.replace(/^\.?/, '.')} (with subdomains)`} ${path}`,
    formatCount(cookie.value.length, 'character'),
    expires === undefined ? 'until the browser closes' : `until ${new Date(expires * 1000).toISOString()}`,
    ...(cookie.isSecure ? ['Secure'] : []),
    ...(cookie.isHttpOnly ? ['HttpOnly'] : []),
    ...(sameSite === 'unspecified' ? [] : [`SameSite=${sameSiteNames[sameSite]}`]),
    ...(partition?.topLevelSite === undefined ? [] : [`partition ${partition.topLevelSite}`]),
  ].join(', ');
}

const sameSiteNames = { no_restriction: 'None', lax: 'Lax', strict: 'Strict' } as const;

async function setCookie(
  browser: StorageBrowser,
  { args }: BrowserCall,
  url: string,
  name: string,
): Promise<BrowserResult> {
  const value = readText(args, 'value');
  if (value === undefined) throw makeCallFailure('invalid_arguments', 'the action set needs a value');
  const options: Fields = isRecord(args.options) ? args.options : {};
  const domain = readText(options, 'domain');
  const path = readText(options, 'path');
  const sameSite = readChoice(options, 'sameSite', ['None', 'Lax', 'Strict']);
  const cookie: chromeSiteData.NewCookie = {
    name,
    value,
    secure: readFlag(options, 'secure'),
    httpOnly: readFlag(options, 'httpOnly'),
    ...(domain === undefined ? {} : { domain }),
    ...(path === undefined ? {} : { path }),
    ...(sameSite === undefined ? {} : { sameSite: chromeSameSite[sameSite] }),
    ...readExpiry(options),
  };
  try {
    await browser.setCookie(url, cookie);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    throw toolFailure(
      'rejected',
      `Chrome rejected the cookie: ${reason}. The name and the value must not contain a semicolon or a control ` +
        'character, the domain must be the host of the url or a parent of it, SameSite=None needs secure, secure needs ' +
        'an https url, and expires must be in the future',
    );
  }
  return { text: 'Set the cookie.' };
}

const chromeSameSite = { None: 'no_restriction', Lax: 'lax', Strict: 'strict' } as const;

/** If the argument expires is missing, the cookie expires when the browser closes. */
function readExpiry(options: Fields): { readonly expirationDate?: number } {
  const expires = readText(options, 'expires');
  if (expires === undefined) return {};
  const timeMs = Date.parse(expires);
  if (Number.isNaN(timeMs))
    throw makeCallFailure('invalid_arguments', 'expires must be a date, such as 2027-01-31T12:00:00Z');
  return { expirationDate: timeMs / 1000 };
}

// ---- storage ----

async function runStorageAction(frames: TabFrames, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const action = requireAction(call);
  const storageArea = readChoice(args, 'area', ['local', 'session', 'indexeddb']) ?? 'local';
  const shownTexts = Object.fromEntries(
    (['database', 'store', 'key', 'value'] as const).flatMap((key) => {
      const value = readText(args, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const storageResult = await frames.run(call, await frames.top(call), 'storage', {
    action,
    area: storageArea,
    ...shownTexts,
    from: readCursor(call),
  });
  const { lines: cookieLines, value, total = 0, next } = storageResult;
  if (cookieLines) {
    const noun = storageArea === 'indexeddb' ? (shownTexts.store === undefined ? 'line' : 'record') : 'key';
    return {
      text: `${formatCount(total, noun)}.${formatCursorHint(next)}`,
      ...(total > 0 ? { content: cookieLines.join('\n') } : {}),
    };
  }
  if (action === 'set') return { text: storageResult.found ? 'Replaced the value.' : 'Stored a new entry.' };
  if (!storageResult.found) throw toolFailure('not_found', 'there is no entry with this key. Use the action list');
  if (action === 'delete') return { text: 'Deleted the entry.' };
  return { text: `${formatCount(total, 'character')}.${formatCursorHint(next)}`, content: value ?? '' };
}

// ---- clearing ----

const StoredDataTypes = [
  'localStorage',
  'indexedDB',
  'cacheStorage',
  'serviceWorkers',
  'fileSystems',
  'cache',
] as const;
const ClearableDataTypes = ['cookies', ...StoredDataTypes] as const;

async function clearSiteData(browser: StorageBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const url = new URL(parseWebUrl(requireText(args, 'origin')));
  const requestedTypes = readTexts(args, 'types') ?? ClearableDataTypes;
  const isNamed = (type: (typeof ClearableDataTypes)[number]) => requestedTypes.includes(type);
  const storedTypes = StoredDataTypes.filter(isNamed);
  const deletedTypes: string[] = [];
  if (isNamed('cookies')) deletedTypes.push(await removeCookies(browser, url.hostname));
  if (storedTypes.length > 0) {
    await browser.removeSiteData(url.origin, storedTypes);
    deletedTypes.push(...storedTypes);
  }
  const keptTypes = ClearableDataTypes.filter((type) => !isNamed(type));
  return {
    text: [
      `Deleted for ${url.origin}: ${deletedTypes.join(', ')}.`,
      ...(keptTypes.length > 0 ? [`Kept: ${keptTypes.join(', ')}.`] : []),
      // Chrome deletes both kinds of storage of a site together.
      isNamed('localStorage')
        ? 'sessionStorage of open tabs is deleted too; reload open tabs of the site.'
        : 'sessionStorage of open tabs is kept; reload open tabs of the site.',
    ].join(' '),
  };
}

async function removeCookies(browser: StorageBrowser, host: string): Promise<string> {
  const cookies = await browser.readCookiesOfHost(host);
  const removalResults = await Promise.all(cookies.map((cookie) => browser.removeCookie(cookie)));
  const count = removalResults.filter(Boolean).length;
  const sharedCookies = cookies.filter((cookie, i) => removalResults[i] && cookie.domain.replace(/^\./, '') !== host);
  const domains = [...new Set(sharedCookies.map(({ domain }) => domain.replace(/^\./, '')))];
  const domainNote =
    domains.length > 0 ? ` (${sharedCookies.length} of them also for other hosts of ${domains.join(', ')})` : '';
  return `${formatCount(count, 'cookie')}${domainNote}`;
}
