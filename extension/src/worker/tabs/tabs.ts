import {
  type FrameInfo,
  LoadErrorNoAnswer,
  type PluginInfo,
  type TabInfo,
  type TabPlugin,
} from '../../../../wire/wire.gen.ts';
import type { Tab } from '../../chrome.ts';
import type { LiveAdapter } from '../../port-message.ts';
import type { LiveDoc } from '../documents/docs.ts';
import { matchesAny } from '../plugins/match.ts';
import { Signal } from '../signal.ts';
import type { LoadError } from './load-errors.ts';

/** CoalesceMs is how long changes of tabs are collected before they are sent, in milliseconds. */
const CoalesceMs = 50;

export interface TabsOptions {
  query(): Promise<readonly Tab[]>;
  focusedWindow(): Promise<number>;
  plugins(): readonly PluginInfo[];
  /** live returns the top document of a tab. frames returns the frames of a tab that may have adapters. */
  live(tabId: number): LiveDoc | undefined;
  frames(tabId: number): readonly LiveDoc[];
  /** expects reports whether a tab is about to get a missing adapter without a reload. */
  expects(tabId: number, plugin: string): boolean;
  /** isSilent reports whether a document does not answer. */
  isSilent(documentId: string): boolean;
  /**
   * arrives reports whether an adapter is being injected into the top document of a tab. By default, arrives returns
   * false.
   */
  arrives?(tabId: number, plugin: string): boolean;
  /** loadError returns why the page of a tab could not be loaded. By default, every page counts as loaded. */
  loadError?(tabId: number): LoadError | undefined;
  /** openedWith returns the URL that a tab was opened with for a call. By default, no tab was opened for a call. */
  openedWith?(tabId: number): string | undefined;
  /** waits is called with each tab whose site has not answered yet. By default, waits does nothing. */
  waits?(tabId: number): void;
  /** urlChanged is called with the URL of each tab. By default, urlChanged does nothing. */
  urlChanged?(tabId: number, url: string): void;
  /**
   * synced sends all tabs. changed sends a tab that differs from the state that was last sent, or that no longer
   * exists.
   */
  synced(tabs: readonly TabInfo[]): void;
  changed(tabId: number, tab: TabInfo | undefined): void;
}

/** Tabs reports to the server which tabs match plugins. */
export class Tabs {
  /** reported is fired when tabs were sent to the server. */
  readonly reported = new Signal();
  readonly #options: TabsOptions;
  /** #sent maps each tab to the state that was last sent, also as JSON text. */
  #sent = new Map<number, { text: string; tab: TabInfo }>();
  /** #isAll is set if the next update sends all tabs. */
  #isAll = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isUpdating = false;
  #again = false;
  #hurriedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: TabsOptions) {
    this.#options = options;
  }

  /** known are the tabs that were last sent. */
  get known(): readonly TabInfo[] {
    return [...this.#sent.values()].map((entry) => entry.tab);
  }

  /** scheduleUpdate records that a tab may have changed. */
  scheduleUpdate(): void {
    this.#timer ??= setTimeout(() => void this.#update(), CoalesceMs);
  }

  /** sendSoon records a change that a call may wait for. The first such change within CoalesceMs is sent at once. */
  sendSoon(): void {
    const atMs = Date.now();
    if (this.#isUpdating || atMs - this.#hurriedAtMs < CoalesceMs) {
      this.scheduleUpdate();
      return;
    }
    this.#hurriedAtMs = atMs;
    void this.sendNow();
  }

  /** sendNow sends pending changes at once. */
  sendNow(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#update();
  }

  /**
   * resendTab makes the next update include a tab even if the tab did not change, because the server has a different state
   * of this tab.
   */
  resendTab(tabId: number): void {
    const entry = this.#sent.get(tabId);
    if (entry) entry.text = '';
    this.scheduleUpdate();
  }

  /** sync sends all tabs, for a new link or new plugins. */
  sync(): void {
    this.#isAll = true;
    void this.sendNow();
  }

  async #update(): Promise<void> {
    this.#timer = undefined;
    if (this.#isUpdating) {
      this.#again = true;
      return;
    }
    this.#isUpdating = true;
    const isAll = this.#isAll;
    this.#isAll = false;
    try {
      const [tabs, focused] = await Promise.all([this.#options.query(), this.#options.focusedWindow()]);
      this.#sendChanges(tabs, focused, isAll);
    } catch (error) {
      console.warn(`opentabs: the tabs can't be listed: ${String(error)}`);
    } finally {
      this.#isUpdating = false;
      if (this.#again || this.#isAll) this.scheduleUpdate();
      this.#again = false;
    }
  }

  #sendChanges(tabs: readonly Tab[], focused: number, isAll: boolean): void {
    const options = this.#options;
    const now = new Map<number, { text: string; tab: TabInfo }>();
    for (const tab of tabs) {
      options.urlChanged?.(tab.id, tab.url);
      if (tab.pending) options.waits?.(tab.id);
      const info = this.#infoOf(tab, focused);
      if (info) now.set(tab.id, { text: JSON.stringify(info), tab: info });
    }
    const before = this.#sent;
    this.#sent = now;
    if (isAll) options.synced(this.known);
    else {
      for (const [id, { text, tab }] of now) if (before.get(id)?.text !== text) options.changed(id, tab);
      for (const id of before.keys()) if (!now.has(id)) options.changed(id, undefined);
    }
    this.reported.emit();
  }

  #infoOf(tab: Tab, focused: number): TabInfo | undefined {
    const options = this.#options;
    const live = options.live(tab.id);
    const frames = options.frames(tab.id);
    const info = tabInfo(tab, focused, options.plugins(), live, frames, {
      expects: (plugin) => options.expects(tab.id, plugin),
      arrives: (plugin) => options.arrives?.(tab.id, plugin) === true,
      loadError: options.loadError?.(tab.id),
      openedWith: options.openedWith?.(tab.id),
    });
    const isSilent = [live, ...frames].some((one) => one && options.isSilent(one.doc.documentId));
    return info && isSilent ? { ...info, unresponsive: true } : info;
  }
}

/** TabExpectations describes which plugins are about to be live in a tab, or why the tab cannot load a page. */
export interface TabExpectations {
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
  { expects = () => false, arrives = () => false, loadError, openedWith }: TabExpectations = {},
): TabInfo | undefined {
  // No plugin can run in Chrome's error page. A loading tab may soon leave the error page, unless the site of the tab
  // does not answer.
  const failed = live || (tab.loading && loadError?.name !== LoadErrorNoAnswer) ? undefined : loadError;
  const worksIn = (url: string) => plugins.filter((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []));
  const own = worksIn(tab.url);
  // A tab that was opened for a call and redirected to a failing page counts as a tab that shows the page of the call.
  const isLost = failed !== undefined && openedWith !== undefined && own.length === 0;
  const matching = isLost ? worksIn(openedWith) : own;
  // A frozen page runs no code until the user shows the tab, so the adapters of the page are not ready.
  const report = (plugin: LiveAdapter) => tabPlugin(tab.frozen ? { ...plugin, ready: false } : plugin);
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
  const livePlugins = (live?.plugins ?? []).filter((p) => matching.some((m) => m.name === p.name));
  const running = livePlugins.filter((p) => p.problem === undefined);
  if (live && running.length > 0) {
    info.documentId = live.doc.documentId;
    info.plugins = running.map(report);
  }
  const broken = livePlugins.filter((p) => p.problem !== undefined);
  if (broken.length > 0) info.broken = broken.map(({ name, hash, problem = '' }) => ({ name, hash, problem }));
  const lacking = matching.filter((m) => !livePlugins.some((p) => p.name === m.name)).map((m) => m.name);
  if (failed) [info.loadError, info.loadFailedMs] = [failed.name, failed.atMs];
  const arriving = failed ? [] : lacking.filter(arrives);
  if (arriving.length > 0) info.arriving = arriving;
  const absent = lacking.filter((name) => !arriving.includes(name));
  // A document that is still loading may be about to report that its plugins are live.
  const loading = failed ? [] : absent.filter((name) => tab.loading || expects(name));
  if (loading.length > 0) info.loading = loading;
  if (absent.length > loading.length) info.needsReload = absent.filter((name) => !loading.includes(name));
  return info;
}

/** frameInfo returns the report for a frame, or undefined if no plugin with frames is live in it. */
function frameInfo(
  { doc, plugins: here }: LiveDoc,
  plugins: readonly PluginInfo[],
  report: (plugin: LiveAdapter) => TabPlugin,
): FrameInfo | undefined {
  const wanted = plugins.filter((p) => p.frames === true);
  const running = here.filter((p) => p.problem === undefined && wanted.some((w) => w.name === p.name));
  if (running.length === 0) return undefined;
  return { frameId: doc.frameId, url: doc.url, documentId: doc.documentId, plugins: running.map(report) };
}

function tabPlugin({ name, hash, ready }: LiveAdapter): TabPlugin {
  return ready === undefined ? { name, hash } : { name, hash, ready };
}
