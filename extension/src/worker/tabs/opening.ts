import { LoadErrorNoAnswer, type PluginInfo, SiteTimeoutMs } from '../../../../wire/wire.gen.ts';
import { matchesAny } from '../plugins/match.ts';
import type { LoadError } from './load-errors.ts';

/**
 * ReuseMs is how long a tab is reused for the page that it was opened with, in milliseconds. A reused tab may show any
 * page.
 */
const ReuseMs = 10 * 60_000;

/**
 * RequestAgainMs is how long a site may take to answer before a later call requests the site again, in milliseconds.
 */
const RequestAgainMs = 20_000;

/** OpenedTab describes a tab that was opened for a call. */
interface OpenedTab {
  readonly tabId: number;
  readonly atMs: number;
}

export interface OpeningOptions {
  plugins(): readonly PluginInfo[];
  /** open opens a tab without focus and returns its ID. */
  open(url: string): Promise<number>;
  exists(tabId: number): Promise<boolean>;
  /** urlOf returns the URL of a tab, or undefined if the tab is closed. */
  urlOf(tabId: number): Promise<string | undefined>;
  /** loadError returns why the page of a tab could not be loaded, or undefined if the page was loaded. */
  loadError(tabId: number): LoadError | undefined;
  /** isBlank reports whether a tab has no page to lose, because the tab is still empty or shows an error page. */
  isBlank(tabId: number): Promise<boolean>;
  /** navigate navigates a tab to a URL. */
  navigate(tabId: number, url: string): Promise<void>;
}

/** Opening opens tabs for calls without a target. */
export interface Opening {
  /**
   * open returns a tab for a page of a plugin. A recently opened tab is reused, so that repeated failing calls, for
   * example at a login, do not fill the window with tabs. open rejects with an error whose message is a sentence.
   */
  open(url: string): Promise<number>;
  /** urlOpenedWith returns the URL that a tab was recently opened with, or undefined. */
  urlOpenedWith(tabId: number): string | undefined;
  /**
   * reopen navigates a tab back to the page that the tab was opened with, if a redirect led the tab to a failing site.
   * A reload of a redirected tab would request only the failing site. reopen also navigates a tab whose own site has
   * not answered for RequestAgainMs. reopen returns whether it has navigated the tab.
   */
  reopen(tabId: number): Promise<boolean>;
}

/** makeOpening returns an Opening without tabs. */
export function makeOpening(options: OpeningOptions): Opening {
  const openedTabs = new Map<string, Promise<OpenedTab>>();
  /** openedUrls maps each tab to the URL that the tab was opened with. */
  const openedUrls = new Map<number, { readonly url: string; readonly atMs: number }>();

  const isUsable = async (tab: Promise<OpenedTab> | undefined) => {
    const openedTab = await tab?.catch(() => undefined);
    return openedTab !== undefined && Date.now() - openedTab.atMs < ReuseMs && (await options.exists(openedTab.tabId));
  };
  const hasPluginFor = (url: string) =>
    options.plugins().some((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
  const urlOpenedWith = (tabId: number) => {
    const entry = openedUrls.get(tabId);
    return entry && Date.now() - entry.atMs < ReuseMs ? entry.url : undefined;
  };
  return {
    urlOpenedWith,
    reopen: async (tabId) => {
      const url = urlOpenedWith(tabId);
      const error = options.loadError(tabId);
      if (url === undefined || error === undefined || !(await options.isBlank(tabId))) return false;
      const shownUrl = await options.urlOf(tabId);
      const isStuck = error.name === LoadErrorNoAnswer && Date.now() - error.atMs >= RequestAgainMs - SiteTimeoutMs;
      if (shownUrl === undefined || (hasPluginFor(shownUrl) && !isStuck)) return false;
      await options.navigate(tabId, url);
      return true;
    },
    open: async (url) => {
      const scheme = url.slice(0, url.indexOf(':') + 1);
      if ((scheme !== 'http:' && scheme !== 'https:') || !hasPluginFor(url))
        throw new Error('no plugin works in that page');
      for (;;) {
        const openedTab = openedTabs.get(url);
        if (openedTab && (await isUsable(openedTab))) return (await openedTab).tabId;
        // During the check of the tab, another call may have opened a tab for the URL.
        if (openedTabs.get(url) !== openedTab) continue;
        const newTab = options.open(url).then((tabId) => ({ tabId, atMs: Date.now() }));
        openedTabs.set(url, newTab);
        const { tabId, atMs } = await newTab;
        for (const [id, entry] of openedUrls) if (atMs - entry.atMs >= ReuseMs) openedUrls.delete(id);
        openedUrls.set(tabId, { url, atMs });
        return tabId;
      }
    },
  };
}
