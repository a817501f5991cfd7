import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Frame, FramePage, Page, Tab, TabState } from '../../chrome.ts';
import { matchesAny } from '../plugins/match.ts';
import type { Registrations } from '../plugins/registering.ts';
import { Signal } from '../signal.ts';

/**
 * SettleMs is the time, in milliseconds, for a document with scripts to report its plugins. After SettleMs, a script
 * inspects a document that has not reported its plugins.
 */
const SettleMs = 200;
/**
 * CheckIntervalMs is the time between inspections of an undecided tab, in milliseconds. MaxChecks is the maximum number
 * of inspections of one tab.
 */
const CheckIntervalMs = 300;
const MaxChecks = 200;
/**
 * DistributeMs is how long after a registration a document may still start without the registered scripts, in
 * milliseconds. Chrome distributes scripts to its processes with a delay.
 */
const DistributeMs = 1000;
/** MaxReloads is the maximum number of reloads of a tab whose plugins do not become live. */
const MaxReloads = 2;
/** ReloadMs is how long a tab may take to show the next document, in milliseconds. */
const ReloadMs = 3000;
/**
 * CallPageAnswerTimeoutMs is how long a page may take to answer while a call waits, in milliseconds.
 * PageAnswerTimeoutMs is how long a page may take to answer while no call waits, in milliseconds.
 */
const CallPageAnswerTimeoutMs = 1000;
const PageAnswerTimeoutMs = 10_000;

export interface ReloadOptions {
  query(): Promise<readonly Tab[]>;
  tabState(tabId: number): Promise<TabState>;
  /** readPage returns 'error' for Chrome's error page. */
  readPage(tabId: number): Promise<Page | 'error' | undefined>;
  /** listFrames returns the frames of a tab without running a script in them. */
  listFrames(tabId: number): Promise<readonly Frame[]>;
  /**
   * readFrames returns the frames of a tab with the same origin as its top document. readFrames runs a script in each
   * frame.
   */
  readFrames(tabId: number): Promise<readonly FramePage[]>;
  reloadTab(tabId: number): Promise<void>;
  /** reloadFrame reloads one frame of a tab. */
  reloadFrame(tabId: number, documentId: string): Promise<void>;
  plugins(): readonly PluginInfo[];
  /** isLive reports whether a plugin is live, failed to start, or is being injected in a tab's document or frame. */
  isLive(tabId: number, plugin: PluginInfo, frame?: string): boolean;
  /** liveDocument returns the ID of a tab's top document if the document has reported its plugins. */
  liveDocument(tabId: number): string | undefined;
  /** answersSoon pings a connected document and reports whether the document answers soon. */
  answersSoon(documentId: string): Promise<boolean>;
  /** isConnected reports whether a document has reported its plugins. */
  isConnected(documentId: string): boolean;
  /** canRun reports whether a plugin can run in pages at all. */
  canRun(plugin: PluginInfo): boolean;
  /** isRegistered reports whether a document that starts now can get a plugin. */
  isRegistered(plugin: PluginInfo): boolean;
  /** beforeReload is called with the missing plugins before a tab is reloaded. */
  beforeReload(plugins: readonly PluginInfo[]): void;
}

/**
 * TabCheckResult is the result of checking a tab. The verdict "done" means that the tab has its plugins or cannot get
 * its plugins. The verdict "again" means that the tab must be checked again.
 */
type TabCheckResult = 'done' | 'again';

/** TabReloader reloads tabs that lack their plugins, if the user cannot lose input in the tab. */
export class TabReloader {
  /** changed is emitted when the result of expects has changed for a tab. */
  readonly changed = new Signal();
  /**
   * orphaned reports a document that seems live but has the bridge of a reloaded extension. A document with the bridge
   * of a reloaded extension cannot answer.
   */
  readonly orphaned = new Signal<[documentId: string]>();
  /**
   * crashed reports a tab whose page has crashed, before the tab is reloaded. After a reload, the crash can no longer
   * be detected.
   */
  readonly crashed = new Signal<[tabId: number]>();
  readonly #options: ReloadOptions;
  /** #spans are the time spans in which documents may have started without their scripts. */
  #unregisteredTimeSpans: { readonly fromMs: number; readonly toMs: number }[] = [];
  /**
   * #checks maps each undecided tab to the number of its checks, and #reloads maps each tab to the number and the time
   * of its reloads.
   */
  readonly #checks = new Map<number, number>();
  readonly #reloads = new Map<number, { count: number; atMs: number }>();
  /** #documentStartMs maps each tab to the start time of its document, for documents that started after this worker. */
  readonly #documentStartMs = new Map<number, number>();
  /** #firstMs and #lastMs are the times of the first and the last of the latest registrations. */
  #firstMs: number | undefined;
  #lastMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** #checking are the tabs with a check in progress. A busy page does not delay the checks of other tabs. */
  readonly #checking = new Set<number>();
  #mustCheckAll = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /**
   * load reloads one tab for a call, unless the tab is loading or was just reloaded. load returns false if the reload
   * could lose user input or would not help.
   */
  async load(tabId: number): Promise<boolean> {
    const findTab = async () => (await this.#options.query()).find((t) => t.id === tabId);
    const tab = await findTab();
    if (!tab || this.#matchingPlugins(tab).length === 0) return false;
    // If no plugin is missing, the tab was reloaded after the server chose the tab, and the server is about to receive
    // the new state.
    if (this.#missingPlugins(tab).length === 0) return true;
    if (!(await this.#isUnloaded(tabId))) {
      const page = await this.#readPage(tabId, CallPageAnswerTimeoutMs);
      // A reload of an error page loses no user input. A page that cannot answer because it is loading needs no reload.
      if (page !== 'error' && !isUntouched(page) && !(await this.#isUnloaded(tabId)))
        return !page && (await findTab())?.loading === true;
    }
    await this.#options.reloadTab(tabId);
    return true;
  }

  /**
   * recordRegistration records that scripts were registered. Documents that started during the registration may have
   * only some of the scripts. Each document that started during the registration is checked until its plugins are live
   * or cannot become live. Documents that have reported their plugins are pinged; all other documents are inspected by
   * a script.
   */
  recordRegistration({ fromMs, firstMs }: Registrations): void {
    this.#firstMs = firstMs;
    this.#lastMs = Date.now();
    const toMs = this.#lastMs + DistributeMs;
    this.#unregisteredTimeSpans = [
      ...this.#unregisteredTimeSpans.filter((span) => toMs - span.toMs < PageAnswerTimeoutMs * 6),
      { fromMs, toMs },
    ];
    this.#mustCheckAll = true;
    this.#schedule(0);
  }

  /** recordStart records when the document of a tab started, in milliseconds since 1970. */
  recordStart(tabId: number, atMs: number): void {
    this.#documentStartMs.set(tabId, atMs);
  }

  /** expects reports whether a tab is still to be checked and may be reloaded. */
  expects(tabId: number): boolean {
    return this.#mustCheckAll || this.#checks.has(tabId);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#checkTabs().catch(warnNotReloaded), ms);
  }

  async #checkTabs(): Promise<void> {
    const mustCheckAll = this.#mustCheckAll;
    this.#mustCheckAll = false;
    try {
      const presentTabs = await this.#options.query();
      for (const id of this.#documentStartMs.keys())
        if (!presentTabs.some((tab) => tab.id === id)) this.#documentStartMs.delete(id);
      const matchingTabs = presentTabs.filter((t) => this.#matchingPlugins(t).length > 0);
      const matchingIds = new Set(matchingTabs.map((tab) => tab.id));
      for (const id of this.#checks.keys()) if (!matchingIds.has(id)) this.#stopChecking(id);
      for (const tab of matchingTabs) {
        if (!mustCheckAll && !this.#checks.has(tab.id)) continue;
        if (!this.#checks.has(tab.id)) this.#checks.set(tab.id, 0);
        if (!this.#checking.has(tab.id)) void this.#checkTab(tab);
      }
    } finally {
      if (this.#checks.size > 0) this.#schedule(CheckIntervalMs);
      this.changed.emit();
    }
  }

  async #checkTab(tab: Tab): Promise<void> {
    this.#checking.add(tab.id);
    const verdict = await this.#repair(tab).catch((error: unknown): TabCheckResult => {
      warnNotReloaded(error); // the tab may have been closed or may have started to load
      return 'again';
    });
    this.#checking.delete(tab.id);
    const checks = (this.#checks.get(tab.id) ?? 0) + 1;
    if (verdict === 'done' || checks > MaxChecks) this.#stopChecking(tab.id);
    else this.#checks.set(tab.id, checks);
  }

  #stopChecking(tabId: number): void {
    this.#reloads.delete(tabId);
    if (this.#checks.delete(tabId)) this.changed.emit();
  }

  async #repair(tab: Tab): Promise<TabCheckResult> {
    if (tab.discarded || (await this.#isUnloaded(tab.id))) return 'done';
    const missing = this.#missingPlugins(tab);
    return missing.length === 0 ? this.#repairLive(tab) : this.#repairMissing(tab, missing);
  }

  /**
   * repairLive drops a document that seems live but does not answer. A document that started during an extension reload
   * may have the old bridge on a port to this worker.
   */
  async #repairLive(tab: Tab): Promise<TabCheckResult> {
    const documentId = this.#options.liveDocument(tab.id);
    const mayBeOrphaned = documentId !== undefined && this.#unregisteredTimeSpans.some((span) => span.fromMs === 0);
    if (mayBeOrphaned && !(await this.#options.answersSoon(documentId))) {
      const page = await this.#readPage(tab.id, PageAnswerTimeoutMs);
      if (!page) return 'again';
      if (page === 'error') return 'done';
      if (!page.hasBridge) {
        this.orphaned.emit(page.documentId);
        if (!isUntouched(page)) return 'done';
        return this.#reloadOnce(tab.id, () => this.#options.reloadTab(tab.id));
      }
    }
    return tab.loading ? 'again' : this.#repairFrames(tab);
  }

  /** repairMissing reloads a tab whose document started without the scripts of the missing plugins. */
  async #repairMissing(tab: Tab, missing: readonly PluginInfo[]): Promise<TabCheckResult> {
    const startMs = this.#documentStartMs.get(tab.id);
    const verdictIfNotLacking = tab.loading ? 'again' : 'done';
    if (startMs !== undefined && !this.#mayLackScripts(startMs)) return verdictIfNotLacking;
    if (this.#mayConnect(startMs) || !missing.every((plugin) => this.#options.isRegistered(plugin))) return 'again';
    const page = await this.#readPage(tab.id, PageAnswerTimeoutMs);
    if (!page) return 'again';
    if (page === 'error') return 'done';
    if (!this.#mayLackScripts(page.startedMs)) return verdictIfNotLacking;
    if (!isUntouched(page)) return 'done';
    if (page.hasBridge) {
      const isNotConnected = !this.#options.isConnected(page.documentId);
      if (isNotConnected && (this.#checks.get(tab.id) ?? 0) * CheckIntervalMs < PageAnswerTimeoutMs) return 'again';
    } else {
      // In a document that is just starting, Chrome may run the inspecting script before the bridge.
      const laterPage = await this.#readPage(tab.id, PageAnswerTimeoutMs);
      if (!laterPage || laterPage === 'error' || laterPage.hasBridge || laterPage.documentId !== page.documentId)
        return 'again';
    }
    return this.#reloadOnce(tab.id, () => {
      this.#options.beforeReload(missing);
      return this.#options.reloadTab(tab.id);
    });
  }

  /** mayConnect reports whether a document may have its scripts and may be about to connect. */
  #mayConnect(startMs: number | undefined): boolean {
    if (this.#firstMs !== undefined && (startMs ?? 0) < this.#firstMs) return false;
    return Date.now() < Math.max(startMs ?? 0, this.#lastMs) + SettleMs;
  }

  /**
   * reloadOnce reloads a tab or a frame of the tab, unless the tab or frame was just reloaded, or was reloaded too
   * often.
   */
  async #reloadOnce(tabId: number, reload: () => Promise<void>): Promise<TabCheckResult> {
    const { count, atMs } = this.#reloads.get(tabId) ?? { count: 0, atMs: 0 };
    if (count > 0 && Date.now() - atMs < ReloadMs) return 'again';
    if (count >= MaxReloads) return 'done';
    await reload();
    this.#reloads.set(tabId, { count: count + 1, atMs: Date.now() });
    return 'again';
  }

  /** repairFrames reloads frames without a plugin that should run in frames. */
  async #repairFrames(tab: Tab): Promise<TabCheckResult> {
    const { plugins, canRun, isLive } = this.#options;
    const framePlugins = plugins().filter((p) => p.frames === true && canRun(p));
    const lacksPlugin = ({ url, documentId }: Frame) =>
      framePlugins.some((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []) && !isLive(tab.id, p, documentId));
    const { origin } = new URL(tab.url);
    const listedFrames = framePlugins.length === 0 ? [] : await this.#options.listFrames(tab.id);
    if (!listedFrames.some((frame) => lacksPlugin(frame) && new URL(frame.url).origin === origin)) return 'done';
    for (const frame of await this.#options.readFrames(tab.id)) {
      if (!lacksPlugin(frame) || frame.isTouched || !this.#mayLackScripts(frame.startedMs)) continue;
      if (this.#mayConnect(frame.startedMs)) return 'again';
      return this.#reloadOnce(tab.id, () => this.#options.reloadFrame(tab.id, frame.documentId));
    }
    return 'done';
  }

  #mayLackScripts(startedMs: number): boolean {
    return this.#unregisteredTimeSpans.some((span) => startedMs >= span.fromMs && startedMs <= span.toMs);
  }

  /** matchingPlugins returns the plugins that could run in the tab. */
  #matchingPlugins(tab: Tab): readonly PluginInfo[] {
    const { plugins, canRun } = this.#options;
    return plugins().filter((p) => canRun(p) && matchesAny(tab.url, p.matches ?? [], p.excludes ?? []));
  }

  /** missingPlugins returns the matching plugins that are not live in the tab. */
  #missingPlugins(tab: Tab): readonly PluginInfo[] {
    return this.#matchingPlugins(tab).filter((p) => !this.#options.isLive(tab.id, p));
  }

  #readPage(tabId: number, limitMs: number): Promise<Page | 'error' | undefined> {
    const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, limitMs));
    return Promise.race([this.#options.readPage(tabId), timeout]);
  }

  /**
   * isUnloaded reports whether a tab has no page. Chrome detects a crash with a delay, so call isUnloaded again if a
   * page does not answer.
   */
  async #isUnloaded(tabId: number): Promise<boolean> {
    const state = await this.#options.tabState(tabId);
    if (state === 'crashed') this.crashed.emit(tabId);
    return state === 'crashed' || state === 'discarded';
  }
}

function isUntouched(page: Page | undefined): boolean {
  return page !== undefined && !page.isTouched && !page.audible;
}

function warnNotReloaded(error: unknown): void {
  console.warn(`opentabs: a tab can't be reloaded: ${String(error)}`);
}
