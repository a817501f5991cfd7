import type { AnyTab } from '../../../../wire/wire.gen.ts';
import { parsePattern } from '../plugins/match.ts';
import { Signal } from '../signal.ts';

const AllSitesPattern = '<all_urls>';
/**
 * NeededSiteDurationMs is how long after a failed call the side panel offers to allow the call's site, in milliseconds.
 */
const NeededSiteDurationMs = 10 * 60_000;
const MaxNeededSites = 5;

/**
 * SiteAccess tracks which sites the extension can access. An extension from the Chrome Web Store can access only the
 * sites that the user has allowed in the side panel. If the extension was installed from a folder, the user can
 * restrict its site access on the extension's details page in Chrome.
 */
export class SiteAccess {
  readonly changed = new Signal();
  readonly #listPatterns: () => Promise<readonly string[]>;
  /** Until Chrome has returned its match patterns, SiteAccess treats all sites as allowed. */
  #allowedPatterns: readonly string[] = [AllSitesPattern];
  /** #neededSiteTimes contains when a call last lacked access to each web host, in milliseconds since 1970. */
  readonly #neededSiteTimes = new Map<string, number>();

  constructor(listPatterns: () => Promise<readonly string[]>) {
    this.#listPatterns = listPatterns;
  }

  async refreshPatterns(): Promise<void> {
    this.#allowedPatterns = await this.#listPatterns();
    this.changed.emit();
  }

  /** hasAccess reports whether the extension can access a URL, and returns true for URLs other than http and https. */
  hasAccess(url: string): boolean {
    if (this.#allowsAllSites) return true;
    const webUrl = parseWebUrl(url);
    return webUrl === undefined || this.#isAllowed(webUrl);
  }

  /**
   * findProblem returns an error text, without a final period, that explains why a call cannot use a page and what to
   * do. As a side effect, the side panel then offers to allow the site.
   */
  findProblem(url: string): string | undefined {
    if (this.#allowsAllSites) return undefined;
    const webUrl = parseWebUrl(url);
    if (webUrl === undefined || this.#isAllowed(webUrl)) return undefined;
    const host = webUrl.hostname;
    this.#neededSiteTimes.delete(host);
    this.#neededSiteTimes.set(host, Date.now());
    this.changed.emit();
    return `Chrome gives opentabs no access to ${host}; ask the user to open the side panel of opentabs and to press "Allow on ${host}", then retry`;
  }

  /** checkTab adds an error text to a tab if the extension cannot access the tab's page. */
  checkTab(tab: AnyTab | undefined): AnyTab | undefined {
    if (!tab || tab.problem !== undefined) return tab;
    const problem = this.findProblem(tab.url);
    if (problem === undefined) return tab;
    const { documentId: _, ...others } = tab;
    return { ...others, problem };
  }

  /**
   * neededHosts returns the web hosts that recent calls needed but that the user has not allowed, most recent first.
   */
  get neededHosts(): readonly string[] {
    const sinceMs = Date.now() - NeededSiteDurationMs;
    const hosts = [...this.#neededSiteTimes].filter(
      ([host, atMs]) => atMs >= sinceMs && !['http', 'https'].some((scheme) => this.hasAccess(`${scheme}://${host}/`)),
    );
    return hosts
      .map(([host]) => host)
      .reverse()
      .slice(0, MaxNeededSites);
  }

  /** #allowsAllSites avoids parsing the URL in each call, which takes longer than the rest of the check. */
  get #allowsAllSites(): boolean {
    return this.#allowedPatterns.includes(AllSitesPattern);
  }

  #isAllowed(url: URL): boolean {
    return this.#allowedPatterns.some((pattern) => parsePattern(pattern)?.(url) === true);
  }
}

function parseWebUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
