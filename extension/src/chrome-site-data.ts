// Wraps Chrome's functions for cookies and site data, each of which requires an optional permission.

export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** isHostOnly is false for a cookie that the browser also sends to subdomains. */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  readonly isHttpOnly: boolean;
  readonly sameSite: CookieSameSite;
  /** The field `expires` is the expiry time of the cookie in seconds since 1970, or undefined for a session cookie. */
  readonly expires: number | undefined;
  /**
   * The field `partition` is the top-level site of a partitioned cookie, or undefined for a cookie without a partition.
   */
  readonly partition: CookiePartition | undefined;
}

type CookieSameSite = chrome.cookies.Cookie['sameSite'];
type CookiePartition = NonNullable<chrome.cookies.Cookie['partitionKey']>;

export interface NewCookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
  readonly httpOnly?: boolean;
  readonly sameSite?: CookieSameSite;
  readonly expirationDate?: number;
}

export async function readCookies(url: string): Promise<Cookie[]> {
  return (await chrome.cookies.getAll({ url, partitionKey: {} })).map(toCookie);
}

export async function readCookiesOfHost(host: string): Promise<Cookie[]> {
  // Chrome lists the cookies of a domain and of its subdomains, so cookies of the parent domains need separate queries.
  const labels = host.split('.');
  const parentDomains = labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
  const cookieLists = await Promise.all(
    [...new Set([host, ...parentDomains])].map((cookieDomain) =>
      chrome.cookies.getAll({ domain: cookieDomain, partitionKey: {} }),
    ),
  );
  const isCookieSent = ({ domain: cookieDomain, hostOnly }: chrome.cookies.Cookie) =>
    hostOnly
      ? cookieDomain === host
      : `.${host}`.endsWith(cookieDomain.startsWith('.') ? cookieDomain : `.${cookieDomain}`);
  const uniqueCookies = new Map(cookieLists.flat().map((cookie) => [makeCookieKey(cookie), cookie]));
  return [...uniqueCookies.values()].filter(isCookieSent).map(toCookie);
}

function makeCookieKey({ name, domain: cookieDomain, path, partitionKey }: chrome.cookies.Cookie): string {
  return JSON.stringify([name, cookieDomain, path, partitionKey?.topLevelSite]);
}

function toCookie(cookie: chrome.cookies.Cookie): Cookie {
  const { name, value, domain: cookieDomain, path, sameSite } = cookie;
  return {
    name,
    value,
    domain: cookieDomain,
    isHostOnly: cookie.hostOnly,
    path,
    isSecure: cookie.secure,
    isHttpOnly: cookie.httpOnly,
    sameSite,
    expires: cookie.session ? undefined : cookie.expirationDate,
    partition: cookie.partitionKey,
  };
}

export async function setCookie(url: string, cookie: NewCookie): Promise<void> {
  if (!(await chrome.cookies.set({ url, ...cookie }))) throw new Error('Chrome did not set the cookie');
}

export async function removeCookie({
  name,
  domain: cookieDomain,
  path,
  isSecure,
  partition,
}: Cookie): Promise<boolean> {
  const url = `${isSecure ? 'https' : 'http'}://${cookieDomain.replace(/^\./, '')}${path}`;
  const cookieDetails = { url, name, ...(partition ? { partitionKey: partition } : {}) };
  return Boolean(await chrome.cookies.remove(cookieDetails));
}

export type SiteDataType = 'cache' | 'cacheStorage' | 'fileSystems' | 'indexedDB' | 'localStorage' | 'serviceWorkers';

export async function removeSiteData(origin: string, types: readonly SiteDataType[]): Promise<void> {
  const dataToRemove = Object.fromEntries(types.map((type) => [type, true]));
  await chrome.browsingData.remove({ origins: [origin] }, dataToRemove);
}
