import {
  HotReloadWaitDevMs,
  HotReloadWaitMs,
  type PluginCodeParams,
  type PluginFetchResult,
  type PluginInfo,
} from '../../../../wire/wire.gen.ts';
import type { FromBridge } from '../../port-message.ts';
import type { Doc, Docs } from '../documents/docs.ts';
import { Signal } from '../signal.ts';
import { adapterScript, BASE, type EntryPoints } from './entry-points.ts';
import type { Syntax } from './syntax.ts';

/**
 * ReplyTimeoutMs is how long a document may take to arm its entry point after its calls have ended, in milliseconds.
 */
const ReplyTimeoutMs = 5000;
/**
 * CodeTimeoutMs is how long the server may take to send code after a sync, in milliseconds. After CodeTimeoutMs, the
 * worker fetches the code itself.
 */
const CodeTimeoutMs = 30_000;
/**
 * RetryMs is half the delay before the first retry, in milliseconds. The delay before a retry doubles after each of at
 * most MaxTries attempts.
 */
const RetryMs = 500;
const MaxTries = 3;

export interface HotReloadOptions {
  readonly docs: Docs;
  readonly entryPoints: EntryPoints;
  /** plugins returns the plugins that the server wants in documents. */
  plugins(): readonly PluginInfo[];
  /** code fetches the code of a plugin, for documents that report an older adapter after the server sent the code. */
  code(plugin: PluginInfo): Promise<PluginFetchResult>;
  readonly syntax: Syntax;
  /** run runs code in the world of a plugin in a document and returns the value of the code. */
  run(doc: Doc, plugin: PluginInfo, code: string): Promise<unknown>;
  /** nonce returns a new unguessable text that authorizes one adapter. */
  nonce(): string;
}

/** Build is a new adapter of a plugin that replaces older adapters. */
interface Build {
  readonly name: string;
  readonly hash: string;
  readonly adapter: string;
  /** waitMs is how long running calls may take to end, in milliseconds. */
  readonly waitMs: number;
}

/** Swap is the replacement of an adapter that a document is preparing. */
interface Swap {
  readonly build: Build;
  readonly nonce: string;
  timer: ReturnType<typeof setTimeout>;
}

/** Attempt is the result of injecting one adapter into one document. */
interface Attempt {
  readonly documentId: string;
  readonly hash: string;
  /** tries is the number of attempts that the document did not complete. */
  tries: number;
  /** isOver is true when no further attempt is made to inject the adapter into the document. */
  isOver: boolean;
  /** problem is the reason why the adapter failed to start; undefined if the document did not answer. */
  problem?: string;
}

/** HotReload replaces older adapters of plugins in documents, and adds adapters again that were removed. */
export class HotReload {
  /** changed is emitted when the result of expects or problem has changed. */
  readonly changed = new Signal();
  readonly #options: HotReloadOptions;
  /** #expectedDocs maps each plugin to the documents that are about to get new code. */
  readonly #expectedDocs = new Map<string, Set<Doc>>();
  readonly #swaps = new WeakMap<Doc, Map<string, Swap>>();
  /** #attempts maps each document and plugin to the latest attempt. */
  readonly #attempts = new Map<string, Attempt>();
  #codeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: HotReloadOptions) {
    this.#options = options;
  }

  /**
   * receiveCode handles new code of a plugin that the server sends. If the new adapter cannot be injected, the document
   * keeps the old adapter and its tab needs a reload.
   */
  async receiveCode({ name, hash, hot }: PluginCodeParams): Promise<void> {
    const plugin = this.#findPlugin(name);
    if (plugin?.hash !== hash || !hot) return;
    const build = { name, hash, adapter: hot.adapter, waitMs: hot.waitMs };
    for (const doc of this.#docsToUpdate(plugin)) this.#begin(doc, build);
  }

  /**
   * documentReported handles a document that has reported its adapters. Older adapters are replaced whenever a document
   * reports them.
   */
  documentReported(doc: Doc): void {
    for (const plugin of this.#options.plugins()) {
      const isExpected = this.#findSwap(doc, plugin.name) || this.#expectedDocs.get(plugin.name)?.has(doc);
      if (!isExpected && this.#needsAdapter(doc, plugin)) void this.#fetchAndBegin(doc, plugin);
    }
  }

  /**
   * handleReplaced handles the message that a document has the new adapter, or keeps the old adapter because of a
   * problem.
   */
  handleReplaced(doc: Doc, message: Extract<FromBridge, { op: 'adapterReplaced' }>): void {
    if (message.problem !== undefined) this.#recordFailure(doc, message.plugin, message.problem);
    else this.#end(doc, message.plugin);
  }

  /** handleEntryPoint handles the message of a document that is ready for the new adapter, and sends the adapter. */
  handleEntryPoint(doc: Doc, message: Extract<FromBridge, { op: 'entryPointReady' }>): void {
    const swap = this.#findSwap(doc, message.plugin);
    const plugin = this.#findPlugin(message.plugin);
    if (!swap || !plugin || swap.nonce !== message.nonce) return;
    clearTimeout(swap.timer);
    swap.timer = setTimeout(() => this.#retryOrEnd(doc, swap, 'it did not answer'), ReplyTimeoutMs);
    void this.#sendAdapter(doc, plugin, swap, message.usesBase);
  }

  /** outdated returns the names of the plugins that have a replaceable older adapter in some document. */
  outdated(): string[] {
    const { docs } = this.#options;
    return docs.all().flatMap(({ doc, plugins }) =>
      [...plugins, ...docs.removedPlugins(doc.documentId)].flatMap(({ name }) => {
        const plugin = this.#findPlugin(name);
        return plugin && this.#needsAdapter(doc, plugin) ? [name] : [];
      }),
    );
  }

  /** synced records the plugins whose code the server is about to send. */
  synced(missing: readonly string[]): void {
    for (const [key, { documentId }] of this.#attempts)
      if (!this.#options.docs.get(documentId)) this.#attempts.delete(key);
    this.#expectedDocs.clear();
    clearTimeout(this.#codeTimer);
    this.#codeTimer = setTimeout(() => this.#fetchMissing(), CodeTimeoutMs);
    for (const name of missing) {
      const plugin = this.#findPlugin(name);
      if (plugin) this.#expectedDocs.set(name, new Set(this.#docsToUpdate(plugin)));
    }
  }

  /**
   * expects reports whether a tab's top document is about to get new code of a plugin. A document that is about to get
   * new code needs no reload.
   */
  expects(tabId: number, plugin: string): boolean {
    const live = this.#options.docs.live(tabId);
    return live !== undefined && this.#expectedDocs.get(plugin)?.has(live.doc) === true;
  }

  /** canReplace reports whether a document has an older adapter of a plugin that can be replaced without a reload. */
  canReplace(doc: Doc, plugin: PluginInfo): boolean {
    return this.#findPlugin(plugin.name)?.hash === plugin.hash && this.#needsAdapter(doc, plugin);
  }

  /** problem returns why the wanted adapter failed to start in a document that keeps its old adapter. */
  problem(documentId: string, { name, hash }: PluginInfo): string | undefined {
    const attempt = this.#attempts.get(`${documentId} ${name}`);
    return attempt?.hash === hash ? attempt.problem : undefined;
  }

  #findPlugin(name: string): PluginInfo | undefined {
    return this.#options.plugins().find((plugin) => plugin.name === name);
  }

  #findSwap(doc: Doc, plugin: string): Swap | undefined {
    return this.#swaps.get(doc)?.get(plugin);
  }

  /**
   * needsAdapter reports whether a document has an older or removed adapter of a plugin, and can get the new adapter.
   */
  #needsAdapter({ documentId }: Doc, { name, hash, base }: PluginInfo): boolean {
    const { docs } = this.#options;
    const attempt = this.#attempts.get(`${documentId} ${name}`);
    if (attempt?.hash === hash && attempt.isOver) return false;
    const hasOlder = docs
      .findReported(documentId)
      ?.plugins.some((p) => p.name === name && p.hash !== hash && p.base === base);
    return hasOlder === true || docs.removedPlugins(documentId).some((p) => p.name === name && p.base === base);
  }

  #docsToUpdate(plugin: PluginInfo): Doc[] {
    return this.#options.docs.all().flatMap(({ doc }) => (this.#needsAdapter(doc, plugin) ? [doc] : []));
  }

  /** fetchMissing fetches the code that the server did not send in time. */
  #fetchMissing(): void {
    for (const [name, docs] of this.#expectedDocs) {
      const plugin = this.#findPlugin(name);
      for (const doc of docs) {
        if (this.#findSwap(doc, name)) continue;
        if (plugin && this.#isConnected(doc) && this.#needsAdapter(doc, plugin)) void this.#fetchAndBegin(doc, plugin);
        else docs.delete(doc);
      }
    }
    this.changed.emit();
  }

  #isConnected(doc: Doc): boolean {
    return this.#options.docs.get(doc.documentId) === doc;
  }

  /** fetchAndBegin fetches the code for one document and begins the replacement. */
  async #fetchAndBegin(doc: Doc, plugin: PluginInfo): Promise<void> {
    const { name, hash } = plugin;
    this.#addExpected(doc, name);
    try {
      const { code } = await this.#options.code(plugin);
      const isCurrent = this.#findPlugin(name)?.script === plugin.script && this.#isConnected(doc);
      if (this.#findSwap(doc, name)) return; // the server sent the code during the fetch
      if (isCurrent && this.#needsAdapter(doc, plugin)) {
        this.#begin(doc, { name, hash, adapter: code, waitMs: plugin.dev ? HotReloadWaitDevMs : HotReloadWaitMs });
      } else this.#end(doc, name);
    } catch (error) {
      console.warn(`opentabs: cannot fetch the code of ${name} for tab ${doc.tabId}: ${String(error)}`);
      this.#end(doc, name);
    }
  }

  #addExpected(doc: Doc, name: string): void {
    this.#expectedDocs.set(name, (this.#expectedDocs.get(name) ?? new Set()).add(doc));
    this.changed.emit();
  }

  #begin(doc: Doc, build: Build): void {
    const { name, hash, waitMs } = build;
    const swaps = this.#swaps.get(doc) ?? new Map<string, Swap>();
    this.#swaps.set(doc, swaps);
    clearTimeout(swaps.get(name)?.timer);
    const nonce = this.#options.nonce();
    const onTimeout = () => this.#retryOrEnd(doc, swap, 'it did not answer');
    const swap: Swap = { build, nonce, timer: setTimeout(onTimeout, waitMs + ReplyTimeoutMs) };
    swaps.set(name, swap);
    this.#addExpected(doc, name);
    doc.post({ op: 'replaceAdapter', plugin: name, hash, nonce, waitMs });
  }

  async #sendAdapter(doc: Doc, plugin: PluginInfo, swap: Swap, isBased: boolean): Promise<void> {
    const { name, hash, adapter } = swap.build;
    try {
      const code = adapterScript(
        await this.#options.entryPoints.nameOf(isBased ? BASE : name),
        swap.nonce,
        hash,
        adapter,
      );
      if ((await this.#options.run(doc, plugin, code)) === true) return; // the document will send adapterReplaced
      const problem = await this.#options.syntax.problem(doc, plugin, { code: adapter });
      if (this.#findSwap(doc, name) !== swap) return;
      if (problem !== undefined) this.#recordFailure(doc, name, problem);
      else this.#retryOrEnd(doc, swap, 'its entry point rejected the new adapter');
    } catch (error) {
      this.#retryOrEnd(doc, swap, String(error));
    }
  }

  /** end ends the replacement of a plugin in a document. */
  #end(doc: Doc, name: string): void {
    clearTimeout(this.#findSwap(doc, name)?.timer);
    this.#swaps.get(doc)?.delete(name);
    if (this.#expectedDocs.get(name)?.delete(doc)) this.changed.emit();
  }

  #getOrCreateAttempt({ documentId }: Doc, { name, hash }: Build): Attempt {
    const key = `${documentId} ${name}`;
    const earlier = this.#attempts.get(key);
    const attempt = earlier?.hash === hash ? earlier : { documentId, hash, tries: 0, isOver: false };
    this.#attempts.set(key, attempt);
    return attempt;
  }

  /** recordFailure records that the new adapter failed to start. */
  #recordFailure(doc: Doc, name: string, problem: string): void {
    const swap = this.#findSwap(doc, name);
    if (!swap) return;
    console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${problem}`);
    const attempt = this.#getOrCreateAttempt(doc, swap.build);
    attempt.isOver = true;
    attempt.problem = problem;
    this.#end(doc, name);
    this.changed.emit();
  }

  /** retryOrEnd retries a replacement that the document did not complete, up to MaxTries attempts. */
  #retryOrEnd(doc: Doc, swap: Swap, reason: string): void {
    const { name } = swap.build;
    if (this.#findSwap(doc, name) !== swap) return;
    const attempt = this.#getOrCreateAttempt(doc, swap.build);
    attempt.tries++;
    if (attempt.tries >= MaxTries || !this.#isConnected(doc)) {
      attempt.isOver = this.#isConnected(doc);
      console.warn(`opentabs: tab ${doc.tabId} keeps the old adapter of ${name}: ${reason}`);
      this.#end(doc, name);
      return;
    }
    clearTimeout(swap.timer);
    swap.timer = setTimeout(
      () => {
        if (this.#findSwap(doc, name) === swap) this.#retry(doc, swap.build);
      },
      RetryMs * 2 ** attempt.tries,
    );
  }

  #retry(doc: Doc, build: Build): void {
    const plugin = this.#findPlugin(build.name);
    const isCurrent = plugin?.hash === build.hash && this.#isConnected(doc);
    if (isCurrent && this.#needsAdapter(doc, plugin)) this.#begin(doc, build);
    else this.#end(doc, build.name);
  }
}
