import {
  type FrameInfo,
  LoadErrorNoAnswer,
  type PluginInfo,
  type TabInfo,
  type TabPlugin,
} from '../../../wire/wire.gen.ts';
import type { Tab } from '../chrome.ts';
import type { Live } from '../port-message.ts';
import type { LiveDoc } from './docs.ts';
import type { LoadError } from './load-errors.ts';
import { matchesAny } from './match.ts';

/** CoalesceMs is how long changes of tabs are gathered before they are told, in milliseconds. */
const CoalesceMs = 50;

export interface TabsOptions {
  query(): Promise<readonly Tab[]>;
  focusedWindow(): Promise<number>;
  plugins(): readonly PluginInfo[];
  /** live returns the top document of a tab, frames the frames in which adapters may be. */
  live(tabId: number): LiveDoc | undefined;
  frames(tabId: number): readonly LiveDoc[];
  /** expects reports whether a tab is about to get the adapter of a plugin that is missing there, without a reload. */
  expects(tabId: number, plugin: string): boolean;
  /** isSilent reports whether a document does not answer. */
  isSilent(documentId: string): boolean;
  /** arrives reports whether the adapter of a plugin is on its way into the top document of a tab; default none is. */
  arrives?(tabId: number, plugin: string): boolean;
  /** loadError returns why the page of a tab could not be loaded; default it was. */
  loadError?(tabId: number): LoadError | undefined;
  /** openedWith returns the URL that a tab was opened with for a call; default none was. */
  openedWith?(tabId: number): string | undefined;
  /** waits is called with each tab whose site has not answered yet; default nothing happens. */
  waits?(tabId: number): void;
  /** moved is called with what each tab shows; default nothing happens. */
  moved?(tabId: number, url: string): void;
  /** synced is told all tabs; changed one that differs from what was told last, or went. */
  synced(tabs: readonly TabInfo[]): void;
  changed(tabId: number, tab: TabInfo | undefined): void;
}

/** Tabs tells the server which tabs match plugins. */
export interface Tabs {
  /** known is what was told last. */
  readonly known: readonly TabInfo[];
  /** touch notes that something may have changed. */
  touch(): void;
  /** hurry notes a change that a call may wait for: the first in a while is sent at once. */
  hurry(): void;
  /** tellNow sends at once what has changed. */
  tellNow(): Promise<void>;
  /** forget has a tab told again, though it may be as it was told last: the server knows it otherwise. */
  forget(tabId: number): void;
  /** sync tells everything anew, for a link that has just opened or new plugins. */
  sync(): void;
}

/** makeTabs returns a Tabs that has told nothing. */
export function makeTabs(options: TabsOptions): Tabs {
  let told = new Map<number, { text: string; tab: TabInfo }>();
  let whole = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looking = false;
  let again = false;
  let hurriedAtMs = Number.NEGATIVE_INFINITY;

  const look = async () => {
    timer = undefined;
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    const everything = whole;
    whole = false;
    try {
      const [tabs, focused] = await Promise.all([options.query(), options.focusedWindow()]);
      tell(tabs, focused, everything);
    } catch (error) {
      console.warn(`opentabs: the tabs can't be listed: ${String(error)}`);
    } finally {
      looking = false;
      if (again || whole) soon();
      again = false;
    }
  };

  const tell = (tabs: readonly Tab[], focused: number, everything: boolean) => {
    const now = new Map<number, { text: string; tab: TabInfo }>();
    for (const tab of tabs) {
      options.moved?.(tab.id, tab.url);
      if (tab.pending) options.waits?.(tab.id);
      const info = tabInfo(tab, focused, options.plugins(), options.live(tab.id), options.frames(tab.id), {
        expects: (plugin) => options.expects(tab.id, plugin),
        arrives: (plugin) => options.arrives?.(tab.id, plugin) === true,
        loadError: options.loadError?.(tab.id),
        openedWith: options.openedWith?.(tab.id),
      });
      const docs = [options.live(tab.id), ...options.frames(tab.id)];
      if (info && docs.some((live) => live && options.isSilent(live.doc.documentId))) info.unresponsive = true;
      if (info) now.set(tab.id, { text: JSON.stringify(info), tab: info });
    }
    const before = told;
    told = now;
    if (everything) {
      options.synced([...now.values()].map((entry) => entry.tab));
      return;
    }
    for (const [id, { text, tab }] of now) if (before.get(id)?.text !== text) options.changed(id, tab);
    for (const id of before.keys()) if (!now.has(id)) options.changed(id, undefined);
  };

  const soon = () => {
    timer ??= setTimeout(() => void look(), CoalesceMs);
  };
  const now = () => {
    clearTimeout(timer);
    return look();
  };
  return {
    get known() {
      return [...told.values()].map((entry) => entry.tab);
    },
    touch: soon,
    hurry: () => {
      const atMs = Date.now();
      if (looking || atMs - hurriedAtMs < CoalesceMs) return soon();
      hurriedAtMs = atMs;
      void now();
    },
    tellNow: now,
    forget: (tabId) => {
      const entry = told.get(tabId);
      if (entry) entry.text = '';
      soon();
    },
    sync: () => {
      whole = true;
      void now();
    },
  };
}

/** Coming tells of a tab which plugins are about to be live in it, and why none can be; default none. */
export interface Coming {
  expects?(plugin: string): boolean;
  arrives?(plugin: string): boolean;
  readonly loadError?: LoadError | undefined;
  /** openedWith is the URL that the tab was opened with for a call. */
  readonly openedWith?: string | undefined;
}

/** tabInfo returns what is told of a tab; nothing if no plugin matches it or is live in one of its frames. */
export function tabInfo(
  tab: Tab,
  focusedWindow: number,
  plugins: readonly PluginInfo[],
  live: LiveDoc | undefined,
  frames: readonly LiveDoc[],
  { expects = () => false, arrives = () => false, loadError, openedWith }: Coming = {},
): TabInfo | undefined {
  // No plugin gets into Chrome's error page. A tab that loads again may get rid of it, unless its site does not answer.
  const failed = live || (tab.loading && loadError?.name !== LoadErrorNoAnswer) ? undefined : loadError;
  const worksIn = (url: string) => plugins.filter((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
  const own = worksIn(tab.url);
  // A tab that was opened for a call and led elsewhere, where nothing can be loaded, counts as the page it was opened for.
  const isLost = failed !== undefined && openedWith !== undefined && own.length === 0;
  const matching = isLost ? worksIn(openedWith) : own;
  // What is frozen runs nothing until the person looks at it, whatever its adapters said before.
  const said = (plugin: Live) => tabPlugin(tab.frozen ? { ...plugin, ready: false } : plugin);
  const framed = frames.flatMap((frame) => frameInfo(frame, plugins, said) ?? []);
  if (matching.length === 0 && framed.length === 0) return undefined;
  const info: TabInfo = {
    tabId: tab.id,
    windowId: tab.windowId,
    url: isLost ? openedWith : tab.url,
    title: isLost ? '' : tab.title,
    active: tab.active,
    focused: tab.windowId === focusedWindow,
    lastAccessedMs: tab.lastAccessed,
  };
  if (tab.discarded) info.discarded = true;
  if (tab.frozen) info.frozen = true;
  if (framed.length > 0) info.frames = framed;
  const here = (live?.plugins ?? []).filter((p) => matching.some((m) => m.name === p.name));
  const running = here.filter((p) => p.problem === undefined);
  if (live && running.length > 0) {
    info.documentId = live.doc.documentId;
    info.plugins = running.map(said);
  }
  const broken = here.filter((p) => p.problem !== undefined);
  if (broken.length > 0) info.broken = broken.map(({ name, hash, problem = '' }) => ({ name, hash, problem }));
  const lacking = matching.filter((m) => !here.some((p) => p.name === m.name)).map((m) => m.name);
  if (failed) [info.loadError, info.loadFailedMs] = [failed.name, failed.atMs];
  const arriving = failed ? [] : lacking.filter(arrives);
  if (arriving.length > 0) info.arriving = arriving;
  const absent = lacking.filter((name) => !arriving.includes(name));
  // A document that is still loading may be about to say that its plugins are live.
  const loading = failed ? [] : absent.filter((name) => tab.loading || expects(name));
  if (loading.length > 0) info.loading = loading;
  if (absent.length > loading.length) info.needsReload = absent.filter((name) => !loading.includes(name));
  return info;
}

/** frameInfo returns what is told of a frame; nothing if no plugin that wants frames is live in it. */
function frameInfo(
  { doc, plugins: here }: LiveDoc,
  plugins: readonly PluginInfo[],
  said: (plugin: Live) => TabPlugin,
): FrameInfo | undefined {
  const wanted = plugins.filter((p) => p.frames === true);
  const running = here.filter((p) => p.problem === undefined && wanted.some((w) => w.name === p.name));
  if (running.length === 0) return undefined;
  return { frameId: doc.frameId, url: doc.url, documentId: doc.documentId, plugins: running.map(said) };
}

function tabPlugin({ name, hash, ready }: Live): TabPlugin {
  return ready === undefined ? { name, hash } : { name, hash, ready };
}
