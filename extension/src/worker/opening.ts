import { LoadErrorNoAnswer, NoAnswerMs, type PluginInfo } from '../../../wire/wire.gen.ts';
import type { LoadError } from './load-errors.ts';
import { matchesAny } from './match.ts';

/** AgainMs is how long a tab stands for the page that it was opened with, whatever it shows by then, in milliseconds. */
const AgainMs = 10 * 60_000;

/** RestartMs is how long a site may take to answer before a later call asks it again, in milliseconds. */
const RestartMs = 20_000;

/** Opened is a tab that was opened for a call, and when. */
interface Opened {
  readonly tabId: number;
  readonly atMs: number;
}

export interface OpeningOptions {
  plugins(): readonly PluginInfo[];
  /** open opens a tab that takes no focus, and returns its id. */
  open(url: string): Promise<number>;
  exists(tabId: number): Promise<boolean>;
  /** urlOf returns the URL that a tab shows; nothing if it is gone. */
  urlOf(tabId: number): Promise<string | undefined>;
  /** loadError returns why the page of a tab could not be loaded; nothing if it was. */
  loadError(tabId: number): LoadError | undefined;
  /** isBlank reports whether a tab has no page that could be lost: it shows an error page, or nothing yet. */
  isBlank(tabId: number): Promise<boolean>;
  /** navigate has a tab load a URL. */
  navigate(tabId: number, url: string): Promise<void>;
}

/** Opening opens tabs for calls that found none. */
export interface Opening {
  /**
   * open returns the tab of a page that a plugin works in. One that was opened for it a while ago and is still there does
   * again, so that calls which fail, as at a login, don't fill the window. It rejects with a sentence.
   */
  open(url: string): Promise<number>;
  /** openedWith returns the URL that a tab was opened with a while ago; nothing for other tabs. */
  openedWith(tabId: number): string | undefined;
  /**
   * again has a tab load the page that it was opened for, if it was led to another site that could not be loaded, because a
   * reload would ask that site, or if its site has not answered for RestartMs. It reports whether it does.
   */
  again(tabId: number): Promise<boolean>;
}

/** makeOpening returns an Opening that has opened nothing. */
export function makeOpening(options: OpeningOptions): Opening {
  const opened = new Map<string, Promise<Opened>>();
  /** urls are the URLs of the tabs that were opened. */
  const urls = new Map<number, { readonly url: string; readonly atMs: number }>();

  const usable = async (tab: Promise<Opened> | undefined) => {
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
    again: async (tabId) => {
      const url = openedWith(tabId);
      const error = options.loadError(tabId);
      if (url === undefined || error === undefined || !(await options.isBlank(tabId))) return false;
      const shown = await options.urlOf(tabId);
      const isStuck = error.name === LoadErrorNoAnswer && Date.now() - error.atMs >= RestartMs - NoAnswerMs;
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
        // Another call may have been first meanwhile.
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
