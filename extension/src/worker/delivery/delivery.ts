import type { PluginFetchResult, PluginInfo } from '../../../../wire/wire.gen.ts';
import type { FromBridge } from '../../port-message.ts';
import type { Doc, Docs } from '../documents/docs.ts';
import { matchesAny } from '../plugins/match.ts';
import { Signal } from '../signal.ts';
import { adapterScript, BASE, type EntryPoints, lateStartScript } from './entry-points.ts';
import type { Syntax } from './syntax.ts';

/** ArmMs is how long a document may take to prepare for an adapter, in milliseconds. */
const ArmMs = 10_000;
/**
 * RunMs is how long Chrome may take to run an adapter's code in a document, in milliseconds. A busy page runs the code
 * late.
 */
const RunMs = 20_000;
/**
 * RetryMs is half the delay before the first retry, in milliseconds. The delay doubles after each of at most MaxTries
 * attempts.
 */
const RetryMs = 200;
const MaxTries = 6;
/**
 * StartMs is how long an injected adapter may take to become live, in milliseconds. An adapter is injected at most
 * MaxStarts times. After MaxStarts injections, the tab counts as a tab without the plugin.
 */
const StartMs = 5000;
const MaxStarts = 3;

/**
 * ComeMs is how long a started host may take to become live, in milliseconds. After ComeMs, the document counts as a
 * document without the plugin. The server waits for the same time.
 */
const ComeMs = 15_000;

type Armed = Extract<FromBridge, { op: 'armed' }>;

export interface DeliveryOptions {
  readonly docs: Docs;
  readonly entryPoints: EntryPoints;
  /** plugins returns the plugins that can be injected into documents now. */
  plugins(): readonly PluginInfo[];
  /** canStartLate reports whether a plugin may be injected into a document that has no host for the plugin. */
  canStartLate(plugin: PluginInfo): boolean;
  /** code returns the code of a plugin, and host returns the code of the host. */
  code(plugin: PluginInfo): Promise<PluginFetchResult>;
  host(): Promise<string>;
  readonly syntax: Syntax;
  /** run runs code in a document, in the world of a plugin, and returns the value of the code. */
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** nonce returns an unguessable text. */
  nonce(): string;
  /** used is called for each plugin that was injected into a document. */
  used(plugin: string): void;
}

/** Injection is the delivery of one adapter to one document. */
interface Injection {
  readonly doc: Doc;
  readonly plugin: PluginInfo;
  /** url is the URL that the plugin matched. */
  readonly url: string;
  tries: number;
  /** starts is how often the code of the adapter was run. */
  starts: number;
  problem?: string;
  /** isBroken is set if the problem is in the plugin's code. Broken code is not injected again. */
  isBroken?: true;
  timer?: ReturnType<typeof setTimeout>;
  /** armed is called once, when the document is ready. */
  armed?: { readonly nonce: string; readonly accept: (message: Armed) => void };
}

/** Delivery injects the adapters of plugins into matching documents that do not have these adapters. */
export class Delivery {
  /** changed is fired when the result of expects or problem has changed. */
  readonly changed = new Signal();
  readonly #options: DeliveryOptions;
  /** #injections maps each document and plugin to an injection. */
  readonly #injections = new Map<string, Map<string, Injection>>();
  /** #coming maps each document and plugin to a started host that is not live yet. */
  readonly #coming = new Map<string, { isOverdue: boolean }>();
  /** #examined maps each document to the scripts whose syntax was checked. */
  readonly #examined = new Map<string, Set<string>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** documentReported handles a document that has reported its plugins. */
  documentReported(doc: Doc): void {
    this.#injectMissing(doc, doc.url);
  }

  /** urlChanged handles the URL of a tab, which can change without a new document. */
  urlChanged(tabId: number, url: string): void {
    const live = this.#options.docs.live(tabId);
    if (live) this.#injectMissing(live.doc, url);
  }

  /** synced rechecks all documents, because the wanted plugins changed or the server is back. */
  synced(): void {
    const wanted = this.#options.plugins();
    for (const [id, injections] of this.#injections) {
      const isThere = this.#options.docs.get(id) !== undefined;
      for (const injection of [...injections.values()]) {
        const isWanted = wanted.some(
          (plugin) => plugin.name === injection.plugin.name && plugin.script === injection.plugin.script,
        );
        const isRetried = injection.problem !== undefined && !injection.isBroken;
        if (!isThere || !isWanted || isRetried) this.#end(injection);
      }
    }
    for (const id of this.#examined.keys()) if (!this.#options.docs.get(id)) this.#examined.delete(id);
    for (const key of this.#coming.keys()) {
      if (!this.#options.docs.get(key.slice(0, key.indexOf(' ')))) this.#coming.delete(key);
    }
    for (const { doc } of this.#options.docs.all()) this.#injectMissing(doc, doc.url);
  }

  /** armed handles the message of a document that is ready for an adapter. */
  armed(doc: Doc, message: Armed): void {
    const injection = this.#injections.get(doc.documentId)?.get(message.plugin);
    if (injection?.armed?.nonce === message.nonce) injection.armed.accept(message);
  }

  /** expects reports whether a plugin is being injected into a document. */
  expects(documentId: string, plugin: string): boolean {
    const injection = this.#injections.get(documentId)?.get(plugin);
    if (injection) return injection.problem === undefined;
    const key = `${documentId} ${plugin}`;
    if (!this.#options.docs.started(documentId).some((s) => s.name === plugin)) {
      this.#coming.delete(key);
      return false;
    }
    const coming = this.#coming.get(key) ?? this.#startTimer(key);
    return !coming.isOverdue;
  }

  /** startTimer starts the timer after which a started host that is not live counts as failed. */
  #startTimer(key: string): { isOverdue: boolean } {
    const coming = { isOverdue: false };
    this.#coming.set(key, coming);
    setTimeout(() => {
      if (this.#coming.get(key) !== coming) return;
      coming.isOverdue = true;
      this.changed.emit();
    }, ComeMs);
    return coming;
  }

  /** problem returns why a plugin could not be injected into a document, or undefined. */
  problem(documentId: string, plugin: string): string | undefined {
    return this.#injections.get(documentId)?.get(plugin)?.problem;
  }

  /** isBroken reports whether the problem is in the plugin's code, so that a reload does not help. */
  isBroken(documentId: string, plugin: string): boolean {
    return this.#injections.get(documentId)?.get(plugin)?.isBroken === true;
  }

  /** injectMissing injects the plugins that a document lacks. */
  #injectMissing(doc: Doc, url: string): void {
    for (const plugin of this.#options.plugins()) {
      const injections = this.#injections.get(doc.documentId);
      const injection = injections?.get(plugin.name);
      if (injection && this.#isLive(doc, plugin)) this.#end(injection);
      if (injection?.plugin.script === plugin.script || !this.#isMissing(doc, url, plugin)) continue;
      if (injection) this.#end(injection);
      const fresh: Injection = { doc, plugin, url, tries: 0, starts: 0 };
      if (this.#canInject(doc, plugin)) {
        this.#begin(fresh);
        void this.#inject(fresh);
      } else if (this.#shouldHaveStarted(doc, plugin)) void this.#checkSyntax(fresh);
    }
  }

  #begin(injection: Injection): void {
    const { documentId } = injection.doc;
    this.#injections.set(
      documentId,
      (this.#injections.get(documentId) ?? new Map()).set(injection.plugin.name, injection),
    );
    this.changed.emit();
  }

  /** checkSyntax checks whether a plugin that cannot be injected is missing because Chrome cannot parse its code. */
  async #checkSyntax(injection: Injection): Promise<void> {
    const { doc, plugin } = injection;
    const examined = this.#examined.get(doc.documentId) ?? new Set();
    if (examined.has(plugin.script)) return;
    this.#examined.set(doc.documentId, examined.add(plugin.script));
    const problem = await this.#findSyntaxError(injection, () => this.#options.code(plugin)).catch(() => undefined);
    const isWanted = this.#options.plugins().some((p) => p.name === plugin.name && p.script === plugin.script);
    if (problem === undefined || !isWanted || !this.#isMissing(doc, injection.url, plugin)) return;
    this.#begin(injection);
    this.#broken(injection, problem);
  }

  /** findSyntaxError returns why Chrome cannot parse the code of a plugin, or undefined. */
  async #findSyntaxError(
    { doc, plugin }: Injection,
    code: () => Promise<PluginFetchResult>,
  ): Promise<string | undefined> {
    const { syntax, docs } = this.#options;
    return syntax.known(plugin) ?? (await syntax.problem(docs.get(doc.documentId) ?? doc, plugin, await code()));
  }

  #broken(injection: Injection, problem: string): void {
    injection.isBroken = true;
    this.#giveUp(injection, problem);
  }

  #giveUp(injection: Injection, problem: string): void {
    injection.problem = problem;
    console.warn(`opentabs: tab ${injection.doc.tabId} does not get the plugin ${injection.plugin.name}: ${problem}`);
    this.changed.emit();
  }

  #end(injection: Injection): void {
    clearTimeout(injection.timer);
    const injections = this.#injections.get(injection.doc.documentId);
    if (injections?.get(injection.plugin.name) !== injection) return;
    injections.delete(injection.plugin.name);
    if (injections.size === 0) this.#injections.delete(injection.doc.documentId);
    this.changed.emit();
  }

  #isLive(doc: Doc, { name }: PluginInfo): boolean {
    return this.#options.docs.findReported(doc.documentId)?.plugins.some((p) => p.name === name) === true;
  }

  /** isMissing reports whether a plugin should be in a document but is not. */
  #isMissing(doc: Doc, url: string, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    if (!docs.findReported(doc.documentId) || this.#isLive(doc, plugin)) return false;
    if (doc.frameId !== 0 && plugin.frames !== true) return false;
    if (!matchesAny(url, plugin.matches ?? [], plugin.excludes ?? [])) return false;
    // If a plugin was removed from a document, hot reload brings the plugin back into the document (hot-reload.ts).
    return !docs.vacantPlugins(doc.documentId).some((p) => p.name === plugin.name);
  }

  /** canInject reports whether a missing plugin can be injected into a document. */
  #canInject(doc: Doc, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    const started = docs.started(doc.documentId).find((s) => s.name === plugin.name);
    if (started) return started.empty;
    if (!this.#options.canStartLate(plugin)) return false;
    return plugin.world === 'isolated' || docs.hasBase(doc.documentId);
  }

  /** shouldHaveStarted reports whether a missing plugin can only start with the document. */
  #shouldHaveStarted(doc: Doc, plugin: PluginInfo): boolean {
    const { docs, canStartLate } = this.#options;
    return !canStartLate(plugin) && !docs.started(doc.documentId).some((s) => s.name === plugin.name);
  }

  async #inject(injection: Injection): Promise<void> {
    const { plugin, doc } = injection;
    try {
      const known = this.#options.syntax.known(plugin);
      if (known !== undefined) {
        this.#broken(injection, known);
        return;
      }
      const code = await this.#options.code(plugin);
      if (!this.#isCurrent(injection)) return;
      const nonce = this.#options.nonce();
      const armed = await this.#arm(injection, nonce, code.options ?? '');
      const text = armed.late
        ? lateHostScript(await this.#options.host(), await this.#options.entryPoints.nameOf(plugin.name), nonce, code)
        : adapterScript(
            await this.#options.entryPoints.nameOf(armed.based ? BASE : plugin.name),
            nonce,
            plugin.hash,
            code.code,
          );
      if (!this.#isCurrent(injection)) return;
      const taken = await withTimeout(RunMs, this.#options.run(doc, plugin, text), 'the page did not run its code');
      if (taken !== true) {
        const problem = await this.#findSyntaxError(injection, async () => code);
        if (problem === undefined)
          throw new Error(armed.late ? 'its host did not start' : 'its entry point rejected the adapter');
        if (this.#isCurrent(injection)) this.#broken(injection, problem);
        return;
      }
      this.#options.used(plugin.name);
      injection.starts++;
      injection.timer = setTimeout(() => this.#retryStart(injection), StartMs);
    } catch (error) {
      this.#failed(injection, error);
    }
  }

  /**
   * retryStart injects an adapter again that is not live. If the first injected adapter still waits for the page's
   * content, only one of the two adapters starts.
   */
  #retryStart(injection: Injection): void {
    if (!this.#isCurrent(injection)) return;
    if (injection.starts >= MaxStarts) this.#end(injection);
    else void this.#inject(injection);
  }

  /**
   * isCurrent reports whether an injection is still wanted. If the document no longer exists, isCurrent ends the
   * injection.
   */
  #isCurrent(injection: Injection): boolean {
    const { documentId } = injection.doc;
    if (this.#injections.get(documentId)?.get(injection.plugin.name) !== injection) return false;
    if (this.#options.docs.get(documentId)?.tabId === injection.doc.tabId) return true;
    this.#end(injection);
    return false;
  }

  #failed(injection: Injection, error: unknown): void {
    if (!this.#isCurrent(injection)) return;
    injection.tries++;
    if (injection.tries < MaxTries) {
      injection.timer = setTimeout(
        () => {
          if (this.#isCurrent(injection)) void this.#inject(injection);
        },
        RetryMs * 2 ** injection.tries,
      );
      return;
    }
    this.#giveUp(injection, error instanceof Error ? error.message : String(error));
  }

  /** arm prepares the document for the adapter. arm uses the document's latest port. */
  #arm(injection: Injection, nonce: string, options: string): Promise<Armed> {
    const { plugin, doc } = injection;
    const to = this.#options.docs.get(doc.documentId) ?? doc;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the page did not answer')), ArmMs);
      injection.armed = {
        nonce,
        accept: (message) => {
          clearTimeout(late);
          delete injection.armed;
          resolve(message);
        },
      };
      const { name, hash } = plugin;
      if (plugin.world === 'isolated') to.post({ op: 'meet', plugin: name, hash, nonce });
      else to.post({ op: 'host', plugin: name, hash, nonce, options });
    });
  }
}

/** withTimeout returns the result of work, or rejects after ms milliseconds. */
function withTimeout<T>(ms: number, work: Promise<T>, why: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(why)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/** lateHostScript returns a script that starts a host with its adapter in an isolated world. */
function lateHostScript(
  host: string,
  entryPoint: string,
  meet: string,
  { code, options = '{}' }: PluginFetchResult,
): string {
  const given = `${options.slice(0, -1)},"meet":${JSON.stringify(meet)}}`;
  return lateStartScript(entryPoint, `${host}(true)(${JSON.stringify(given)}, ${code}\n)`);
}
