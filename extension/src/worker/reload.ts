import type { PluginInfo } from '../../../wire/wire.gen.ts';
import type { Page, Tab, TabState } from '../chrome.ts';
import { matchesAny } from './match.ts';

/** SettleMs is how long documents that began while adapters were registered may take to say what is live, in milliseconds. */
const SettleMs = 200;
/** SlackMs is how far apart the clocks of a page and of the worker may be, in milliseconds. */
const SlackMs = 20;
/** AskMs is how long a page may take to tell of itself while a call waits, LateMs while nobody does, in milliseconds. */
const AskMs = 1000;
const LateMs = 10_000;

export interface ReloadOptions {
  query(): Promise<readonly Tab[]>;
  tabState(tabId: number): Promise<TabState>;
  readPage(tabId: number): Promise<Page | undefined>;
  reloadTab(tabId: number): Promise<void>;
  plugins(): readonly PluginInfo[];
  /** isLive tells whether a plugin is live, or has failed to start, in a tab's document. */
  isLive(tabId: number, plugin: PluginInfo): boolean;
  /** canRun tells whether a plugin can get into pages at all. */
  canRun(plugin: PluginInfo): boolean;
  /** orphaned is called for a document that seems live and whose bridge belongs to an extension that was reloaded: nobody answers there. */
  orphaned(documentId: string): void;
}

/** Reload loads tabs anew in which a plugin is missing, where nobody can lose anything by that. */
export interface Reload {
  /**
   * load loads one tab for a call, unless it is being loaded or has just been; false means that it could cost the person
   * something, or would not help.
   */
  load(tabId: number): Promise<boolean>;
  /**
   * registered notes that adapters were registered from a moment until now: a document that began meanwhile has only some
   * of what belongs together, and is loaded anew a little later.
   */
  registered(fromMs: number): void;
}

/** makeReload returns a Reload. */
export function makeReload(options: ReloadOptions): Reload {
  /** possible are the plugins that could run in the tab. */
  const possible = (tab: Tab) =>
    options.plugins().filter((p) => options.canRun(p) && matchesAny(tab.url, p.matches ?? [], p.excludes ?? []));
  /** absent tells whether one of them isn't live there. */
  const absent = (tab: Tab) => possible(tab).some((p) => !options.isLive(tab.id, p));
  const ask = (tabId: number, limitMs: number) =>
    Promise.race([options.readPage(tabId), new Promise<undefined>((resolve) => setTimeout(resolve, limitMs))]);
  const isUntouched = (page: Page | undefined) => page !== undefined && !page.touched && !page.audible;
  /** isUnloaded is asked again when a page did not answer: Chrome takes a moment to see that one has crashed. */
  const isUnloaded = async (tabId: number) => {
    const state = await options.tabState(tabId);
    return state === 'crashed' || state === 'discarded';
  };
  let from = Number.POSITIVE_INFINITY;
  let until = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const catchUp = async () => {
    const between = [from, until] as const;
    from = Number.POSITIVE_INFINITY;
    const mend = async (tab: Tab) => {
      const page = await ask(tab.id, LateMs);
      if (!page) return;
      const missing = absent(tab);
      // A document that began while the extension was reloaded may have the old one's bridge, on a port to this worker.
      if (!missing && !page.bridged) options.orphaned(page.documentId);
      const meanwhile = page.startedMs >= between[0] && page.startedMs <= between[1];
      if ((missing ? meanwhile : !page.bridged) && isUntouched(page)) await options.reloadTab(tab.id);
    };
    // One tab that is busy, or is closed just now, keeps no other waiting.
    const tabs = (await options.query()).filter((t) => possible(t).length > 0);
    await Promise.all(tabs.map((tab) => mend(tab).catch(warn)));
  };
  return {
    load: async (tabId) => {
      const find = async () => (await options.query()).find((t) => t.id === tabId);
      const tab = await find();
      if (!tab || possible(tab).length === 0) return false;
      // It was loaded anew meanwhile, and the server is about to hear of it.
      if (!absent(tab)) return true;
      if (!(await isUnloaded(tabId))) {
        const page = await ask(tabId, AskMs);
        // A page that can't be asked because it is being loaded is on its way already.
        if (!isUntouched(page) && !(await isUnloaded(tabId))) return !page && (await find())?.loading === true;
      }
      await options.reloadTab(tabId);
      return true;
    },
    registered: (fromMs) => {
      from = Math.min(from, fromMs - SlackMs);
      until = Date.now() + SlackMs;
      clearTimeout(timer);
      timer = setTimeout(() => void catchUp().catch(warn), SettleMs);
    },
  };
}

function warn(error: unknown): void {
  console.warn(`opentabs: a tab can't be loaded anew: ${String(error)}`);
}
