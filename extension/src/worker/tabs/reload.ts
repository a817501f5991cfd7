import type { PluginInfo } from '../../../../wire/wire.gen.ts';
import type { ChromeTab, FrameState, PageState, TabFrame, TabState } from '../../chrome.ts';
import { matchesAnyPattern } from '../plugins/match.ts';
import type { PendingRegistrations } from '../plugins/registering.ts';
import { Signal } from '../signal.ts';

/** PluginReportDelayMs is how long a document may take to report its plugins, in milliseconds. */
const PluginReportDelayMs = 200;
const CheckIntervalMs = 300;
const MaxTabChecks = 200;
/**
 * ScriptDistributionMs is how long Chrome may take to distribute registered scripts to its renderer processes, in
 * milliseconds. A document that starts less than ScriptDistributionMs after a registration may lack the registered
 * scripts.
 */
const ScriptDistributionMs = 1000;
const MaxTabReloads = 2;
const ReloadTimeoutMs = 3000;
/**
 * CallPageAnswerTimeoutMs limits how long a page may take to answer while a call waits, in milliseconds.
 * PageAnswerTimeoutMs limits how long a page may take to answer while no call waits.
 */
const CallPageAnswerTimeoutMs = 1000;
const PageAnswerTimeoutMs = 10_000;

export interface ReloadOptions {
  query(): Promise<readonly ChromeTab[]>;
  tabState(tabId: number): Promise<TabState>;
  /** readPage returns 'error' for Chrome's error page, and undefined if the page cannot be read. */
  readPage(tabId: number): Promise<PageState | 'error' | undefined>;
  /** listFrames returns the frames of a tab without running scripts in the frames. */
  listFrames(tabId: number): Promise<readonly TabFrame[]>;
  /**
   * readFrames runs a script in each frame that has the same origin as the tab's top document, and returns the results.
   */
  readFrames(tabId: number): Promise<readonly FrameState[]>;
  reloadTab(tabId: number): Promise<void>;
  reloadFrame(tabId: number, documentId: string): Promise<void>;
  plugins(): readonly PluginInfo[];
  /** isLive reports whether a plugin is running, has failed, or is being injected in a tab or frame. */
  isLive(tabId: number, plugin: PluginInfo, frame?: string): boolean;
  /** liveDocument returns the ID of a tab's top document, or undefined if the document has not reported its plugins. */
  liveDocument(tabId: number): string | undefined;
  /** answersPing pings a document and reports whether the document answers within 1 s. */
  answersPing(documentId: string): Promise<boolean>;
  isConnected(documentId: string): boolean;
  canRun(plugin: PluginInfo): boolean;
  isRegistered(plugin: PluginInfo): boolean;
  /** beforeReload is called just before TabReloader reloads a tab, with the plugins that are missing in the tab. */
  beforeReload(plugins: readonly PluginInfo[]): void;
}

type TabCheckResult = 'done' | 'again';

/** TabReloader reloads tabs in which plugins are missing, unless a reload could lose user input. */
export class TabReloader {
  readonly changed = new Signal();
  /**
   * The signal `orphanSignal` fires with the ID of a document whose bridge belongs to the extension as it was before a
   * reload.
   */
  readonly orphanSignal = new Signal<[documentId: string]>();
  /** The signal `crashSignal` fires before TabReloader reloads the tab, because a reload hides the crash. */
  readonly crashSignal = new Signal<[tabId: number]>();
  readonly #options: ReloadOptions;
  /** #unregisteredTimeSpans contains the time spans in which a starting document may have missed its scripts. */
  #unregisteredTimeSpans: { readonly fromMs: number; readonly toMs: number }[] = [];
  readonly #checkCountsByTab = new Map<number, number>();
  readonly #reloadsByTab = new Map<number, { count: number; atMs: number }>();
  /**
   * #documentStartMs contains the start time of a tab's document, by tab ID, for documents that started after this
   * worker.
   */
  readonly #documentStartMs = new Map<number, number>();
  /**
   * #firstRegistrationAtMs and #lastRegistrationAtMs are when the latest group of script registrations began and ended,
   * in milliseconds since 1970.
   */
  #firstRegistrationAtMs: number | undefined;
  #lastRegistrationAtMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /**
   * #checkingTabIds contains the tabs that are being checked. Several tabs are checked in parallel, because a busy page
   * may take seconds to answer.
   */
  readonly #checkingTabIds = new Set<number>();
  #mustCheckAllTabs = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /**
   * The method `load` reloads a tab for a call and returns true. If the tab is loading or was just reloaded, the method
   * `load` returns true without another reload. If a reload could lose user input or would not help, the method `load`
   * returns false.
   */
  async load(tabId: number): Promise<boolean> {
    const findTab = async () => (await this.#options.query()).find((t) => t.id === tabId);
    const tab = await findTab();
    if (!tab || this.#listMatchingPlugins(tab).length === 0) return false;
    // If no plugin is missing in the tab, a reload has just ended, and the server will soon receive the tab's new
    // state.
    if (this.#listMissingPlugins(tab).length === 0) return true;
    if (!(await this.#isUnloaded(tabId))) {
      const page = await this.#readPageState(tabId, CallPageAnswerTimeoutMs);
      // Chrome's error page contains no user input that a reload could lose. A page that does not answer because it is
      // still loading needs no reload.
      if (page !== 'error' && !isUntouched(page) && !(await this.#isUnloaded(tabId)))
        return !page && (await findTab())?.loading === true;
    }
    await this.#options.reloadTab(tabId);
    return true;
  }

  /**
   * recordRegistration starts checking all tabs for missing plugins, after scripts were registered in Chrome. A
   * document that started while Chrome registered scripts may lack some scripts.
   */
  recordRegistration({ fromMs, firstMs }: PendingRegistrations): void {
    this.#firstRegistrationAtMs = firstMs;
    this.#lastRegistrationAtMs = Date.now();
    const toMs = this.#lastRegistrationAtMs + ScriptDistributionMs;
    this.#unregisteredTimeSpans = [
      ...this.#unregisteredTimeSpans.filter((span) => toMs - span.toMs < PageAnswerTimeoutMs * 6),
      { fromMs, toMs },
    ];
    this.#mustCheckAllTabs = true;
    this.#scheduleCheck(0);
  }

  recordDocumentStart(tabId: number, atMs: number): void {
    this.#documentStartMs.set(tabId, atMs);
  }

  /**
   * The method `expectsReload` reports whether TabReloader is still checking a tab and will possibly reload the tab.
   */
  expectsReload(tabId: number): boolean {
    return this.#mustCheckAllTabs || this.#checkCountsByTab.has(tabId);
  }

  #scheduleCheck(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#checkTabs().catch(warnNotReloaded), ms);
  }

  async #checkTabs(): Promise<void> {
    const mustCheckAllTabs = this.#mustCheckAllTabs;
    this.#mustCheckAllTabs = false;
    try {
      const presentTabs = await this.#options.query();
      for (const id of this.#documentStartMs.keys())
        if (!presentTabs.some((tab) => tab.id === id)) this.#documentStartMs.delete(id);
      const matchingTabs = presentTabs.filter((t) => this.#listMatchingPlugins(t).length > 0);
      const matchingIds = new Set(matchingTabs.map((tab) => tab.id));
      for (const id of this.#checkCountsByTab.keys()) if (!matchingIds.has(id)) this.#stopChecking(id);
      for (const tab of matchingTabs) {
        if (!mustCheckAllTabs && !this.#checkCountsByTab.has(tab.id)) continue;
        if (!this.#checkCountsByTab.has(tab.id)) this.#checkCountsByTab.set(tab.id, 0);
        if (!this.#checkingTabIds.has(tab.id)) void this.#checkTab(tab);
      }
    } finally {
      if (this.#checkCountsByTab.size > 0) this.#scheduleCheck(CheckIntervalMs);
      this.changed.emit();
    }
  }

  async #checkTab(tab: ChromeTab): Promise<void> {
    this.#checkingTabIds.add(tab.id);
    const checkResult = await this.#repairTab(tab).catch((error: unknown): TabCheckResult => {
      warnNotReloaded(error); // the tab was closed or has started to load
      return 'again';
    });
    this.#checkingTabIds.delete(tab.id);
    const checkCount = (this.#checkCountsByTab.get(tab.id) ?? 0) + 1;
    if (checkResult === 'done' || checkCount > MaxTabChecks) this.#stopChecking(tab.id);
    else this.#checkCountsByTab.set(tab.id, checkCount);
  }

  #stopChecking(tabId: number): void {
    this.#reloadsByTab.delete(tabId);
    if (this.#checkCountsByTab.delete(tabId)) this.changed.emit();
  }

  async #repairTab(tab: ChromeTab): Promise<TabCheckResult> {
    if (tab.discarded || (await this.#isUnloaded(tab.id))) return 'done';
    const missingPlugins = this.#listMissingPlugins(tab);
    return missingPlugins.length === 0 ? this.#repairLiveTab(tab) : this.#repairMissingPlugins(tab, missingPlugins);
  }

  /**
   * If the document started while the extension was reloading, the document may still run the bridge from before the
   * reload.
   */
  async #repairLiveTab(tab: ChromeTab): Promise<TabCheckResult> {
    const documentId = this.#options.liveDocument(tab.id);
    const mayBeOrphaned = documentId !== undefined && this.#unregisteredTimeSpans.some((span) => span.fromMs === 0);
    if (mayBeOrphaned && !(await this.#options.answersPing(documentId))) {
      const page = await this.#readPageState(tab.id, PageAnswerTimeoutMs);
      if (!page) return 'again';
      if (page === 'error') return 'done';
      if (!page.hasBridge) {
        this.orphanSignal.emit(page.documentId);
        if (!isUntouched(page)) return 'done';
        return this.#reloadOnce(tab.id, () => this.#options.reloadTab(tab.id));
      }
    }
    return tab.loading ? 'again' : this.#repairFrames(tab);
  }

  /** repairMissingPlugins reloads a tab whose document started before the scripts of its plugins were registered. */
  async #repairMissingPlugins(tab: ChromeTab, missingPlugins: readonly PluginInfo[]): Promise<TabCheckResult> {
    const startMs = this.#documentStartMs.get(tab.id);
    const resultWithoutReload = tab.loading ? 'again' : 'done';
    if (startMs !== undefined && !this.#mayLackScripts(startMs)) return resultWithoutReload;
    if (this.#canStillConnect(startMs) || !missingPlugins.every((plugin) => this.#options.isRegistered(plugin)))
      return 'again';
    const page = await this.#readPageState(tab.id, PageAnswerTimeoutMs);
    if (!page) return 'again';
    if (page === 'error') return 'done';
    if (!this.#mayLackScripts(page.startedAtMs)) return resultWithoutReload;
    if (!isUntouched(page)) return 'done';
    if (page.hasBridge) {
      const isNotConnected = !this.#options.isConnected(page.documentId);
      if (isNotConnected && (this.#checkCountsByTab.get(tab.id) ?? 0) * CheckIntervalMs < PageAnswerTimeoutMs)
        return 'again';
    } else {
      // In a document that has just started, Chrome may run the inspection script earlier than the bridge.
      const rereadPageState = await this.#readPageState(tab.id, PageAnswerTimeoutMs);
      if (
        !rereadPageState ||
        rereadPageState === 'error' ||
        rereadPageState.hasBridge ||
        rereadPageState.documentId !== page.documentId
      )
        return 'again';
    }
    return this.#reloadOnce(tab.id, () => {
      this.#options.beforeReload(missingPlugins);
      return this.#options.reloadTab(tab.id);
    });
  }

  /**
   * canStillConnect reports whether a document started after the first registration of scripts, and still has time to
   * connect to the worker.
   */
  #canStillConnect(startMs: number | undefined): boolean {
    if (this.#firstRegistrationAtMs !== undefined && (startMs ?? 0) < this.#firstRegistrationAtMs) return false;
    return Date.now() < Math.max(startMs ?? 0, this.#lastRegistrationAtMs) + PluginReportDelayMs;
  }

  /**
   * reloadOnce reloads a tab or frame, unless the tab reloaded within the last ReloadTimeoutMs or has reached
   * MaxTabReloads.
   */
  async #reloadOnce(tabId: number, reloadTab: () => Promise<void>): Promise<TabCheckResult> {
    const { count, atMs } = this.#reloadsByTab.get(tabId) ?? { count: 0, atMs: 0 };
    if (count > 0 && Date.now() - atMs < ReloadTimeoutMs) return 'again';
    if (count >= MaxTabReloads) return 'done';
    await reloadTab();
    this.#reloadsByTab.set(tabId, { count: count + 1, atMs: Date.now() });
    return 'again';
  }

  async #repairFrames(tab: ChromeTab): Promise<TabCheckResult> {
    const { plugins, canRun, isLive } = this.#options;
    const framePlugins = plugins().filter((p) => p.frames === true && canRun(p));
    const lacksPlugin = ({ url, documentId }: TabFrame) =>
      framePlugins.some(
        (p) => matchesAnyPattern(url, p.matches ?? [], p.excludes ?? []) && !isLive(tab.id, p, documentId),
      );
    const { origin } = new URL(tab.url);
    const listedFrames = framePlugins.length === 0 ? [] : await this.#options.listFrames(tab.id);
    if (!listedFrames.some((frame) => lacksPlugin(frame) && new URL(frame.url).origin === origin)) return 'done';
    for (const frame of await this.#options.readFrames(tab.id)) {
      if (!lacksPlugin(frame) || frame.hasUserInteracted || !this.#mayLackScripts(frame.startedAtMs)) continue;
      if (this.#canStillConnect(frame.startedAtMs)) return 'again';
      return this.#reloadOnce(tab.id, () => this.#options.reloadFrame(tab.id, frame.documentId));
    }
    return 'done';
  }

  #mayLackScripts(startedMs: number): boolean {
    return this.#unregisteredTimeSpans.some((span) => startedMs >= span.fromMs && startedMs <= span.toMs);
  }

  #listMatchingPlugins(tab: ChromeTab): readonly PluginInfo[] {
    const { plugins, canRun } = this.#options;
    return plugins().filter((p) => canRun(p) && matchesAnyPattern(tab.url, p.matches ?? [], p.excludes ?? []));
  }

  #listMissingPlugins(tab: ChromeTab): readonly PluginInfo[] {
    return this.#listMatchingPlugins(tab).filter((p) => !this.#options.isLive(tab.id, p));
  }

  #readPageState(tabId: number, limitMs: number): Promise<PageState | 'error' | undefined> {
    const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, limitMs));
    return Promise.race([this.#options.readPage(tabId), timeout]);
  }

  /** Chrome may report the crash of a page late, so the caller repeats the check if a page does not answer. */
  async #isUnloaded(tabId: number): Promise<boolean> {
    const state = await this.#options.tabState(tabId);
    if (state === 'crashed') this.crashSignal.emit(tabId);
    return state === 'crashed' || state === 'discarded';
  }
}

function isUntouched(page: PageState | undefined): boolean {
  return page !== undefined && !page.hasUserInteracted && !page.audible;
}

function warnNotReloaded(error: unknown): void {
  console.warn(`opentabs: a tab can't be reloaded: ${String(error)}`);
}
