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

/** CoalesceMs is how long changes of tabs are collected before they are sent, in milliseconds. */
const CoalesceMs = 50;

export interface TabsOptions {
  query(): Promise<readonly Tab[]>;
  focusedWindow(): Promise<number>;
  plugins(): readonly PluginInfo[];
  /** live returns the top document of a tab, frames its frames that may have adapters. */
  live(tabId: number): LiveDoc | undefined;
  frames(tabId: number): readonly LiveDoc[];
  /** expects reports whether a tab is about to get a missing adapter without a reload. */
  expects(tabId: number, plugin: string): boolean;
  /** isSilent reports whether a document does not answer. */
  isSilent(documentId: string): boolean;
  /** arrives reports whether an adapter is being injected into the top document of a tab. Default: none is. */
  arrives?(tabId: number, plugin: string): boolean;
  /** loadError returns why the page of a tab could not be loaded. Default: it was loaded. */
  loadError?(tabId: number): LoadError | undefined;
  /** openedWith returns the URL that a tab was opened with for a call. Default: none. */
  openedWith?(tabId: number): string | undefined;
  /** waits is called with each tab whose site has not answered yet. Default: nothing. */
  waits?(tabId: number): void;
  /** urlChanged is called with the URL of each tab. Default: nothing. */
  urlChanged?(tabId: number, url: string): void;
  /** synced sends all tabs. changed sends a tab that differs from what was last sent, or is gone. */
  synced(tabs: readonly TabInfo[]): void;
  changed(tabId: number, tab: TabInfo | undefined): void;
}

/** Tabs reports to the server which tabs match plugins. */
export interface Tabs {
  /** known are the tabs that were last sent. */
  readonly known: readonly TabInfo[];
  /** touch notes a possible change. */
  touch(): void;
  /** hurry notes a change that a call may wait for. The first one in CoalesceMs is sent at once. */
  hurry(): void;
  /** sendNow sends pending changes at once. */
  sendNow(): Promise<void>;
  /**
   * forget makes the next update include a tab even if it did not change, because the server has another state of it.
   */
  forget(tabId: number): void;
  /** sync sends all tabs, for a new link or new plugins. */
  sync(): void;
}

/** makeTabs returns a Tabs that has sent nothing. */
export function makeTabs(options: TabsOptions): Tabs {
  let sent = new Map<number, { text: string; tab: TabInfo }>();
  let whole = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let updating = false;
  let again = false;
  let hurriedAtMs = Number.NEGATIVE_INFINITY;

  const update = async () => {
    timer = undefined;
    if (updating) {
      again = true;
      return;
    }
    updating = true;
    const everything = whole;
    whole = false;
    try {
      const [tabs, focused] = await Promise.all([options.query(), options.focusedWindow()]);
      sendChanges(tabs, focused, everything);
    } catch (error) {
      console.warn(`opentabs: the tabs can't be listed: ${String(error)}`);
    } finally {
      updating = false;
      if (again || whole) soon();
      again = false;
    }
  };

  const sendChanges = (tabs: readonly Tab[], focused: number, everything: boolean) => {
    const now = new Map<number, { text: string; tab: TabInfo }>();
    for (const tab of tabs) {
      options.urlChanged?.(tab.id, tab.url);
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
    const before = sent;
    sent = now;
    if (everything) {
      options.synced([...now.values()].map((entry) => entry.tab));
      return;
    }
    for (const [id, { text, tab }] of now) if (before.get(id)?.text !== text) options.changed(id, tab);
    for (const id of before.keys()) if (!now.has(id)) options.changed(id, undefined);
  };

  const soon = () => {
    timer ??= setTimeout(() => void update(), CoalesceMs);
  };
  const now = () => {
    clearTimeout(timer);
    return update();
  };
  return {
    get known() {
      return [...sent.values()].map((entry) => entry.tab);
    },
    touch: soon,
    hurry: () => {
      const atMs = Date.now();
      if (updating || atMs - hurriedAtMs < CoalesceMs) return soon();
      hurriedAtMs = atMs;
      void now();
    },
    sendNow: now,
    forget: (tabId) => {
      const entry = sent.get(tabId);
      if (entry) entry.text = '';
      soon();
    },
    sync: () => {
      whole = true;
      void now();
    },
  };
}

/** Coming holds which plugins are about to be live in a tab, and why none can be. */
export interface Coming {
  expects?(plugin: string): boolean;
  arrives?(plugin: string): boolean;
  readonly loadError?: LoadError | undefined;
  /** openedWith is the URL that the tab was opened with for a call. */
  readonly openedWith?: string | undefined;
}

/** tabInfo returns the report for a tab, or undefined if no plugin matches the tab or is live in its frames. */
export function tabInfo(
  tab: Tab,
  focusedWindow: number,
  plugins: readonly PluginInfo[],
  live: LiveDoc | undefined,
  frames: readonly LiveDoc[],
  { expects = () => false, arrives = () => false, loadError, openedWith }: Coming = {},
): TabInfo | undefined {
  // No plugin can run in Chrome's error page. A loading tab may leave the error page, unless its site does not
  // answer.
  const failed = live || (tab.loading && loadError?.name !== LoadErrorNoAnswer) ? undefined : loadError;
  const worksIn = (url: string) => plugins.filter((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
  const own = worksIn(tab.url);
  // A tab that was opened for a call and redirected to a failing page counts as the page that it was opened for.
  const isLost = failed !== undefined && openedWith !== undefined && own.length === 0;
  const matching = isLost ? worksIn(openedWith) : own;
  // A frozen page runs nothing until the user shows its tab, so its adapters are not ready.
  const report = (plugin: Live) => tabPlugin(tab.frozen ? { ...plugin, ready: false } : plugin);
  const framed = frames.flatMap((frame) => frameInfo(frame, plugins, report) ?? []);
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
    info.plugins = running.map(report);
  }
  const broken = here.filter((p) => p.problem !== undefined);
  if (broken.length > 0) info.broken = broken.map(({ name, hash, problem = '' }) => ({ name, hash, problem }));
  const lacking = matching.filter((m) => !here.some((p) => p.name === m.name)).map((m) => m.name);
  if (failed) [info.loadError, info.loadFailedMs] = [failed.name, failed.atMs];
  const arriving = failed ? [] : lacking.filter(arrives);
  if (arriving.length > 0) info.arriving = arriving;
  const absent = lacking.filter((name) => !arriving.includes(name));
  // A loading document may be about to report that its plugins are live.
  const loading = failed ? [] : absent.filter((name) => tab.loading || expects(name));
  if (loading.length > 0) info.loading = loading;
  if (absent.length > loading.length) info.needsReload = absent.filter((name) => !loading.includes(name));
  return info;
}

/** frameInfo returns the report for a frame, or undefined if no plugin with frames is live in it. */
function frameInfo(
  { doc, plugins: here }: LiveDoc,
  plugins: readonly PluginInfo[],
  report: (plugin: Live) => TabPlugin,
): FrameInfo | undefined {
  const wanted = plugins.filter((p) => p.frames === true);
  const running = here.filter((p) => p.problem === undefined && wanted.some((w) => w.name === p.name));
  if (running.length === 0) return undefined;
  return { frameId: doc.frameId, url: doc.url, documentId: doc.documentId, plugins: running.map(report) };
}

function tabPlugin({ name, hash, ready }: Live): TabPlugin {
  return ready === undefined ? { name, hash } : { name, hash, ready };
}
