import { LoadErrorNoAnswer, type PluginInfo, SiteTimeoutMs } from '../../../../wire/wire.gen.ts';
import { matchesAnyPattern } from '../plugins/match.ts';
import type { LoadError } from './load-errors.ts';

/**
 * TabReusePeriodMs is how long later calls reuse an opened tab instead of opening another tab, in milliseconds. Calls
 * reuse an opened tab even after the user has navigated to another page in the tab.
 */
const TabReusePeriodMs = 10 * 60_000;

/**
 * If a site has not responded within PageRetryDelayMs milliseconds, the next call requests the page again.
 */
const PageRetryDelayMs = 20_000;

interface OpenedTab {
  readonly tabId: number;
  readonly atMs: number;
}

export interface TabOpenerOptions {
  plugins(): readonly PluginInfo[];
  open(url: string): Promise<number>;
  tabExists(tabId: number): Promise<boolean>;
  urlOf(tabId: number): Promise<string | undefined>;
  loadError(tabId: number): LoadError | undefined;
  /** isTabBlank reports whether a tab is empty or shows an error page, so that a navigation cannot lose user input. */
  isTabBlank(tabId: number): Promise<boolean>;
  navigate(tabId: number, url: string): Promise<void>;
}

/** TabOpener opens tabs for calls that need a page that no tab shows. */
export interface TabOpener {
  /**
   * If the method `open` recently opened a tab for the same URL, `open` returns the same tab. Retries of a failing
   * call, such as a call that needs a login, reuse one tab instead of opening many tabs. If `open` fails, its promise
   * rejects with a complete sentence as error message.
   */
  open(url: string): Promise<number>;
  getInitialUrl(tabId: number): string | undefined;
  /**
   * The method `reopen` loads a tab's original URL again if a redirect led the tab to a site that fails to load.
   * Reloading a tab after a redirect to a failing site would request only the failing site again. The method `reopen`
   * also repeats the request if the plugin's own site has not responded for PageRetryDelayMs. The promise of
   * `reopen` resolves with true if `reopen` has started a navigation.
   */
  reopen(tabId: number): Promise<boolean>;
}

export function makeTabOpener(options: TabOpenerOptions): TabOpener {
  const openedTabs = new Map<string, Promise<OpenedTab>>();
  const openedUrls = new Map<number, { readonly url: string; readonly atMs: number }>();

  const isUsable = async (tab: Promise<OpenedTab> | undefined) => {
    const openedTab = await tab?.catch(() => undefined);
    return (
      openedTab !== undefined &&
      Date.now() - openedTab.atMs < TabReusePeriodMs &&
      (await options.tabExists(openedTab.tabId))
    );
  };
  const hasPluginForUrl = (url: string) =>
    options.plugins().some((p) => matchesAnyPattern(url, p.matches ?? [], p.excludes ?? []));
  const getInitialUrl = (tabId: number) => {
    const entry = openedUrls.get(tabId);
    return entry && Date.now() - entry.atMs < TabReusePeriodMs ? entry.url : undefined;
  };
  return {
    getInitialUrl,
    reopen: async (tabId) => {
      const url = getInitialUrl(tabId);
      const error = options.loadError(tabId);
      if (url === undefined || error === undefined || !(await options.isTabBlank(tabId))) return false;
      const shownUrl = await options.urlOf(tabId);
      const isStuck = error.name === LoadErrorNoAnswer && Date.now() - error.atMs >= PageRetryDelayMs - SiteTimeoutMs;
      if (shownUrl === undefined || (hasPluginForUrl(shownUrl) && !isStuck)) return false;
      await options.navigate(tabId, url);
      return true;
    },
    open: async (url) => {
      const urlScheme = url.slice(0, url.indexOf(':') + 1);
      if ((urlScheme !== 'http:' && urlScheme !== 'https:') || !hasPluginForUrl(url))
        throw new Error('no plugin works in that page');
      for (;;) {
        const openedTab = openedTabs.get(url);
        if (openedTab && (await isUsable(openedTab))) return (await openedTab).tabId;
        // While isUsable was checking the old tab, another call may have opened a tab for the same URL.
        if (openedTabs.get(url) !== openedTab) continue;
        const newTab = options.open(url).then((tabId) => ({ tabId, atMs: Date.now() }));
        openedTabs.set(url, newTab);
        const { tabId, atMs } = await newTab;
        for (const [id, entry] of openedUrls) if (atMs - entry.atMs >= TabReusePeriodMs) openedUrls.delete(id);
        openedUrls.set(tabId, { url, atMs });
        return tabId;
      }
    },
  };
}
