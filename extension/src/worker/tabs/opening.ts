import { LoadErrorNoAnswer, type PluginInfo, SiteTimeoutMs } from '../../../../wire/wire.gen.ts';
import { matchesAny } from '../plugins/match.ts';
import type { LoadError } from './load-errors.ts';

/**
 * AgainMs is how long a tab is reused for the page that it was opened with, in milliseconds. A reused tab may show any
 * page.
 */
const AgainMs = 10 * 60_000;

/** RestartMs is how long a site may take to answer before a later call requests it again, in milliseconds. */
const RestartMs = 20_000;

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
  /** openedWith returns the URL that a tab was recently opened with, or undefined. */
  openedWith(tabId: number): string | undefined;
  /**
   * reopen navigates a tab back to the page that the tab was opened with, if a redirect led the tab to a failing site.
   * A reload would request only the failing site. reopen also navigates if the tab's own site has not answered for
   * RestartMs. The result is whether reopen has navigated the tab.
   */
  reopen(tabId: number): Promise<boolean>;
}

/** makeOpening returns an Opening without tabs. */
export function makeOpening(options: OpeningOptions): Opening {
  const opened = new Map<string, Promise<OpenedTab>>();
  /** urls maps each tab to the URL that the tab was opened with. */
  const urls = new Map<number, { readonly url: string; readonly atMs: number }>();

  const usable = async (tab: Promise<OpenedTab> | undefined) => {
    const known = await tab?.catch(() => undefined);
    return known !== undefined && Date.now() - known.atMs < AgainMs && (await options.exists(known.tabId));
  };
  const works = (url: string) => options.plugins().some((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
  const openedWith = (tabId: number) => {
    const known = urls.get(tabId);
    return known && Date.now() - known.atMs < AgainMs ? known.url : undefined;
  };
  return {
    openedWith,
    reopen: async (tabId) => {
      const url = openedWith(tabId);
      const error = options.loadError(tabId);
      if (url === undefined || error === undefined || !(await options.isBlank(tabId))) return false;
      const shown = await options.urlOf(tabId);
      const isStuck = error.name === LoadErrorNoAnswer && Date.now() - error.atMs >= RestartMs - SiteTimeoutMs;
      if (shown === undefined || (works(shown) && !isStuck)) return false;
      await options.navigate(tabId, url);
      return true;
    },
    open: async (url) => {
      const scheme = url.slice(0, url.indexOf(':') + 1);
      if ((scheme !== 'http:' && scheme !== 'https:') || !works(url)) throw new Error('no plugin works in that page');
      for (;;) {
        const known = opened.get(url);
        if (known && (await usable(known))) return (await known).tabId;
        // Another call may have opened the tab in the meantime.
        if (opened.get(url) !== known) continue;
        const fresh = options.open(url).then((tabId) => ({ tabId, atMs: Date.now() }));
        opened.set(url, fresh);
        const { tabId, atMs } = await fresh;
        for (const [id, old] of urls) if (atMs - old.atMs >= AgainMs) urls.delete(id);
        urls.set(tabId, { url, atMs });
        return tabId;
      }
    },
  };
}
