import type { FromBridge, Live, Started, ToBridge, Vacant } from '../port-message.ts';
import { type PortHandlers, route } from '../port-router.ts';
import type { Base, Host } from './hosts.ts';
import { makeLogs } from './logs.ts';
import { makeProbing } from './probing.ts';
import { makeWakes } from './wakes.ts';

/** PluginMessage is a message of the worker to one plugin, except 'renew', which concerns calls too. */
export type PluginMessage = Extract<ToBridge, { op: 'settings' | 'probe' | 'host' | 'meet' | 'remove' }>;

export interface PluginsOptions {
  /** post sends a message to the worker. It returns false without a port. */
  post(message: FromBridge): boolean;
  /** changed reports a change of the live plugins or their hashes. */
  changed(): void;
  /** visible reports whether the document may be visible to the user. */
  visible(): boolean;
  /** hashOf returns the hash of the adapter that a host waits for. Undefined if it waits for none. */
  hashOf(host: Host): string | undefined;
  /** swapped is called when a host has accepted or rejected a new adapter, or has lost its adapter. */
  swapped(host: Host): void;
  /** meet waits for the offer of a late host in an event of this type. It returns a function that ends the wait. */
  meet(plugin: string, type: string): () => void;
}

/** Plugins are the plugins of this document, with their hosts, readiness and logs. */
export interface Plugins {
  /** live are the live plugins, as reported to the worker. */
  readonly live: Live[];
  /** vacant are the plugins whose adapter was removed. */
  readonly vacant: Vacant[];
  /** started are the hosts of plugins that are not live yet. */
  readonly started: Started[];
  /** based reports whether the base is there, so that other hosts can follow. */
  readonly based: boolean;
  /** host returns the host of a live plugin. */
  host(plugin: string): Host | undefined;
  /** anyHost returns the host of a plugin, even without an adapter. */
  anyHost(plugin: string): Host | undefined;
  /** addHost adds a host. */
  addHost(host: Host): void;
  /** setBase stores the base, which creates hosts for plugins that arrive later. */
  setBase(base: Base): void;
  /** receiveFromHost handles a message of a host. It returns false if the message is about a call. */
  receiveFromHost(host: Host, op: string, rest: string): boolean;
  /** receive handles a message of the worker. */
  receive(message: PluginMessage): void;
  /** parsed reports that the document is parsed. */
  parsed(): void;
  /** loaded reports that the document is loaded. */
  loaded(): void;
  /** moved reports a new address of the same document. */
  moved(): void;
  /** shown reports a change of the visibility. */
  shown(): void;
  /** wake runs the timers that are due in the hosts. */
  wake(): void;
  /** connected reports a new port. */
  connected(): void;
  /** flush sends the waiting log entries. */
  flush(): void;
}

/** PluginOps are the operations of hosts that do not concern a call (handshake.ts). */
const PluginOps = new Set(['ready', 'broken', 'armed', 'renewed', 'kept', 's', 'l', 'w']);

/** makePlugins returns an empty Plugins for a new document. */
export function makePlugins({ post, changed, visible, hashOf, swapped, meet }: PluginsOptions): Plugins {
  /** all are the hosts by plugin, hosts those with a live adapter. */
  const all = new Map<string, Host>();
  const hosts = new Map<string, Host>();
  const live = new Map<string, Live>();
  const removed = new Set<Host>();
  /** meetings end the waits for late hosts: only the newest 'meet' of a plugin counts. */
  const meetings = new Map<string, () => void>();
  const logs = makeLogs(post);
  const wakes = makeWakes({ post, visible });
  let parsed = false;
  let base: Base | undefined;
  const each = (text: string, which: (entry: Live) => boolean) => {
    for (const [plugin, host] of hosts) {
      const entry = live.get(plugin);
      if (entry && which(entry)) host.send(text);
    }
  };
  const works = (entry: Live) => entry.problem === undefined;
  const waits = (entry: Live) => works(entry) && entry.ready !== true;
  const probing = makeProbing({
    probe: (isAll) => each('["probe"]', isAll ? works : waits),
    ready: () => ![...live.values()].some(waits),
    visible,
  });

  const introduce = (host: Host, hash: string, problem?: string) => {
    const entry: Live = { name: host.plugin, hash };
    if (host.base !== undefined) entry.base = host.base;
    if (problem !== undefined) entry.problem = problem;
    hosts.set(host.plugin, host);
    live.set(host.plugin, entry);
    changed();
    if (!parsed || problem !== undefined) return;
    host.send('["probe"]');
    probing.changed();
  };
  const remove = (plugin: string) => {
    const host = all.get(plugin);
    if (!host || removed.has(host)) return;
    host.send('["remove"]');
    removed.add(host);
    hosts.delete(plugin);
    swapped(host);
    if (live.delete(plugin)) changed();
  };
  const readiness = (host: Host, ready: boolean) => {
    const entry = live.get(host.plugin);
    if (!entry) return;
    entry.ready = ready;
    post({ op: 'ready', plugin: host.plugin, ready });
    probing.changed();
  };

  const handlers: PortHandlers<PluginMessage, [host: Host | undefined]> = {
    settings: ({ settings }, host) => host?.send(JSON.stringify(['settings', settings])),
    probe: (_, host) => host?.send('["probe"]'),
    host: ({ nonce, hash, options }, host) => {
      if (host) host.send(JSON.stringify(['renew', nonce, hash]));
      else base?.send(JSON.stringify(['host', options, nonce]));
    },
    meet: ({ plugin, nonce, hash }, host) => {
      if (host) {
        host.send(JSON.stringify(['renew', nonce, hash]));
        return;
      }
      meetings.get(plugin)?.();
      meetings.set(plugin, meet(plugin, nonce));
      post({ op: 'armed', plugin, nonce, based: false, late: true });
    },
    remove: ({ plugin }) => remove(plugin),
  };

  return {
    get live() {
      return [...live.values()];
    },
    get vacant() {
      return [...removed].map(({ plugin, base }) => (base === undefined ? { name: plugin } : { name: plugin, base }));
    },
    host: (plugin) => hosts.get(plugin),
    anyHost: (plugin) => all.get(plugin),
    get started() {
      return [...all.values()].flatMap((host): Started[] => {
        const { plugin, hash, empty = false } = host;
        return live.has(plugin) || removed.has(host) ? [] : [{ name: plugin, hash, empty }];
      });
    },
    get based() {
      return base !== undefined;
    },
    addHost: (host) => {
      all.set(host.plugin, host);
      if (parsed) host.send('["begin"]');
    },
    setBase: (made) => {
      base = made;
    },
    receiveFromHost: (host, op, rest) => {
      if (!PluginOps.has(op)) return false;
      const { plugin } = host;
      if (removed.has(host) && op !== 'armed' && op !== 'renewed' && op !== 'kept') return true;
      switch (op) {
        case 'ready':
          introduce(host, host.hash);
          return true;
        case 'broken':
          introduce(host, host.hash, rest);
          return true;
        case 'armed':
          post({ op: 'armed', plugin, nonce: rest, based: host.based === true });
          return true;
        case 'renewed':
          removed.delete(host);
          introduce(host, rest);
          swapped(host);
          post({ op: 'renewed', plugin, hash: rest });
          return true;
        case 'kept':
          // Without an older adapter, the plugin has failed in this document.
          if (removed.delete(host)) introduce(host, hashOf(host) ?? host.hash, rest);
          swapped(host);
          post({ op: 'renewed', plugin, hash: live.get(plugin)?.hash ?? host.hash, problem: rest });
          return true;
        case 'w':
          wakes.setTimer(host, Number(rest));
          return true;
        case 's':
          readiness(host, rest === '1');
          return true;
        case 'l': {
          const [count = '', dropped = ''] = rest.split(' ', 2);
          logs.add(plugin, Number(count), Number(dropped), rest.slice(count.length + dropped.length + 2));
          return true;
        }
        default:
          return true;
      }
    },
    receive: (message) => route(handlers, message.op, message, all.get(message.plugin)),
    parsed: () => {
      parsed = true;
      for (const host of all.values()) if (!removed.has(host)) host.send('["begin"]');
      probing.loaded();
    },
    loaded: () => probing.loaded(),
    moved: () => probing.moved(),
    shown: () => {
      probing.shown();
      wakes.shown();
    },
    wake: wakes.wake,
    connected: () => {
      logs.flush();
      wakes.connected();
    },
    flush: () => logs.flush(),
  };
}
