import type { PluginInfo } from '../../../wire/wire.gen.ts';
import type { Frame, FramePage, Page, Tab, TabState } from '../chrome.ts';
import { matchesAny } from './match.ts';
import type { Registrations } from './registering.ts';

/**
 * SettleMs is how long a document that may have its scripts is given to name its plugins, in milliseconds, until it is
 * inspected by a script.
 */
const SettleMs = 200;
/** AgainMs is the time until a tab that could not be judged is looked at once more, in milliseconds; MaxLooks is how often. */
const AgainMs = 300;
const MaxLooks = 200;
/** AfterMs is how long after a registration a document may still begin without its scripts: Chrome hands them to its processes. */
const AfterMs = 1000;
/** MaxReloads is how often a tab is reloaded before its plugins are live in it. */
const MaxReloads = 2;
/** ReloadMs is how long a tab may take to show the next document, in milliseconds. */
const ReloadMs = 3000;
/** AskMs is how long a page may take to answer while a call waits, LateMs while none does, in milliseconds. */
const AskMs = 1000;
const LateMs = 10_000;

export interface ReloadOptions {
  query(): Promise<readonly Tab[]>;
  tabState(tabId: number): Promise<TabState>;
  /** readPage returns 'error' for Chrome's page for a load that failed. */
  readPage(tabId: number): Promise<Page | 'error' | undefined>;
  /** listFrames returns the frames of a tab without running a script in them. */
  listFrames(tabId: number): Promise<readonly Frame[]>;
  /** readFrames returns the frames of a tab that have the origin of its top document, by a script in each. */
  readFrames(tabId: number): Promise<readonly FramePage[]>;
  reloadTab(tabId: number): Promise<void>;
  /** reloadFrame reloads one frame. */
  reloadFrame(tabId: number, documentId: string): Promise<void>;
  plugins(): readonly PluginInfo[];
  /** isLive reports whether a plugin is live, has failed to start, or is on its way in a tab's document, or in a frame. */
  isLive(tabId: number, plugin: PluginInfo, frame?: string): boolean;
  /** liveDocument returns the top document of a tab if it has named its plugins. */
  liveDocument(tabId: number): string | undefined;
  /** answers pings a connected document over its port and reports whether it answers soon. */
  answers(documentId: string): Promise<boolean>;
  /** isConnected reports whether a document has named its plugins. */
  isConnected(documentId: string): boolean;
  /** canRun reports whether a plugin can get into pages at all. */
  canRun(plugin: PluginInfo): boolean;
  /** isRegistered reports whether a document that begins now can get a plugin. */
  isRegistered(plugin: PluginInfo): boolean;
  /** reloading is called with the plugins for which a tab is about to be reloaded. */
  reloading(plugins: readonly PluginInfo[]): void;
  /** orphaned is called for a document that seems live and whose bridge belongs to an extension that was reloaded: nobody answers there. */
  orphaned(documentId: string): void;
  /** changed is called when expects has changed. */
  changed(): void;
}

/** Reload reloads tabs in which a plugin is missing, where the user can lose nothing by that. */
export interface Reload {
  /**
   * load reloads one tab for a call, unless it is being loaded or has just been; false means that it could cost the user
   * something, or would not help.
   */
  load(tabId: number): Promise<boolean>;
  /**
   * registered notes that scripts were registered until now: a document that began meanwhile may have only some of what belongs
   * together. Each such document is followed until its plugins are live or it can't be helped. Those that have named their
   * plugins are asked over their ports; a script is run in the others only.
   */
  registered(registrations: Registrations): void;
  /** began notes when the document that a tab shows has begun, in milliseconds since 1970. */
  began(tabId: number, atMs: number): void;
  /** expects reports whether a tab is still to be looked at, and may be reloaded. */
  expects(tabId: number): boolean;
}

/** Verdict is what is known of a tab: it has its plugins or can't be helped, or is to be looked at again. */
type Verdict = 'done' | 'again';

/** makeReload returns a Reload. */
export function makeReload(options: ReloadOptions): Reload {
  return new TabReload(options);
}

class TabReload implements Reload {
  readonly #options: ReloadOptions;
  /** #spans are the times in which documents may have begun without their scripts. */
  #spans: { readonly fromMs: number; readonly toMs: number }[] = [];
  /** #looks is how often each tab was looked at that has no verdict yet; #reloads how often it was reloaded meanwhile. */
  readonly #looks = new Map<number, number>();
  readonly #reloads = new Map<number, { count: number; atMs: number }>();
  /** #began is when the document of each tab began, unless that was before this worker. */
  readonly #began = new Map<number, number>();
  /** #firstMs is when the first of the last registrations was made, #lastMs when all were. */
  #firstMs: number | undefined;
  #lastMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** #judging are the tabs whose page has been asked and has not answered: a busy one delays no other. */
  readonly #judging = new Set<number>();
  #all = false;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  async load(tabId: number): Promise<boolean> {
    const find = async () => (await this.#options.query()).find((t) => t.id === tabId);
    const tab = await find();
    if (!tab || this.#possible(tab).length === 0) return false;
    // It was reloaded meanwhile, and the server is about to hear of it.
    if (this.#missing(tab).length === 0) return true;
    if (!(await this.#isUnloaded(tabId))) {
      const page = await this.#ask(tabId, AskMs);
      // An error page has nothing to lose. A page that can't be asked because it is being loaded is on its way already.
      if (page !== 'error' && !isUntouched(page) && !(await this.#isUnloaded(tabId)))
        return !page && (await find())?.loading === true;
    }
    await this.#options.reloadTab(tabId);
    return true;
  }

  registered({ fromMs, firstMs }: Registrations): void {
    this.#firstMs = firstMs;
    this.#lastMs = Date.now();
    const toMs = this.#lastMs + AfterMs;
    this.#spans = [...this.#spans.filter((span) => toMs - span.toMs < LateMs * 6), { fromMs, toMs }];
    this.#all = true;
    this.#schedule(0);
  }

  began(tabId: number, atMs: number): void {
    this.#began.set(tabId, atMs);
  }

  expects(tabId: number): boolean {
    return this.#all || this.#looks.has(tabId);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look().catch(warn), ms);
  }

  async #look(): Promise<void> {
    const all = this.#all;
    this.#all = false;
    try {
      const present = await this.#options.query();
      for (const id of this.#began.keys()) if (!present.some((tab) => tab.id === id)) this.#began.delete(id);
      const tabs = present.filter((t) => this.#possible(t).length > 0);
      const open = new Set(tabs.map((tab) => tab.id));
      for (const id of this.#looks.keys()) if (!open.has(id)) this.#done(id);
      for (const tab of tabs) {
        if (!all && !this.#looks.has(tab.id)) continue;
        if (!this.#looks.has(tab.id)) this.#looks.set(tab.id, 0);
        if (!this.#judging.has(tab.id)) void this.#judge(tab);
      }
    } finally {
      if (this.#looks.size > 0) this.#schedule(AgainMs);
      this.#options.changed();
    }
  }

  async #judge(tab: Tab): Promise<void> {
    this.#judging.add(tab.id);
    const verdict = await this.#mend(tab).catch((error: unknown): Verdict => {
      warn(error); // it may have been closed or have begun to load just now
      return 'again';
    });
    this.#judging.delete(tab.id);
    const looks = (this.#looks.get(tab.id) ?? 0) + 1;
    if (verdict === 'done' || looks > MaxLooks) this.#done(tab.id);
    else this.#looks.set(tab.id, looks);
  }

  #done(tabId: number): void {
    this.#reloads.delete(tabId);
    if (this.#looks.delete(tabId)) this.#options.changed();
  }

  async #mend(tab: Tab): Promise<Verdict> {
    if (tab.discarded || (await this.#isUnloaded(tab.id))) return 'done';
    const missing = this.#missing(tab);
    return missing.length === 0 ? this.#mendLive(tab) : this.#mendWithout(tab, missing);
  }

  /**
   * mendLive drops a document that seems live and does not answer: one that began while the extension was reloaded may have
   * the old one's bridge, on a port to this worker.
   */
  async #mendLive(tab: Tab): Promise<Verdict> {
    const documentId = this.#options.liveDocument(tab.id);
    const mayBeOrphaned = documentId !== undefined && this.#spans.some((span) => span.fromMs === 0);
    if (mayBeOrphaned && !(await this.#options.answers(documentId))) {
      const page = await this.#ask(tab.id, LateMs);
      if (!page) return 'again';
      if (page === 'error') return 'done';
      if (!page.bridged) {
        this.#options.orphaned(page.documentId);
        if (!isUntouched(page)) return 'done';
        return this.#reloadOnce(tab.id, () => this.#options.reloadTab(tab.id));
      }
    }
    return tab.loading ? 'again' : this.#mendFrames(tab);
  }

  /** mendWithout reloads a tab whose document began without the scripts of these plugins. */
  async #mendWithout(tab: Tab, missing: readonly PluginInfo[]): Promise<Verdict> {
    const beganMs = this.#began.get(tab.id);
    const unconcerned = tab.loading ? 'again' : 'done';
    if (beganMs !== undefined && !this.#between(beganMs)) return unconcerned;
    if (this.#mayConnect(beganMs) || !missing.every((plugin) => this.#options.isRegistered(plugin))) return 'again';
    const page = await this.#ask(tab.id, LateMs);
    if (!page) return 'again';
    if (page === 'error') return 'done';
    if (!this.#between(page.startedMs)) return unconcerned;
    if (!isUntouched(page)) return 'done';
    if (page.bridged) {
      const waits = !this.#options.isConnected(page.documentId);
      if (waits && (this.#looks.get(tab.id) ?? 0) * AgainMs < LateMs) return 'again';
    } else {
      // In a document that is just beginning Chrome runs the first script ahead of the bridge.
      const later = await this.#ask(tab.id, LateMs);
      if (!later || later === 'error' || later.bridged || later.documentId !== page.documentId) return 'again';
    }
    return this.#reloadOnce(tab.id, () => {
      this.#options.reloading(missing);
      return this.#options.reloadTab(tab.id);
    });
  }

  /** mayConnect reports whether a document may have its scripts and be about to connect. */
  #mayConnect(beganMs: number | undefined): boolean {
    if (this.#firstMs !== undefined && (beganMs ?? 0) < this.#firstMs) return false;
    return Date.now() < Math.max(beganMs ?? 0, this.#lastMs) + SettleMs;
  }

  /** reloadOnce reloads a tab or a frame of it, unless that was done just now or too often. */
  async #reloadOnce(tabId: number, reload: () => Promise<void>): Promise<Verdict> {
    const { count, atMs } = this.#reloads.get(tabId) ?? { count: 0, atMs: 0 };
    if (count > 0 && Date.now() - atMs < ReloadMs) return 'again';
    if (count >= MaxReloads) return 'done';
    await reload();
    this.#reloads.set(tabId, { count: count + 1, atMs: Date.now() });
    return 'again';
  }

  /** mendFrames reloads frames that lack a plugin which wants frames. */
  async #mendFrames(tab: Tab): Promise<Verdict> {
    const { plugins, canRun, isLive } = this.#options;
    const framed = plugins().filter((p) => p.frames === true && canRun(p));
    const lacks = ({ url, documentId }: Frame) =>
      framed.some((p) => matchesAny(url, p.matches ?? [], p.excludes ?? []) && !isLive(tab.id, p, documentId));
    const { origin } = new URL(tab.url);
    const listed = framed.length === 0 ? [] : await this.#options.listFrames(tab.id);
    if (!listed.some((frame) => lacks(frame) && new URL(frame.url).origin === origin)) return 'done';
    for (const frame of await this.#options.readFrames(tab.id)) {
      if (!lacks(frame) || frame.touched || !this.#between(frame.startedMs)) continue;
      if (this.#mayConnect(frame.startedMs)) return 'again';
      return this.#reloadOnce(tab.id, () => this.#options.reloadFrame(tab.id, frame.documentId));
    }
    return 'done';
  }

  #between(startedMs: number): boolean {
    return this.#spans.some((span) => startedMs >= span.fromMs && startedMs <= span.toMs);
  }

  /** possible returns the plugins that could run in the tab. */
  #possible(tab: Tab): readonly PluginInfo[] {
    const { plugins, canRun } = this.#options;
    return plugins().filter((p) => canRun(p) && matchesAny(tab.url, p.matches ?? [], p.excludes ?? []));
  }

  /** missing returns those of them that aren't live there. */
  #missing(tab: Tab): readonly PluginInfo[] {
    return this.#possible(tab).filter((p) => !this.#options.isLive(tab.id, p));
  }

  #ask(tabId: number, limitMs: number): Promise<Page | 'error' | undefined> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, limitMs));
    return Promise.race([this.#options.readPage(tabId), late]);
  }

  /** isUnloaded is asked again when a page did not answer: Chrome takes a moment to see that one has crashed. */
  async #isUnloaded(tabId: number): Promise<boolean> {
    const state = await this.#options.tabState(tabId);
    return state === 'crashed' || state === 'discarded';
  }
}

function isUntouched(page: Page | undefined): boolean {
  return page !== undefined && !page.touched && !page.audible;
}

function warn(error: unknown): void {
  console.warn(`opentabs: a tab can't be reloaded: ${String(error)}`);
}
