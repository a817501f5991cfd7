import {
  HotReloadWaitDevMs,
  HotReloadWaitMs,
  type PluginFetchResult,
  type PluginInfo,
} from '../../../../wire/wire.gen.ts';
import type { BridgeToWorkerMessage } from '../../port-message.ts';
import type { Doc, DocumentTable } from '../documents/docs.ts';
import { Signal } from '../signal.ts';
import { BASE_SCRIPT_NAME, type EntryPoints, makeAdapterScript } from './entry-points.ts';
import type { SyntaxChecker } from './syntax.ts';

const ReplacementReplyTimeoutMs = 5000;
/**
 * The delay before the next attempt to fetch or to replace an adapter is 1 s at first, and doubles after each failed
 * attempt. After MaxReplacementTries failed attempts, the document stays as it is until the next build.
 */
const RetryDelayMs = 500;
const MaxReplacementTries = 3;

export interface HotReloadOptions {
  readonly docs: DocumentTable;
  readonly entryPoints: EntryPoints;
  plugins(): readonly PluginInfo[];
  /** The method `code` returns the new code of a plugin from the cache or from the server. */
  code(plugin: PluginInfo): Promise<PluginFetchResult>;
  readonly syntax: SyntaxChecker;
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** The method `nonce` returns a new unguessable string that authorizes the replacement of one adapter. */
  nonce(): string;
}

interface AdapterBuild {
  readonly name: string;
  readonly hash: string;
  readonly adapter: string;
  /** waitMs limits how long the worker waits for running calls before it replaces the adapter, in milliseconds. */
  readonly waitMs: number;
}

/**
 * AdapterSwap is the replacement of one adapter, from the first message to the document until the document reports the
 * result.
 */
interface AdapterSwap {
  readonly adapterBuild: AdapterBuild;
  readonly nonce: string;
  timer: ReturnType<typeof setTimeout>;
}

interface ReplacementAttempt {
  readonly documentId: string;
  readonly hash: string;
  /** The field `attemptCount` counts the attempts that found no code, or to which the document did not respond. */
  attemptCount: number;
  /** isOver is true if the worker makes no further attempt to inject the new adapter into the document. */
  isOver: boolean;
  /** lacksCode is true if the worker could not fetch the code, so that the next plugin.sync begins a new attempt. */
  lacksCode: boolean;
  problem?: string;
}

/** HotReload replaces outdated adapters in documents without reloading the page. */
export class HotReload {
  readonly changed = new Signal();
  readonly #options: HotReloadOptions;
  readonly #docsAwaitingCode = new Map<string, Set<Doc>>();
  readonly #adapterSwaps = new WeakMap<Doc, Map<string, AdapterSwap>>();
  readonly #replacementAttempts = new Map<string, ReplacementAttempt>();
  /** #waiters are called when no document awaits new code. */
  readonly #waiters = new Set<() => void>();

  constructor(options: HotReloadOptions) {
    this.#options = options;
  }

  /** onPluginsSynced replaces the outdated adapters of all documents after the list of plugins has changed. */
  onPluginsSynced(): void {
    for (const [key, { documentId, lacksCode, isOver }] of this.#replacementAttempts)
      if (lacksCode || !isOver || !this.#options.docs.get(documentId)) this.#replacementAttempts.delete(key);
    this.#docsAwaitingCode.clear();
    for (const { doc } of this.#options.docs.listReported()) {
      this.#endSwapsOfRemovedPlugins(doc);
      this.onDocumentReported(doc);
    }
    this.#resolveWaiters();
  }

  /**
   * onDocumentReported replaces the outdated adapters of one document. If the worker cannot inject a new adapter, the
   * document keeps the old adapter, and the tab needs a reload.
   */
  onDocumentReported(doc: Doc): void {
    for (const plugin of this.#options.plugins())
      if (this.#needsAdapter(doc, plugin) && !this.#docsAwaitingCode.get(plugin.name)?.has(doc))
        void this.#fetchAndReplace(doc, plugin);
  }

  /** waitForReplacements resolves when no document awaits new code, and after timeoutMs at the latest. */
  async waitForReplacements(timeoutMs: number): Promise<void> {
    if (!this.#isAwaitingCode()) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      setTimeout(() => {
        this.#waiters.delete(resolve);
        resolve();
      }, timeoutMs);
    });
  }

  #resolveWaiters(): void {
    if (this.#isAwaitingCode()) return;
    for (const resolveWait of this.#waiters) resolveWait();
    this.#waiters.clear();
  }

  #isAwaitingCode(): boolean {
    return [...this.#docsAwaitingCode.values()].some((docs) => docs.size > 0);
  }

  handleAdapterReplaced(doc: Doc, message: Extract<BridgeToWorkerMessage, { op: 'adapterReplaced' }>): void {
    if (message.problem !== undefined) this.#recordFailure(doc, message.plugin, message.problem);
    else if (this.#findAdapterSwap(doc, message.plugin)?.adapterBuild.hash === message.hash)
      this.#end(doc, message.plugin);
  }

  handleEntryPoint(doc: Doc, message: Extract<BridgeToWorkerMessage, { op: 'entryPointReady' }>): void {
    const adapterSwap = this.#findAdapterSwap(doc, message.plugin);
    const plugin = this.#findPlugin(message.plugin);
    if (!adapterSwap || !plugin || adapterSwap.nonce !== message.nonce) return;
    clearTimeout(adapterSwap.timer);
    adapterSwap.timer = setTimeout(
      () => this.#retryOrEndReplacement(doc, adapterSwap, 'it did not answer'),
      ReplacementReplyTimeoutMs,
    );
    void this.#sendAdapter(doc, plugin, adapterSwap, message.usesBase);
  }

  /** The method `expects` reports whether a tab's top document will receive new code of a plugin. */
  expects(tabId: number, plugin: string): boolean {
    const topDoc = this.#options.docs.findTopDoc(tabId);
    return topDoc !== undefined && this.#docsAwaitingCode.get(plugin)?.has(topDoc.doc) === true;
  }

  canReplace(doc: Doc, plugin: PluginInfo): boolean {
    return this.#findPlugin(plugin.name)?.hash === plugin.hash && this.#needsAdapter(doc, plugin);
  }

  problem(documentId: string, { name, hash }: PluginInfo): string | undefined {
    const reloadAttempt = this.#replacementAttempts.get(makeAttemptKey({ documentId }, name));
    return reloadAttempt?.hash === hash ? reloadAttempt.problem : undefined;
  }

  #findPlugin(name: string): PluginInfo | undefined {
    return this.#options.plugins().find((plugin) => plugin.name === name);
  }

  #findAdapterSwap(doc: Doc, plugin: string): AdapterSwap | undefined {
    return this.#adapterSwaps.get(doc)?.get(plugin);
  }

  /**
   * needsAdapter returns true if the document runs an outdated adapter or has removed the adapter, unless the worker
   * has given up the replacement.
   */
  #needsAdapter({ documentId }: Doc, { name, hash, base: baseHash }: PluginInfo): boolean {
    const { docs } = this.#options;
    const reloadAttempt = this.#replacementAttempts.get(makeAttemptKey({ documentId }, name));
    if (reloadAttempt?.hash === hash && reloadAttempt.isOver) return false;
    const hasOlder = docs
      .findReported(documentId)
      ?.plugins.some((p) => p.name === name && p.hash !== hash && p.base === baseHash);
    return hasOlder === true || docs.removedPlugins(documentId).some((p) => p.name === name && p.base === baseHash);
  }

  #isConnected(doc: Doc): boolean {
    return this.#options.docs.get(doc.documentId) === doc;
  }

  async #fetchAndReplace(doc: Doc, plugin: PluginInfo): Promise<void> {
    const { name, hash, script } = plugin;
    // If the plugin changes while its code is fetched, onPluginsSynced fetches the code of the later build.
    const isCurrent = () => this.#findPlugin(name)?.script === script;
    this.#addDocAwaitingCode(doc, name);
    try {
      const { code } = await this.#options.code(plugin);
      if (!isCurrent() || this.#findAdapterSwap(doc, name)?.adapterBuild.hash === hash) return;
      if (!this.#isConnected(doc) || !this.#needsAdapter(doc, plugin)) this.#end(doc, name);
      else
        this.#beginReplacement(doc, {
          name,
          hash,
          adapter: code,
          waitMs: plugin.dev ? HotReloadWaitDevMs : HotReloadWaitMs,
        });
    } catch (error) {
      if (!isCurrent()) return;
      this.#retryOrEndFetch(doc, plugin, String(error));
    }
  }

  #retryOrEndFetch(doc: Doc, plugin: PluginInfo, reason: string): void {
    const { name } = plugin;
    const attempt = this.#getOrCreateAttempt(doc, plugin);
    attempt.attemptCount++;
    if (attempt.attemptCount < MaxReplacementTries) {
      setTimeout(
        () => {
          const isCurrent = this.#replacementAttempts.get(makeAttemptKey(doc, name)) === attempt;
          if (isCurrent && this.#docsAwaitingCode.get(name)?.has(doc)) void this.#fetchAndReplace(doc, plugin);
        },
        RetryDelayMs * 2 ** attempt.attemptCount,
      );
      return;
    }
    attempt.isOver = true;
    attempt.lacksCode = true;
    console.warn(`opentabs: cannot fetch the code of ${name} for tab ${doc.tabId}: ${reason}`);
    this.#end(doc, name);
  }

  /** If a plugin is removed, the bridge ends the replacement of its adapter without a report. */
  #endSwapsOfRemovedPlugins(doc: Doc): void {
    for (const [name, { timer }] of this.#adapterSwaps.get(doc) ?? []) {
      if (this.#findPlugin(name)) continue;
      clearTimeout(timer);
      this.#adapterSwaps.get(doc)?.delete(name);
    }
  }

  #addDocAwaitingCode(doc: Doc, name: string): void {
    this.#docsAwaitingCode.set(name, (this.#docsAwaitingCode.get(name) ?? new Set()).add(doc));
    this.changed.emit();
  }

  #beginReplacement(doc: Doc, adapterBuild: AdapterBuild): void {
    const { name, hash, waitMs } = adapterBuild;
    const documentSwaps = this.#adapterSwaps.get(doc) ?? new Map<string, AdapterSwap>();
    this.#adapterSwaps.set(doc, documentSwaps);
    clearTimeout(documentSwaps.get(name)?.timer);
    const nonce = this.#options.nonce();
    const onTimeout = () => this.#retryOrEndReplacement(doc, adapterSwap, 'it did not answer');
    const adapterSwap: AdapterSwap = {
      adapterBuild,
      nonce,
      timer: setTimeout(onTimeout, waitMs + ReplacementReplyTimeoutMs),
    };
    documentSwaps.set(name, adapterSwap);
    this.#addDocAwaitingCode(doc, name);
    doc.post({ op: 'replaceAdapter', plugin: name, hash, nonce, waitMs });
  }

  async #sendAdapter(doc: Doc, plugin: PluginInfo, adapterSwap: AdapterSwap, usesBaseHost: boolean): Promise<void> {
    const { name, hash, adapter } = adapterSwap.adapterBuild;
    try {
      const code = makeAdapterScript(
        await this.#options.entryPoints.deriveName(usesBaseHost ? BASE_SCRIPT_NAME : name),
        adapterSwap.nonce,
        hash,
        adapter,
      );
      if ((await this.#options.run(doc, plugin, code)) === true) return; // the document will send adapterReplaced
      const adapterProblem = await this.#options.syntax.problem(doc, plugin, { code: adapter });
      if (this.#findAdapterSwap(doc, name) !== adapterSwap) return;
      if (adapterProblem !== undefined) this.#recordFailure(doc, name, adapterProblem);
      else this.#retryOrEndReplacement(doc, adapterSwap, 'its entry point rejected the new adapter');
    } catch (error) {
      this.#retryOrEndReplacement(doc, adapterSwap, String(error));
    }
  }

  #end(doc: Doc, name: string): void {
    clearTimeout(this.#findAdapterSwap(doc, name)?.timer);
    this.#adapterSwaps.get(doc)?.delete(name);
    if (!this.#docsAwaitingCode.get(name)?.delete(doc)) return;
    this.changed.emit();
    this.#resolveWaiters();
  }

  #getOrCreateAttempt({ documentId }: Doc, { name, hash }: Pick<AdapterBuild, 'name' | 'hash'>): ReplacementAttempt {
    const key = makeAttemptKey({ documentId }, name);
    const earlierAttempt = this.#replacementAttempts.get(key);
    const reloadAttempt =
      earlierAttempt?.hash === hash
        ? earlierAttempt
        : { documentId, hash, attemptCount: 0, isOver: false, lacksCode: false };
    this.#replacementAttempts.set(key, reloadAttempt);
    return reloadAttempt;
  }

  /** recordFailure stores why the new adapter failed to start, so that the worker does not try again. */
  #recordFailure(doc: Doc, name: string, adapterProblem: string): void {
    const adapterSwap = this.#findAdapterSwap(doc, name);
    if (!adapterSwap) return;
    console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${adapterProblem}`);
    const reloadAttempt = this.#getOrCreateAttempt(doc, adapterSwap.adapterBuild);
    reloadAttempt.isOver = true;
    reloadAttempt.problem = adapterProblem;
    this.#end(doc, name);
    this.changed.emit();
  }

  /**
   * retryOrEndReplacement repeats a replacement to which the document did not respond, up to MaxReplacementTries
   * attempts.
   */
  #retryOrEndReplacement(doc: Doc, adapterSwap: AdapterSwap, reason: string): void {
    const { name } = adapterSwap.adapterBuild;
    if (this.#findAdapterSwap(doc, name) !== adapterSwap) return;
    const reloadAttempt = this.#getOrCreateAttempt(doc, adapterSwap.adapterBuild);
    reloadAttempt.attemptCount++;
    if (reloadAttempt.attemptCount >= MaxReplacementTries || !this.#isConnected(doc)) {
      reloadAttempt.isOver = this.#isConnected(doc);
      console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${reason}`);
      this.#end(doc, name);
      return;
    }
    clearTimeout(adapterSwap.timer);
    adapterSwap.timer = setTimeout(
      () => {
        if (this.#findAdapterSwap(doc, name) === adapterSwap) this.#retryReplacement(doc, adapterSwap.adapterBuild);
      },
      RetryDelayMs * 2 ** reloadAttempt.attemptCount,
    );
  }

  #retryReplacement(doc: Doc, adapterBuild: AdapterBuild): void {
    const plugin = this.#findPlugin(adapterBuild.name);
    const isCurrent = plugin?.hash === adapterBuild.hash && this.#isConnected(doc);
    if (isCurrent && this.#needsAdapter(doc, plugin)) this.#beginReplacement(doc, adapterBuild);
    else this.#end(doc, adapterBuild.name);
  }
}

function makeAttemptKey({ documentId }: Pick<Doc, 'documentId'>, plugin: string): string {
  return `${documentId} ${plugin}`;
}
