import type { PluginInfo } from '../../../wire/wire.gen.ts';
import { matchesAny } from './match.ts';

/** AgainMs is how long a tab stands for the page that it was opened with, whatever it shows by then, in milliseconds. */
const AgainMs = 10 * 60_000;

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
}

/** Opening opens tabs for calls that found none. */
export interface Opening {
  /**
   * open returns the tab of a page that a plugin works in. One that was opened for it a while ago and is still there does
   * again, so that calls which fail, as at a login, don't fill the window. It rejects with a sentence.
   */
  open(url: string): Promise<number>;
}

/** makeOpening returns an Opening that has opened nothing. */
export function makeOpening(options: OpeningOptions): Opening {
  const opened = new Map<string, Promise<Opened>>();

  const usable = async (tab: Promise<Opened> | undefined) => {
    const known = await tab?.catch(() => undefined);
    return known !== undefined && Date.now() - known.atMs < AgainMs && (await options.exists(known.tabId));
  };
  return {
    open: async (url) => {
      const scheme = url.slice(0, url.indexOf(':') + 1);
      const works = options.plugins().some((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
      if ((scheme !== 'http:' && scheme !== 'https:') || !works) throw new Error('no plugin works in that page');
      for (;;) {
        const known = opened.get(url);
        if (known && (await usable(known))) return (await known).tabId;
        // Another call may have been first meanwhile.
        if (opened.get(url) !== known) continue;
        const fresh = options.open(url).then((tabId) => ({ tabId, atMs: Date.now() }));
        opened.set(url, fresh);
        return (await fresh).tabId;
      }
    },
  };
}
