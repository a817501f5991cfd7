import type { FromBridge, Live, Started, ToBridge, Vacant } from '../port-message.ts';
import { type PortHandlers, route } from '../port-router.ts';
import type { Base, Host } from './hosts.ts';
import { makeLogs } from './logs.ts';
import { makeProbing } from './probing.ts';
import { makeWakes } from './wakes.ts';

/** PluginMessage is a message of the worker to one plugin, except 'renew', which concerns calls too. */
export type PluginMessage = Extract<ToBridge, { op: 'settings' | 'probe' | 'host' | 'meet' | 'remove' }>;

export interface PluginsOptions {
  /** post sends a message to the worker; false means that there is no port. */
  post(message: FromBridge): boolean;
  /** changed reports that other plugins are live, or with another hash. */
  changed(): void;
  /** visible reports whether a person may see the document. */
  visible(): boolean;
  /** hashOf returns the hash of the adapter that a host is to take; undefined if it waits for none. */
  hashOf(host: Host): string | undefined;
  /** swapped is called when a host is done with a new adapter, or has lost the one it had. */
  swapped(host: Host): void;
  /** meet waits for the host of a plugin that starts late, in an event of this type, and returns a function that ends the wait. */
  meet(plugin: string, type: string): () => void;
}

/** Plugins are those of this document: which are live, whether they are ready, and what they log. */
export interface Plugins {
  /** live is what the worker is told of each. */
  readonly live: Live[];
  /** vacant are those whose adapter was removed. */
  readonly vacant: Vacant[];
  /** started are the hosts of plugins that are not live yet; based reports whether others can come. */
  readonly started: Started[];
  readonly based: boolean;
  /** host returns the host of a plugin that is live. */
  host(plugin: string): Host | undefined;
  /** anyHost returns the host of a plugin, also one without an adapter. */
  anyHost(plugin: string): Host | undefined;
  /** took notes a host that may have to wait for the document. */
  took(host: Host): void;
  /** tookBase notes the base, which makes hosts for plugins that come later. */
  tookBase(base: Base): void;
  /** said takes a message of a host that is about no call: op, and the rest of it. False means that it is about one. */
  said(host: Host, op: string, rest: string): boolean;
  /** receive handles a message of the worker. */
  receive(message: PluginMessage): void;
  /** parsed reports that the document is parsed, loaded that all of it is there. */
  parsed(): void;
  loaded(): void;
  /** moved reports that the page went to another address without a new document. */
  moved(): void;
  /** shown reports that the document may be visible or hidden now. */
  shown(): void;
  /** woken reports that a timer of a host is due. */
  woken(): void;
  /** connected reports that there is a new port. */
  connected(): void;
  /** flush sends what was logged, for a new port and a document that is left. */
  flush(): void;
}

/** OfPlugins are the operations of hosts that are about no call (handshake.ts). */
const OfPlugins = new Set(['ready', 'broken', 'armed', 'renewed', 'kept', 's', 'l', 'w']);

/** makePlugins returns the plugins of a document that has just begun. */
export function makePlugins({ post, changed, visible, hashOf, swapped, meet }: PluginsOptions): Plugins {
  const taken = new Map<string, Host>();
  const hosts = new Map<string, Host>();
  const live = new Map<string, Live>();
  const removed = new Set<Host>();
  /** meetings end the waits for hosts that start late: only the host of the newest 'meet' of a plugin is taken. */
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
    probe: (all) => each('["probe"]', all ? works : waits),
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
    const host = taken.get(plugin);
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
    anyHost: (plugin) => taken.get(plugin),
    get started() {
      return [...taken.values()].flatMap((host): Started[] => {
        const { plugin, hash, empty = false } = host;
        return live.has(plugin) || removed.has(host) ? [] : [{ name: plugin, hash, empty }];
      });
    },
    get based() {
      return base !== undefined;
    },
    took: (host) => {
      taken.set(host.plugin, host);
      if (parsed) host.send('["begin"]');
    },
    tookBase: (found) => {
      base = found;
    },
    said: (host, op, rest) => {
      if (!OfPlugins.has(op)) return false;
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
          // Without an older adapter the plugin has failed here.
          if (removed.delete(host)) introduce(host, hashOf(host) ?? host.hash, rest);
          swapped(host);
          post({ op: 'renewed', plugin, hash: live.get(plugin)?.hash ?? host.hash, problem: rest });
          return true;
        case 'w':
          wakes.announced(host, Number(rest));
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
    receive: (message) => route(handlers, message.op, message, taken.get(message.plugin)),
    parsed: () => {
      parsed = true;
      for (const host of taken.values()) if (!removed.has(host)) host.send('["begin"]');
      probing.loaded();
    },
    loaded: () => probing.loaded(),
    moved: () => probing.moved(),
    shown: () => {
      probing.shown();
      wakes.shown();
    },
    woken: wakes.woken,
    connected: () => {
      logs.flush();
      wakes.connected();
    },
    flush: () => logs.flush(),
  };
}
