import type {
  BridgeToWorkerMessage,
  LiveAdapter,
  RemovedPlugin,
  StartedPlugin,
  WorkerToBridgeMessage,
} from '../port-message.ts';
import { type PortHandlers, routeMessage } from '../port-router.ts';
import type { BaseHostPort, Host } from './hosts.ts';
import { type BridgeLogs, makeLogs } from './logs.ts';
import { makeReadinessProbing, type ReadinessProbing } from './probing.ts';
import { makeWakeRequests, type WakeRequests } from './wakes.ts';

/** PluginMessage does not include the message 'replaceAdapter', which also affects running calls. */
export type PluginMessage = Extract<
  WorkerToBridgeMessage,
  { op: 'settings' | 'probe' | 'prepareHost' | 'awaitLateHost' | 'removePlugin' }
>;

export interface PluginsOptions {
  /** post sends a message to the worker, and returns false if no port is open. */
  post(postedMessage: BridgeToWorkerMessage): boolean;
  onLiveAdaptersChanged(): void;
  isVisible(): boolean;
  findPendingAdapterHash(host: Host): string | undefined;
  endSwap(host: Host): void;
  /**
   * awaitLateHost waits for the offer of a host that starts later. `type` is the event type under which the host
   * dispatches its offer.
   */
  awaitLateHost(plugin: string, type: string): () => void;
}

type HostOperation = 'ready' | 'broken' | 'armed' | 'renewed' | 'kept' | 's' | 'l' | 'w';

/** Plugins manages the plugins of a document: their hosts, their readiness and their logs. */
export class Plugins {
  readonly #options: PluginsOptions;
  /** #liveHosts contains only the hosts with a live adapter. */
  readonly #allHosts = new Map<string, Host>();
  readonly #liveHosts = new Map<string, Host>();
  readonly #liveAdapters = new Map<string, LiveAdapter>();
  readonly #removedHosts = new Set<Host>();
  /** If the worker sends 'awaitLateHost' more than once for a plugin, only the newest message has an effect. */
  readonly #hostWaitCancelers = new Map<string, () => void>();
  readonly #logs: BridgeLogs;
  readonly #wakeRequests: WakeRequests;
  readonly #readinessProbing: ReadinessProbing;
  #isDocumentParsed = false;
  #baseHostPort: BaseHostPort | undefined;

  constructor(options: PluginsOptions) {
    const { post: postToWorker, isVisible } = options;
    this.#options = options;
    this.#logs = makeLogs(postToWorker);
    this.#wakeRequests = makeWakeRequests({ post: postToWorker, isVisible });
    this.#readinessProbing = makeReadinessProbing({
      probe: (includesReadyAdapters) => this.#probeAdapters(includesReadyAdapters ? isWorking : isNotReadyYet),
      areAllReady: () => ![...this.#liveAdapters.values()].some(isNotReadyYet),
      isVisible,
    });
  }

  get liveAdapters(): LiveAdapter[] {
    return [...this.#liveAdapters.values()];
  }

  /** removedPlugins returns the plugins whose adapter a hot reload removed from this document. */
  get removedPlugins(): RemovedPlugin[] {
    return [...this.#removedHosts].map(({ plugin, base: baseHash }) =>
      baseHash === undefined ? { name: plugin } : { name: plugin, base: baseHash },
    );
  }

  /** startedPlugins returns the plugins whose host has started, but whose adapter has not started yet. */
  get startedPlugins(): StartedPlugin[] {
    return [...this.#allHosts.values()].flatMap((host): StartedPlugin[] => {
      const { plugin, hash, awaitsAdapter = false } = host;
      return this.#liveAdapters.has(plugin) || this.#removedHosts.has(host)
        ? []
        : [{ name: plugin, hash, awaitsAdapter }];
    });
  }

  /** hasBase reports whether this document has a base, which is a host that can create hosts for further plugins. */
  get hasBase(): boolean {
    return this.#baseHostPort !== undefined;
  }

  findLiveHost(plugin: string): Host | undefined {
    return this.#liveHosts.get(plugin);
  }

  /** findHost returns the host of a plugin, even if the host has no adapter. */
  findHost(plugin: string): Host | undefined {
    return this.#allHosts.get(plugin);
  }

  addHost(host: Host): void {
    this.#allHosts.set(host.plugin, host);
    if (this.#isDocumentParsed) host.sendText('["begin"]');
  }

  setBaseHostPort(baseHostPort: BaseHostPort): void {
    this.#baseHostPort = baseHostPort;
  }

  /** receiveFromHost returns false for a message about a call. */
  receiveFromHost(host: Host, op: string, messageBody: string): boolean {
    if (!this.#isHostOperation(op)) return false;
    const isSwapMessage = op === 'armed' || op === 'renewed' || op === 'kept';
    if (isSwapMessage || !this.#removedHosts.has(host)) this.#hostHandlers[op](host, messageBody);
    return true;
  }

  receive(postedMessage: PluginMessage): void {
    routeMessage(this.#handlers, postedMessage.op, postedMessage, this.#allHosts.get(postedMessage.plugin));
  }

  /** onDocumentParsed is called on DOMContentLoaded, and starts the adapters that wait for the parsed document. */
  onDocumentParsed(): void {
    this.#isDocumentParsed = true;
    for (const host of this.#allHosts.values()) if (!this.#removedHosts.has(host)) host.sendText('["begin"]');
    this.#readinessProbing.onDocumentLoaded();
  }

  /** onDocumentLoaded starts a readiness check of each adapter that is not ready. */
  onDocumentLoaded(): void {
    this.#readinessProbing.onDocumentLoaded();
  }

  onUrlChanged(): void {
    this.#readinessProbing.onUrlChanged();
  }

  onVisibilityChanged(): void {
    this.#readinessProbing.onVisibilityChanged();
    this.#wakeRequests.onVisibilityChanged();
  }

  /** The method `wakeHosts` notifies the hosts of the document whose timers are due. */
  wakeHosts(): void {
    this.#wakeRequests.wake();
  }

  onConnected(): void {
    this.#logs.flush();
    this.#wakeRequests.onPortConnected();
  }

  flush(): void {
    this.#logs.flush();
  }

  readonly #handlers: PortHandlers<PluginMessage, [host: Host | undefined]> = {
    settings: ({ settings }, host) => host?.sendText(JSON.stringify(['settings', settings])),
    probe: (_, host) => host?.sendText('["probe"]'),
    prepareHost: ({ nonce, hash, options }, host) => {
      if (host) host.sendText(JSON.stringify(['renew', nonce, hash]));
      else this.#baseHostPort?.sendText(JSON.stringify(['host', options, nonce]));
    },
    awaitLateHost: ({ plugin, nonce, hash }, host) => {
      if (host) {
        host.sendText(JSON.stringify(['renew', nonce, hash]));
        return;
      }
      this.#hostWaitCancelers.get(plugin)?.();
      this.#hostWaitCancelers.set(plugin, this.#options.awaitLateHost(plugin, nonce));
      this.#options.post({ op: 'entryPointReady', plugin, nonce, usesBase: false, isHostLate: true });
    },
    removePlugin: ({ plugin }) => this.#removePlugin(plugin),
  };

  readonly #hostHandlers: Readonly<Record<HostOperation, (host: Host, messageBody: string) => void>> = {
    ready: (host) => this.#addLiveAdapter(host, host.hash),
    broken: (host, adapterProblem) => this.#addLiveAdapter(host, host.hash, adapterProblem),
    armed: ({ plugin, usesBase = false }, nonce) =>
      this.#options.post({ op: 'entryPointReady', plugin, nonce, usesBase }),
    renewed: (host, hash) => {
      this.#removedHosts.delete(host);
      this.#addLiveAdapter(host, hash);
      this.#options.endSwap(host);
      this.#options.post({ op: 'adapterReplaced', plugin: host.plugin, hash });
    },
    kept: (host, adapterProblem) => {
      const { findPendingAdapterHash: getPendingHash, endSwap, post: postToWorker } = this.#options;
      // If a host has no older adapter and its new adapter does not start, the plugin counts as failed in the document.
      if (this.#removedHosts.delete(host))
        this.#addLiveAdapter(host, getPendingHash(host) ?? host.hash, adapterProblem);
      endSwap(host);
      postToWorker({
        op: 'adapterReplaced',
        plugin: host.plugin,
        hash: this.#liveAdapters.get(host.plugin)?.hash ?? host.hash,
        problem: adapterProblem,
      });
    },
    s: (host, readinessFlag) => this.#setReady(host, readinessFlag === '1'),
    l: ({ plugin }, messageBody) => {
      const [count = '', droppedCountText = ''] = messageBody.split(' ', 2);
      this.#logs.add(
        plugin,
        Number(count),
        Number(droppedCountText),
        messageBody.slice(count.length + droppedCountText.length + 2),
      );
    },
    w: (host, ms) => this.#wakeRequests.setTimer(host, Number(ms)),
  };

  #isHostOperation(op: string): op is HostOperation {
    return Object.hasOwn(this.#hostHandlers, op);
  }

  #probeAdapters(mustProbe: (liveAdapter: LiveAdapter) => boolean): void {
    for (const [plugin, host] of this.#liveHosts) {
      const liveAdapter = this.#liveAdapters.get(plugin);
      if (liveAdapter && mustProbe(liveAdapter)) host.sendText('["probe"]');
    }
  }

  #addLiveAdapter(host: Host, hash: string, adapterProblem?: string): void {
    const liveAdapter: LiveAdapter = { name: host.plugin, hash };
    if (host.base !== undefined) liveAdapter.base = host.base;
    if (adapterProblem !== undefined) liveAdapter.problem = adapterProblem;
    this.#liveHosts.set(host.plugin, host);
    this.#liveAdapters.set(host.plugin, liveAdapter);
    this.#options.onLiveAdaptersChanged();
    if (!this.#isDocumentParsed || adapterProblem !== undefined) return;
    host.sendText('["probe"]');
    this.#readinessProbing.onReadinessChanged();
  }

  #removePlugin(plugin: string): void {
    const host = this.#allHosts.get(plugin);
    if (!host || this.#removedHosts.has(host)) return;
    host.sendText('["remove"]');
    this.#removedHosts.add(host);
    this.#liveHosts.delete(plugin);
    this.#options.endSwap(host);
    if (this.#liveAdapters.delete(plugin)) this.#options.onLiveAdaptersChanged();
  }

  #setReady({ plugin }: Host, isReady: boolean): void {
    const liveAdapter = this.#liveAdapters.get(plugin);
    if (!liveAdapter) return;
    liveAdapter.ready = isReady;
    this.#options.post({ op: 'ready', plugin, ready: isReady });
    this.#readinessProbing.onReadinessChanged();
  }
}

function isWorking(liveAdapter: LiveAdapter): boolean {
  return liveAdapter.problem === undefined;
}

function isNotReadyYet(liveAdapter: LiveAdapter): boolean {
  return isWorking(liveAdapter) && liveAdapter.ready !== true;
}
