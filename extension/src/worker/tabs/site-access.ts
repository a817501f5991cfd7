import type { AnyTab } from '../../../../wire/wire.gen.ts';
import { parsePattern } from '../plugins/match.ts';
import { Signal } from '../signal.ts';

/** AllSites is Chrome's match pattern for all sites. */
const AllSites = '<all_urls>';
/** NeededSiteMs is how long the side panel offers to allow a site after a call needed the site, in milliseconds. */
const NeededSiteMs = 10 * 60_000;
/** MaxNeededSites is the maximum number of sites that the side panel offers to allow. */
const MaxNeededSites = 5;

/**
 * SiteAccess tracks the sites to which Chrome gives the extension access. The extension from a store has access
 * only to the sites that the user has allowed in the side panel. In other installations, the user may have
 * restricted the access on Chrome's details page of the extension.
 */
export class SiteAccess {
  /** changed reports that the user allowed or removed a site, or that a call needs another site. */
  readonly changed = new Signal();
  readonly #listPatterns: () => Promise<readonly string[]>;
  /**
   * #patterns are the match patterns of the allowed sites. Until Chrome has returned the patterns, all sites count
   * as allowed.
   */
  #patterns: readonly string[] = [AllSites];
  /**
   * #needed maps the host of each site that a call needed to the time of the last such call, in milliseconds since
   * 1970.
   */
  readonly #needed = new Map<string, number>();

  constructor(listPatterns: () => Promise<readonly string[]>) {
    this.#listPatterns = listPatterns;
  }

  /** refresh reads the allowed sites from Chrome. */
  async refresh(): Promise<void> {
    this.#patterns = await this.#listPatterns();
    this.changed.emit();
  }

  /** hasAccess reports whether the extension may use a page. For pages without a site, hasAccess returns true. */
  hasAccess(url: string): boolean {
    const webUrl = parseWebUrl(url);
    return webUrl === undefined || this.#isAllowed(webUrl);
  }

  /**
   * findProblem returns a sentence without a period about why a call cannot use a page and what to do, or undefined
   * if the extension has access. After findProblem has returned a problem, the side panel offers to allow the site.
   */
  findProblem(url: string): string | undefined {
    const webUrl = parseWebUrl(url);
    if (webUrl === undefined || this.#isAllowed(webUrl)) return undefined;
    const host = webUrl.hostname;
    this.#needed.delete(host);
    this.#needed.set(host, Date.now());
    this.changed.emit();
    return `Chrome gives opentabs no access to ${host}; ask the user to open the side panel of opentabs and to press "Allow on ${host}", then retry`;
  }

  /** checkTab returns a tab together with the access problem of its page, if the page has a problem. */
  checkTab(tab: AnyTab | undefined): AnyTab | undefined {
    if (!tab || tab.problem !== undefined) return tab;
    const problem = this.findProblem(tab.url);
    if (problem === undefined) return tab;
    const { documentId: _, ...others } = tab;
    return { ...others, problem };
  }

  /** neededHosts are the hosts that recent calls needed but the user has not allowed, the most recent first. */
  get neededHosts(): readonly string[] {
    const sinceMs = Date.now() - NeededSiteMs;
    const hosts = [...this.#needed].filter(
      ([host, atMs]) => atMs >= sinceMs && !['http', 'https'].some((scheme) => this.hasAccess(`${scheme}://${host}/`)),
    );
    return hosts
      .map(([host]) => host)
      .reverse()
      .slice(0, MaxNeededSites);
  }

  #isAllowed(url: URL): boolean {
    return this.#patterns.some((pattern) => pattern === AllSites || parsePattern(pattern)?.(url) === true);
  }
}

/** parseWebUrl parses the URL of an http or https page, and returns undefined for other texts. */
function parseWebUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
