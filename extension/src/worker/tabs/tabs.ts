import {
  type FrameInfo,
  LoadErrorNoAccess,
  LoadErrorNoAnswer,
  type PluginInfo,
  type TabInfo,
  type TabPlugin,
} from '../../../../wire/wire.gen.ts';
import type { ChromeTab } from '../../chrome.ts';
import type { LiveAdapter } from '../../port-message.ts';
import type { DocWithPlugins } from '../documents/docs.ts';
import { matchesAnyPattern } from '../plugins/match.ts';
import { Signal } from '../signal.ts';
import type { LoadError } from './load-errors.ts';

const TabUpdateDelayMs = 50;

export interface TabsOptions {
  query(): Promise<readonly ChromeTab[]>;
  focusedWindow(): Promise<number>;
  plugins(): readonly PluginInfo[];
  /**
   * The method `findLiveDoc` returns the top document of a tab, or undefined if the document has not reported its
   * plugins.
   */
  findLiveDoc(tabId: number): DocWithPlugins | undefined;
  frames(tabId: number): readonly DocWithPlugins[];
  /** The method `expects` reports whether a tab will receive a plugin's new adapter without a reload. */
  expects(tabId: number, plugin: string): boolean;
  isSilent(documentId: string): boolean;
  /** isArriving reports whether an adapter is being injected into the top document of a tab. */
  isArriving?(tabId: number, plugin: string): boolean;
  /** The method `loadError` returns why a tab could not load its page. */
  loadError?(tabId: number): LoadError | undefined;
  hasAccess?(url: string): boolean;
  /** getInitialUrl returns the URL with which the worker opened a tab for a call. */
  getInitialUrl?(tabId: number): string | undefined;
  /** startResponseTimer is called for each tab that is still waiting for its site to respond. */
  startResponseTimer?(tabId: number): void;
  onUrlChanged?(tabId: number, url: string): void;
  /**
   * sendAll sends all tabs. sendTabChange sends one changed tab, or undefined for a tab that was closed or no longer
   * matches a plugin.
   */
  sendAll(tabs: readonly TabInfo[]): void;
  sendTabChange(tabId: number, tab: TabInfo | undefined): void;
}

/** Tabs sends the server a list of the tabs that match plugins. */
export class Tabs {
  readonly reported = new Signal();
  readonly #options: TabsOptions;
  #sentTabs = new Map<number, { text: string; tab: TabInfo }>();
  #mustSendAllTabs = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isUpdating = false;
  #mustUpdateAgain = false;
  #lastImmediateUpdateMs = Number.NEGATIVE_INFINITY;

  constructor(options: TabsOptions) {
    this.#options = options;
  }

  get sentTabs(): readonly TabInfo[] {
    return [...this.#sentTabs.values()].map((entry) => entry.tab);
  }

  scheduleUpdate(): void {
    this.#timer ??= setTimeout(() => void this.#updateTabs(), TabUpdateDelayMs);
  }

  /**
   * scheduleSend sends a change of the tab list for which a call may be waiting. scheduleSend sends at most one change
   * per TabUpdateDelayMs immediately, and collects further changes.
   */
  scheduleSend(): void {
    const atMs = Date.now();
    if (this.#isUpdating || atMs - this.#lastImmediateUpdateMs < TabUpdateDelayMs) {
      this.scheduleUpdate();
      return;
    }
    this.#lastImmediateUpdateMs = atMs;
    void this.sendNow();
  }

  sendNow(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#updateTabs();
  }

  /** resendTab makes the next update send a tab again, because the server's state of the tab is outdated. */
  resendTab(tabId: number): void {
    const entry = this.#sentTabs.get(tabId);
    if (entry) entry.text = '';
    this.scheduleUpdate();
  }

  sync(): void {
    this.#mustSendAllTabs = true;
    void this.sendNow();
  }

  async #updateTabs(): Promise<void> {
    this.#timer = undefined;
    if (this.#isUpdating) {
      this.#mustUpdateAgain = true;
      return;
    }
    this.#isUpdating = true;
    const mustSendAllTabs = this.#mustSendAllTabs;
    this.#mustSendAllTabs = false;
    try {
      const [tabs, focusedWindow] = await Promise.all([this.#options.query(), this.#options.focusedWindow()]);
      this.#sendChanges(tabs, focusedWindow, mustSendAllTabs);
    } catch (error) {
      console.warn(`opentabs: the tabs can't be listed: ${String(error)}`);
    } finally {
      this.#isUpdating = false;
      if (this.#mustUpdateAgain || this.#mustSendAllTabs) this.scheduleUpdate();
      this.#mustUpdateAgain = false;
    }
  }

  #sendChanges(tabs: readonly ChromeTab[], focusedWindow: number, mustSendAllTabs: boolean): void {
    const options = this.#options;
    const currentTabs = new Map<number, { text: string; tab: TabInfo }>();
    for (const tab of tabs) {
      options.onUrlChanged?.(tab.id, tab.url);
      if (tab.pending) options.startResponseTimer?.(tab.id);
      const tabInfo = this.#makeTabInfo(tab, focusedWindow);
      if (tabInfo) currentTabs.set(tab.id, { text: JSON.stringify(tabInfo), tab: tabInfo });
    }
    const previousTabs = this.#sentTabs;
    this.#sentTabs = currentTabs;
    if (mustSendAllTabs) options.sendAll(this.sentTabs);
    else {
      for (const [id, { text, tab }] of currentTabs)
        if (previousTabs.get(id)?.text !== text) options.sendTabChange(id, tab);
      for (const id of previousTabs.keys()) if (!currentTabs.has(id)) options.sendTabChange(id, undefined);
    }
    this.reported.emit();
  }

  #makeTabInfo(tab: ChromeTab, focusedWindow: number): TabInfo | undefined {
    const options = this.#options;
    // After the user has removed a site from the allowed sites, pages of that site receive no more calls.
    const hasAccess = options.hasAccess?.(tab.url) !== false;
    const liveDocument = hasAccess ? options.findLiveDoc(tab.id) : undefined;
    const frames = hasAccess ? options.frames(tab.id) : [];
    const tabInfo = makeTabInfo(tab, focusedWindow, options.plugins(), liveDocument, frames, {
      expects: (plugin) => options.expects(tab.id, plugin),
      isArriving: (plugin) => options.isArriving?.(tab.id, plugin) === true,
      loadError: hasAccess ? options.loadError?.(tab.id) : noAccessError,
      urlOpenedWith: options.getInitialUrl?.(tab.id),
    });
    const isSilent = [liveDocument, ...frames].some((liveDoc) => liveDoc && options.isSilent(liveDoc.doc.documentId));
    return tabInfo && isSilent ? { ...tabInfo, unresponsive: true } : tabInfo;
  }
}

const noAccessError: LoadError = { name: LoadErrorNoAccess, atMs: 0 };

export interface TabExpectations {
  expects?(plugin: string): boolean;
  isArriving?(plugin: string): boolean;
  readonly loadError?: LoadError | undefined;
  /** urlOpenedWith is the URL with which the worker opened the tab for a call. */
  readonly urlOpenedWith?: string | undefined;
}

/**
 * makeTabInfo returns the server's report about a tab, or undefined if no plugin matches the tab or runs in its frames.
 */
export function makeTabInfo(
  tab: ChromeTab,
  focusedWindow: number,
  plugins: readonly PluginInfo[],
  liveDocument: DocWithPlugins | undefined,
  frames: readonly DocWithPlugins[],
  { expects = () => false, isArriving = () => false, loadError, urlOpenedWith }: TabExpectations = {},
): TabInfo | undefined {
  // No plugin can run while the tab shows Chrome's error page. A tab that is loading may soon replace Chrome's error
  // page, unless the tab's site does not respond.
  const reportedError = liveDocument || (tab.loading && loadError?.name !== LoadErrorNoAnswer) ? undefined : loadError;
  const listPluginsForUrl = (url: string) =>
    plugins.filter((p) => matchesAnyPattern(url, p.matches ?? [], p.excludes ?? []));
  const tabUrlPlugins = listPluginsForUrl(tab.url);
  // If a redirect led a tab to a page that fails to load, report the plugins of the requested URL.
  const isRedirectError = reportedError !== undefined && urlOpenedWith !== undefined && tabUrlPlugins.length === 0;
  const matchingPlugins = isRedirectError ? listPluginsForUrl(urlOpenedWith) : tabUrlPlugins;
  // A frozen page runs no code until the user activates the tab, so its adapters are not ready.
  const toTabPlugin = (plugin: LiveAdapter) => makeTabPlugin(tab.frozen ? { ...plugin, ready: false } : plugin);
  const frameInfos = frames.flatMap((frame) => makeFrameInfo(frame, plugins, toTabPlugin) ?? []);
  if (matchingPlugins.length === 0 && frameInfos.length === 0) return undefined;
  const tabInfo: TabInfo = {
    tabId: tab.id,
    windowId: tab.windowId,
    url: isRedirectError ? urlOpenedWith : tab.url,
    title: isRedirectError ? '' : tab.title,
    active: tab.active,
    focused: tab.windowId === focusedWindow,
    lastAccessedMs: tab.lastAccessed,
  };
  if (tab.discarded) tabInfo.discarded = true;
  if (tab.frozen) tabInfo.frozen = true;
  if (frameInfos.length > 0) tabInfo.frames = frameInfos;
  const livePlugins = (liveDocument?.plugins ?? []).filter((p) => matchingPlugins.some((m) => m.name === p.name));
  const runningPlugins = livePlugins.filter((p) => p.problem === undefined);
  if (liveDocument && runningPlugins.length > 0) {
    tabInfo.documentId = liveDocument.doc.documentId;
    tabInfo.plugins = runningPlugins.map(toTabPlugin);
  }
  const brokenPlugins = livePlugins.filter((p) => p.problem !== undefined);
  if (brokenPlugins.length > 0)
    tabInfo.broken = brokenPlugins.map(({ name, hash, problem = '' }) => ({ name, hash, problem }));
  const unstartedPlugins = matchingPlugins
    .filter((m) => !livePlugins.some((p) => p.name === m.name))
    .map((m) => m.name);
  if (reportedError) tabInfo.loadError = reportedError.name;
  if (reportedError && reportedError.atMs > 0) tabInfo.loadFailedMs = reportedError.atMs;
  const arrivingPlugins = reportedError ? [] : unstartedPlugins.filter(isArriving);
  if (arrivingPlugins.length > 0) tabInfo.arriving = arrivingPlugins;
  const absentPlugins = unstartedPlugins.filter((name) => !arrivingPlugins.includes(name));
  // A document that is still loading may soon report plugins that it has not reported yet.
  const loadingPlugins = reportedError ? [] : absentPlugins.filter((name) => tab.loading || expects(name));
  if (loadingPlugins.length > 0) tabInfo.loading = loadingPlugins;
  if (absentPlugins.length > loadingPlugins.length)
    tabInfo.needsReload = absentPlugins.filter((name) => !loadingPlugins.includes(name));
  return tabInfo;
}

function makeFrameInfo(
  { doc, plugins: livePlugins }: DocWithPlugins,
  plugins: readonly PluginInfo[],
  toTabPlugin: (plugin: LiveAdapter) => TabPlugin,
): FrameInfo | undefined {
  const framePlugins = plugins.filter((p) => p.frames === true);
  const runningPlugins = livePlugins.filter(
    (p) => p.problem === undefined && framePlugins.some((w) => w.name === p.name),
  );
  if (runningPlugins.length === 0) return undefined;
  return { frameId: doc.frameId, url: doc.url, documentId: doc.documentId, plugins: runningPlugins.map(toTabPlugin) };
}

function makeTabPlugin({ name, hash, ready }: LiveAdapter): TabPlugin {
  return ready === undefined ? { name, hash } : { name, hash, ready };
}
