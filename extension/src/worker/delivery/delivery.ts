import type { PluginFetchResult, PluginInfo } from '../../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage } from '../../port-message.ts';
import type { Doc, DocumentTable } from '../documents/docs.ts';
import { matchesAnyPattern } from '../plugins/match.ts';
import { Signal } from '../signal.ts';
import { BASE_SCRIPT_NAME, type EntryPoints, makeAdapterScript, makeStartAfterLoadScript } from './entry-points.ts';
import type { SyntaxChecker } from './syntax.ts';

const EntryPointTimeoutMs = 10_000;
/**
 * AdapterRunTimeoutMs limits how long a page may take to run an adapter, because a busy page runs the adapter only
 * after its current script.
 */
const AdapterRunTimeoutMs = 20_000;
/** The delay before an adapter is injected again is 400 ms at first, and doubles after each failed attempt. */
const RetryDelayMs = 200;
const MaxInjectionTries = 6;
/** After MaxInjections injections without a live adapter, calls treat the tab as a tab without the plugin. */
const StartTimeoutMs = 5000;
const MaxInjections = 3;

/**
 * If a host reports no running adapter within HostStartTimeoutMs, calls treat the document as if it lacked the plugin.
 * HostStartTimeoutMs is 15 s, because a call in the server waits at most 15 s for an arriving adapter.
 */
const HostStartTimeoutMs = 15_000;

type EntryPointMessage = Extract<BridgeToWorkerMessage, { op: 'entryPointReady' }>;

export interface DeliveryOptions {
  readonly docs: DocumentTable;
  readonly entryPoints: EntryPoints;
  plugins(): readonly PluginInfo[];
  /**
   * canInjectAfterLoad reports whether the worker can inject a plugin into a document that has no host for the plugin.
   */
  canInjectAfterLoad(plugin: PluginInfo): boolean;
  code(plugin: PluginInfo): Promise<PluginFetchResult>;
  host(): Promise<string>;
  readonly syntax: SyntaxChecker;
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** The method `nonce` returns a new unguessable string that authorizes the injection of one adapter. */
  nonce(): string;
  /**
   * recordPluginUse stores that a plugin was injected into a document, so that the worker later prepares recently used
   * plugins first.
   */
  recordPluginUse(plugin: string): void;
}

/** AdapterInjection is the delivery of one adapter to one document. */
interface AdapterInjection {
  readonly doc: Doc;
  readonly plugin: PluginInfo;
  readonly url: string;
  attemptCount: number;
  injectionCount: number;
  problem?: string;
  /** isBroken is true if the code of the plugin is faulty, for example because of a syntax error. */
  isBroken?: true;
  timer?: ReturnType<typeof setTimeout>;
  waitingEntryPoint?: { readonly nonce: string; readonly acceptEntryPoint: (message: EntryPointMessage) => void };
}

/**
 * AdapterDelivery injects the adapters of plugins into documents that match the plugins but do not run the adapters.
 */
export class AdapterDelivery {
  readonly changed = new Signal();
  readonly #options: DeliveryOptions;
  readonly #injections = new Map<string, Map<string, AdapterInjection>>();
  readonly #startingHosts = new Map<string, { isOverdue: boolean }>();
  readonly #checkedScripts = new Map<string, Set<string>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  onDocumentReported(doc: Doc): void {
    this.#injectMissingAdapters(doc, doc.url);
  }

  /**
   * onUrlChanged injects missing plugins when a tab's URL has changed without a new document, such as after
   * history.pushState.
   */
  onUrlChanged(tabId: number, url: string): void {
    const topDoc = this.#options.docs.findTopDoc(tabId);
    if (topDoc) this.#injectMissingAdapters(topDoc.doc, url);
  }

  onPluginsSynced(): void {
    const wantedPlugins = this.#options.plugins();
    for (const [id, documentInjections] of this.#injections) {
      const isConnected = this.#options.docs.get(id) !== undefined;
      for (const injection of [...documentInjections.values()]) {
        const isWanted = wantedPlugins.some(
          (plugin) => plugin.name === injection.plugin.name && plugin.script === injection.plugin.script,
        );
        const isRetried = injection.problem !== undefined && !injection.isBroken;
        if (!isConnected || !isWanted || isRetried) this.#end(injection);
      }
    }
    for (const id of this.#checkedScripts.keys()) if (!this.#options.docs.get(id)) this.#checkedScripts.delete(id);
    for (const key of this.#startingHosts.keys()) {
      if (!this.#options.docs.get(key.slice(0, key.indexOf(' ')))) this.#startingHosts.delete(key);
    }
    for (const { doc } of this.#options.docs.listReported()) this.#injectMissingAdapters(doc, doc.url);
  }

  entryPointReady(doc: Doc, message: EntryPointMessage): void {
    const injection = this.#injections.get(doc.documentId)?.get(message.plugin);
    if (injection?.waitingEntryPoint?.nonce === message.nonce) injection.waitingEntryPoint.acceptEntryPoint(message);
  }

  /**
   * The method `expects` reports whether a plugin is being injected into a document, so that a call should wait for the
   * plugin.
   */
  expects(documentId: string, plugin: string): boolean {
    const injection = this.#injections.get(documentId)?.get(plugin);
    if (injection) return injection.problem === undefined;
    const key = `${documentId} ${plugin}`;
    if (!this.#options.docs.startedPlugins(documentId).some((s) => s.name === plugin)) {
      this.#startingHosts.delete(key);
      return false;
    }
    const startingHost = this.#startingHosts.get(key) ?? this.#startTimer(key);
    return !startingHost.isOverdue;
  }

  #startTimer(key: string): { isOverdue: boolean } {
    const startingHost = { isOverdue: false };
    this.#startingHosts.set(key, startingHost);
    setTimeout(() => {
      if (this.#startingHosts.get(key) !== startingHost) return;
      startingHost.isOverdue = true;
      this.changed.emit();
    }, HostStartTimeoutMs);
    return startingHost;
  }

  problem(documentId: string, plugin: string): string | undefined {
    return this.#injections.get(documentId)?.get(plugin)?.problem;
  }

  /** isBroken reports whether the plugin's code itself is faulty, so that reloading the page does not help. */
  isBroken(documentId: string, plugin: string): boolean {
    return this.#injections.get(documentId)?.get(plugin)?.isBroken === true;
  }

  #injectMissingAdapters(doc: Doc, url: string): void {
    for (const plugin of this.#options.plugins()) {
      const documentInjections = this.#injections.get(doc.documentId);
      const injection = documentInjections?.get(plugin.name);
      if (injection && this.#isAdapterLive(doc, plugin)) this.#end(injection);
      if (injection?.plugin.script === plugin.script || !this.#isAdapterMissing(doc, url, plugin)) continue;
      if (injection) this.#end(injection);
      const newInjection: AdapterInjection = { doc, plugin, url, attemptCount: 0, injectionCount: 0 };
      if (this.#canInject(doc, plugin)) {
        this.#beginInjection(newInjection);
        void this.#injectAdapter(newInjection);
      } else if (this.#startsOnlyDuringLoad(doc, plugin)) void this.#checkSyntax(newInjection);
    }
  }

  #beginInjection(injection: AdapterInjection): void {
    const { documentId } = injection.doc;
    this.#injections.set(
      documentId,
      (this.#injections.get(documentId) ?? new Map()).set(injection.plugin.name, injection),
    );
    this.changed.emit();
  }

  /** checkSyntax checks whether a plugin is missing in a document because Chrome cannot parse the plugin's code. */
  async #checkSyntax(injection: AdapterInjection): Promise<void> {
    const { doc, plugin } = injection;
    const checkedScripts = this.#checkedScripts.get(doc.documentId) ?? new Set();
    if (checkedScripts.has(plugin.script)) return;
    this.#checkedScripts.set(doc.documentId, checkedScripts.add(plugin.script));
    const syntaxProblem = await this.#findSyntaxError(injection, () => this.#options.code(plugin)).catch(
      () => undefined,
    );
    const isWanted = this.#options.plugins().some((p) => p.name === plugin.name && p.script === plugin.script);
    if (syntaxProblem === undefined || !isWanted || !this.#isAdapterMissing(doc, injection.url, plugin)) return;
    this.#beginInjection(injection);
    this.#markInjectionBroken(injection, syntaxProblem);
  }

  async #findSyntaxError(
    { doc, plugin }: AdapterInjection,
    code: () => Promise<PluginFetchResult>,
  ): Promise<string | undefined> {
    const { syntax, docs } = this.#options;
    return (
      syntax.findLastProblem(plugin) ?? (await syntax.problem(docs.get(doc.documentId) ?? doc, plugin, await code()))
    );
  }

  #markInjectionBroken(injection: AdapterInjection, syntaxProblem: string): void {
    injection.isBroken = true;
    this.#recordProblem(injection, syntaxProblem);
  }

  #recordProblem(injection: AdapterInjection, syntaxProblem: string): void {
    injection.problem = syntaxProblem;
    console.warn(
      `opentabs: tab ${injection.doc.tabId} does not get the plugin ${injection.plugin.name}: ${syntaxProblem}`,
    );
    this.changed.emit();
  }

  #end(injection: AdapterInjection): void {
    clearTimeout(injection.timer);
    const documentInjections = this.#injections.get(injection.doc.documentId);
    if (documentInjections?.get(injection.plugin.name) !== injection) return;
    documentInjections.delete(injection.plugin.name);
    if (documentInjections.size === 0) this.#injections.delete(injection.doc.documentId);
    this.changed.emit();
  }

  #isAdapterLive(doc: Doc, { name }: PluginInfo): boolean {
    return this.#options.docs.findReported(doc.documentId)?.plugins.some((p) => p.name === name) === true;
  }

  #isAdapterMissing(doc: Doc, url: string, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    if (!docs.findReported(doc.documentId) || this.#isAdapterLive(doc, plugin)) return false;
    if (doc.frameId !== 0 && plugin.frames !== true) return false;
    if (!matchesAnyPattern(url, plugin.matches ?? [], plugin.excludes ?? [])) return false;
    // Skip plugins that a document has removed: HotReload injects removed plugins again.
    return !docs.removedPlugins(doc.documentId).some((p) => p.name === plugin.name);
  }

  #canInject(doc: Doc, plugin: PluginInfo): boolean {
    const { docs } = this.#options;
    const startedPlugin = docs.startedPlugins(doc.documentId).find((s) => s.name === plugin.name);
    if (startedPlugin) return startedPlugin.awaitsAdapter;
    if (!this.#options.canInjectAfterLoad(plugin)) return false;
    return plugin.world === 'isolated' || docs.hasBase(doc.documentId);
  }

  /** startsOnlyDuringLoad reports whether a missing plugin can only start while its document loads. */
  #startsOnlyDuringLoad(doc: Doc, plugin: PluginInfo): boolean {
    const { docs, canInjectAfterLoad } = this.#options;
    return !canInjectAfterLoad(plugin) && !docs.startedPlugins(doc.documentId).some((s) => s.name === plugin.name);
  }

  async #injectAdapter(injection: AdapterInjection): Promise<void> {
    const { plugin, doc } = injection;
    try {
      const knownProblem = this.#options.syntax.findLastProblem(plugin);
      if (knownProblem !== undefined) {
        this.#markInjectionBroken(injection, knownProblem);
        return;
      }
      const code = await this.#options.code(plugin);
      if (!this.#isCurrentInjection(injection)) return;
      const nonce = this.#options.nonce();
      const entryPointMessage = await this.#awaitEntryPoint(injection, nonce, code.options ?? '');
      const script = entryPointMessage.isHostLate
        ? makeHostInjectionScript(
            await this.#options.host(),
            await this.#options.entryPoints.deriveName(plugin.name),
            nonce,
            code,
          )
        : makeAdapterScript(
            await this.#options.entryPoints.deriveName(entryPointMessage.usesBase ? BASE_SCRIPT_NAME : plugin.name),
            nonce,
            plugin.hash,
            code.code,
          );
      if (!this.#isCurrentInjection(injection)) return;
      const isAccepted = await withTimeout(
        AdapterRunTimeoutMs,
        this.#options.run(doc, plugin, script),
        'the page did not run its code',
      );
      if (isAccepted !== true) {
        const syntaxProblem = await this.#findSyntaxError(injection, async () => code);
        if (syntaxProblem === undefined)
          throw new Error(
            entryPointMessage.isHostLate ? 'its host did not start' : 'its entry point rejected the adapter',
          );
        if (this.#isCurrentInjection(injection)) this.#markInjectionBroken(injection, syntaxProblem);
        return;
      }
      this.#options.recordPluginUse(plugin.name);
      injection.injectionCount++;
      injection.timer = setTimeout(() => this.#retryInjection(injection), StartTimeoutMs);
    } catch (error) {
      this.#retryOrFailInjection(injection, error);
    }
  }

  /** If an earlier copy of the adapter still waits for the page to load, only one of the two copies starts. */
  #retryInjection(injection: AdapterInjection): void {
    if (!this.#isCurrentInjection(injection)) return;
    if (injection.injectionCount >= MaxInjections) this.#end(injection);
    else void this.#injectAdapter(injection);
  }

  #isCurrentInjection(injection: AdapterInjection): boolean {
    const { documentId } = injection.doc;
    if (this.#injections.get(documentId)?.get(injection.plugin.name) !== injection) return false;
    if (this.#options.docs.get(documentId)?.tabId === injection.doc.tabId) return true;
    this.#end(injection);
    return false;
  }

  #retryOrFailInjection(injection: AdapterInjection, error: unknown): void {
    if (!this.#isCurrentInjection(injection)) return;
    injection.attemptCount++;
    if (injection.attemptCount < MaxInjectionTries) {
      injection.timer = setTimeout(
        () => {
          if (this.#isCurrentInjection(injection)) void this.#injectAdapter(injection);
        },
        RetryDelayMs * 2 ** injection.attemptCount,
      );
      return;
    }
    this.#recordProblem(injection, error instanceof Error ? error.message : String(error));
  }

  #awaitEntryPoint(injection: AdapterInjection, nonce: string, options: string): Promise<EntryPointMessage> {
    const { plugin, doc } = injection;
    const latestDoc = this.#options.docs.get(doc.documentId) ?? doc;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the page did not answer')), EntryPointTimeoutMs);
      injection.waitingEntryPoint = {
        nonce,
        acceptEntryPoint: (message) => {
          clearTimeout(timer);
          delete injection.waitingEntryPoint;
          resolve(message);
        },
      };
      const { name, hash } = plugin;
      if (plugin.world === 'isolated') latestDoc.post({ op: 'awaitLateHost', plugin: name, hash, nonce });
      else latestDoc.post({ op: 'prepareHost', plugin: name, hash, nonce, options });
    });
  }
}

function withTimeout<T>(ms: number, timedPromise: Promise<T>, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), ms);
    timedPromise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function makeHostInjectionScript(
  host: string,
  entryPoint: string,
  hostOfferEventType: string,
  { code, options = '{}' }: PluginFetchResult,
): string {
  const hostOptions = `${options.slice(0, -1)},"meet":${JSON.stringify(hostOfferEventType)}}`;
  return makeStartAfterLoadScript(entryPoint, `${host}(true)(${JSON.stringify(hostOptions)}, ${code}\n)`);
}
