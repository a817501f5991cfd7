import type { PluginFetchResult, PluginInfo } from '../../../wire/wire.gen.ts';
import type { FromBridge } from '../port-message.ts';
import type { Doc, Docs } from './docs.ts';
import { BASE, type EntryPoints, enter, startApart } from './entry-points.ts';
import { matchesAny } from './match.ts';
import type { Syntax } from './syntax.ts';

/** ArmMs is how long a document may take until it waits for an adapter, in milliseconds. */
const ArmMs = 10_000;
/** RunMs is how long Chrome may take to run an adapter's code in a document, in milliseconds: a busy page runs it later. */
const RunMs = 20_000;
/** RetryMs is the time to the second try, in milliseconds; each further one takes twice as long. MaxTries is how many there are. */
const RetryMs = 200;
const MaxTries = 6;
/**
 * StartMs is how long an adapter that was brought may take to become live, in milliseconds. Then it is brought again, at most
 * MaxStarts times in all, and its tab counts as one without it.
 */
const StartMs = 5000;
const MaxStarts = 3;

/**
 * ComeMs is how long a host that has started may take to become live until its document counts as one without the plugin, in
 * milliseconds: the server waits as long.
 */
const ComeMs = 15_000;

type Armed = Extract<FromBridge, { op: 'armed' }>;

export interface DeliveryOptions {
  readonly docs: Docs;
  readonly entryPoints: EntryPoints;
  /** plugins returns those that can be brought into documents now. */
  plugins(): readonly PluginInfo[];
  /** comesLate reports whether a plugin may be brought into a document that has no host for it. */
  comesLate(plugin: PluginInfo): boolean;
  /** code returns that of a plugin, host that of the host. */
  code(plugin: PluginInfo): Promise<PluginFetchResult>;
  host(): Promise<string>;
  readonly syntax: Syntax;
  /** run runs code in a document, in the world of a plugin, and returns its value. */
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** nonce returns a text that nobody can guess. */
  nonce(): string;
  /** changed is called when expects or problem has changed. */
  changed(): void;
  /** used is called for a plugin that was brought into a document. */
  used(plugin: string): void;
}

/** Delivery brings the adapters of plugins into the documents that match them and have none. */
export interface Delivery {
  /** named takes a document that has named its plugins. */
  named(doc: Doc): void;
  /** moved takes the address that a tab shows: a page goes to another one without a new document. */
  moved(tabId: number, url: string): void;
  /** synced looks at all documents once more: other plugins are wanted, or the server is back. */
  synced(): void;
  /** armed takes the word of a document that it waits for an adapter. */
  armed(doc: Doc, message: Armed): void;
  /** expects reports whether the adapter of a plugin is on its way into a document. */
  expects(documentId: string, plugin: string): boolean;
  /** problem says why a plugin could not be brought into a document; nothing if nothing went wrong. */
  problem(documentId: string, plugin: string): string | undefined;
  /** isBroken reports whether the problem is in the plugin's code: then a reload does not help. */
  isBroken(documentId: string, plugin: string): boolean;
}

/** makeDelivery returns a Delivery. */
export function makeDelivery(options: DeliveryOptions): Delivery {
  return new EntryPointDelivery(options);
}

/** Way is one adapter on its way into one document. */
interface Way {
  readonly doc: Doc;
  readonly plugin: PluginInfo;
  /** url is the address for which it matched. */
  readonly url: string;
  tries: number;
  /** starts is how often its code was run. */
  starts: number;
  problem?: string;
  /** isBroken is set if the problem is in the plugin's code: it is not brought again. */
  isBroken?: true;
  timer?: ReturnType<typeof setTimeout>;
  /** armed is called once with the document's word. */
  armed?: { readonly nonce: string; readonly take: (message: Armed) => void };
}

class EntryPointDelivery implements Delivery {
  readonly #options: DeliveryOptions;
  /** #ways are those of each document, by the plugin. */
  readonly #ways = new Map<string, Map<string, Way>>();
  /** #coming are the hosts that are not live yet, by document and plugin. */
  readonly #coming = new Map<string, { isOverdue: boolean }>();
  /** #examined are the scripts that examine has looked at, by document. */
  readonly #examined = new Map<string, Set<string>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  named(doc: Doc): void {
    this.#look(doc, doc.url);
  }

  moved(tabId: number, url: string): void {
    const live = this.#options.docs.live(tabId);
    if (live) this.#look(live.doc, url);
  }

  synced(): void {
    const wanted = this.#options.plugins();
    for (const [id, ways] of this.#ways) {
      const isThere = this.#options.docs.get(id) !== undefined;
      for (const way of [...ways.values()]) {
        const isWanted = wanted.some(
          (plugin) => plugin.name === way.plugin.name && plugin.script === way.plugin.script,
        );
        const isRetried = way.problem !== undefined && !way.isBroken;
        if (!isThere || !isWanted || isRetried) this.#end(way);
      }
    }
    for (const id of this.#examined.keys()) if (!this.#options.docs.get(id)) this.#examined.delete(id);
    for (const key of this.#coming.keys()) {
      if (!this.#options.docs.get(key.slice(0, key.indexOf(' ')))) this.#coming.delete(key);
    }
    for (const { doc } of this.#options.docs.all()) this.#look(doc, doc.url);
  }

  armed(doc: Doc, message: Armed): void {
    const way = this.#ways.get(doc.documentId)?.get(message.plugin);
    if (way?.armed?.nonce === message.nonce) way.armed.take(message);
  }

  expects(documentId: string, plugin: string): boolean {
    const way = this.#ways.get(documentId)?.get(plugin);
    if (way) return way.problem === undefined;
    const key = `${documentId} ${plugin}`;
    if (!this.#options.docs.started(documentId).some((s) => s.name === plugin)) {
      this.#coming.delete(key);
      return false;
    }
    const coming = this.#coming.get(key) ?? this.#await(key);
    return !coming.isOverdue;
  }

  /** await gives a host that has started ComeMs to become live. */
  #await(key: string): { isOverdue: boolean } {
    const coming = { isOverdue: false };
    this.#coming.set(key, coming);
    setTimeout(() => {
      if (this.#coming.get(key) !== coming) return;
      coming.isOverdue = true;
      this.#options.changed();
    }, ComeMs);
    return coming;
  }

  problem(documentId: string, plugin: string): string | undefined {
    return this.#ways.get(documentId)?.get(plugin)?.problem;
  }

  isBroken(documentId: string, plugin: string): boolean {
    return this.#ways.get(documentId)?.get(plugin)?.isBroken === true;
  }

  /** look sends what a document lacks. */
  #look(doc: Doc, url: string): void {
    for (const plugin of this.#options.plugins()) {
      const ways = this.#ways.get(doc.documentId);
      const way = ways?.get(plugin.name);
      if (way && this.#isLive(doc, plugin)) this.#end(way);
      if (way?.plugin.script === plugin.script || !this.#lacks(doc, url, plugin)) continue;
      if (way) this.#end(way);
      const fresh: Way = { doc, plugin, url, tries: 0, starts: 0 };
      if (this.#comes(doc, plugin)) {
        this.#begin(fresh);
        void this.#bring(fresh);
      } else if (this.#shouldHaveStarted(doc, plugin)) void this.#examine(fresh);
    }
  }

  #begin(way: Way): void {
    const { documentId } = way.doc;
    this.#ways.set(documentId, (this.#ways.get(documentId) ?? new Map()).set(way.plugin.name, way));
    this.#options.changed();
  }

  /** examine finds out whether a plugin that can't be brought is missing because Chrome can't parse its code. */
  async #examine(way: Way): Promise<void> {
    const { doc, plugin } = way;
    const examined = this.#examined.get(doc.documentId) ?? new Set();
    if (examined.has(plugin.script)) return;
    this.#examined.set(doc.documentId, examined.add(plugin.script));
    const problem = await this.#unparsable(way, () => this.#options.code(plugin)).catch(() => undefined);
    const isWanted = this.#options.plugins().some((p) => p.name === plugin.name && p.script === plugin.script);
    if (problem === undefined || !isWanted || !this.#lacks(doc, way.url, plugin)) return;
    this.#begin(way);
    this.#broken(way, problem);
  }

  /** unparsable returns why Chrome can't parse the code of a plugin; nothing if it can. */
  async #unparsable({ doc, plugin }: Way, code: () => Promise<PluginFetchResult>): Promise<string | undefined> {
    const { syntax, docs } = this.#options;
    return syntax.known(plugin) ?? (await syntax.problem(docs.get(doc.documentId) ?? doc, plugin, await code()));
  }

  #broken(way: Way, problem: string): void {
    way.isBroken = true;
    this.#giveUp(way, problem);
  }

  #giveUp(way: Way, problem: string): void {
    way.problem = problem;
    console.warn(`opentabs: tab ${way.doc.tabId} does not get the plugin ${way.plugin.name}: ${problem}`);
    this.#options.changed();
  }

  #end(way: Way): void {
    clearTimeout(way.timer);
    const ways = this.#ways.get(way.doc.documentId);
    if (ways?.get(way.plugin.name) !== way) return;
    ways.delete(way.plugin.name);
    if (ways.size === 0) this.#ways.delete(way.doc.documentId);
    this.#options.changed();
  }

  #isLive(doc: Doc, { name }: PluginInfo): boolean {
    return this.#options.docs.told(doc.documentId)?.plugins.some((p) => p.name === name) === true;
  }

  /** lacks reports whether a plugin should be in a document and is not. */
  #lacks(doc: Doc, url: string, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    if (!docs.told(doc.documentId) || this.#isLive(doc, plugin)) return false;
    if (doc.frameId !== 0 && plugin.frames !== true) return false;
    if (!matchesAny(url, plugin.matches ?? [], plugin.excludes ?? [])) return false;
    // Where it was removed and came back, it is brought like a new build (hotReload.ts).
    return !docs.vacant(doc.documentId).some((p) => p.name === plugin.name);
  }

  /** comes reports whether a plugin that a document lacks can be brought there. */
  #comes(doc: Doc, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    const started = docs.started(doc.documentId).find((s) => s.name === plugin.name);
    if (started) return started.empty;
    if (!this.#options.comesLate(plugin)) return false;
    return plugin.world === 'isolated' || docs.based(doc.documentId);
  }

  /** shouldHaveStarted reports whether a plugin that a document lacks comes at the document's start only. */
  #shouldHaveStarted(doc: Doc, plugin: PluginInfo): boolean {
    const { docs, comesLate } = this.#options;
    return !comesLate(plugin) && !docs.started(doc.documentId).some((s) => s.name === plugin.name);
  }

  async #bring(way: Way): Promise<void> {
    const { plugin, doc } = way;
    try {
      const known = this.#options.syntax.known(plugin);
      if (known !== undefined) {
        this.#broken(way, known);
        return;
      }
      const code = await this.#options.code(plugin);
      if (!this.#goesOn(way)) return;
      const nonce = this.#options.nonce();
      const armed = await this.#arm(way, nonce, code.options ?? '');
      const text = armed.late
        ? lateStart(await this.#options.host(), await this.#options.entryPoints.nameOf(plugin.name), nonce, code)
        : enter(
            await this.#options.entryPoints.nameOf(armed.based ? BASE : plugin.name),
            nonce,
            plugin.hash,
            code.code,
          );
      if (!this.#goesOn(way)) return;
      const taken = await within(RunMs, this.#options.run(doc, plugin, text), 'the page did not run its code');
      if (taken !== true) {
        const problem = await this.#unparsable(way, async () => code);
        if (problem === undefined)
          throw new Error(armed.late ? 'its host did not start' : 'its entry point rejected the adapter');
        if (this.#goesOn(way)) this.#broken(way, problem);
        return;
      }
      this.#options.used(plugin.name);
      way.starts++;
      way.timer = setTimeout(() => this.#late(way), StartMs);
    } catch (error) {
      this.#failed(way, error);
    }
  }

  /** late brings an adapter again that is not live: where it waits for the page's content, it starts once all the same. */
  #late(way: Way): void {
    if (!this.#goesOn(way)) return;
    if (way.starts >= MaxStarts) this.#end(way);
    else void this.#bring(way);
  }

  /** goesOn reports whether a way is still wanted; one whose document has gone ends. */
  #goesOn(way: Way): boolean {
    const { documentId } = way.doc;
    if (this.#ways.get(documentId)?.get(way.plugin.name) !== way) return false;
    if (this.#options.docs.get(documentId)?.tabId === way.doc.tabId) return true;
    this.#end(way);
    return false;
  }

  #failed(way: Way, error: unknown): void {
    if (!this.#goesOn(way)) return;
    way.tries++;
    if (way.tries < MaxTries) {
      way.timer = setTimeout(
        () => {
          if (this.#goesOn(way)) void this.#bring(way);
        },
        RetryMs * 2 ** way.tries,
      );
      return;
    }
    this.#giveUp(way, error instanceof Error ? error.message : String(error));
  }

  /** arm has the document wait for the adapter; the port that it connected with last is used. */
  #arm(way: Way, nonce: string, options: string): Promise<Armed> {
    const { plugin, doc } = way;
    const to = this.#options.docs.get(doc.documentId) ?? doc;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the page did not answer')), ArmMs);
      way.armed = {
        nonce,
        take: (message) => {
          clearTimeout(late);
          delete way.armed;
          resolve(message);
        },
      };
      const { name, hash } = plugin;
      if (plugin.world === 'isolated') to.post({ op: 'meet', plugin: name, hash, nonce });
      else to.post({ op: 'host', plugin: name, hash, nonce, options });
    });
  }
}

/** within returns what work returns, or rejects with a reason after some milliseconds. */
function within<T>(ms: number, work: Promise<T>, why: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(why)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/** lateStart returns a script that starts a host with its adapter in a world that the page has no part in. */
function lateStart(
  host: string,
  entryPoint: string,
  meet: string,
  { code, options = '{}' }: PluginFetchResult,
): string {
  const given = `${options.slice(0, -1)},"meet":${JSON.stringify(meet)}}`;
  return startApart(entryPoint, `${host}(true)(${JSON.stringify(given)}, ${code}\n)`);
}
