// A page without a browser: a realm of its own with the few DOM classes that a
// host needs (testdata/realm.js), and a stand-in for the bridge. Everything
// that happens in the realm can be seen from here.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { buildSync } from 'esbuild';
import { ACCEPTED, DOWN, HANDSHAKE, OFFER, UP } from '../src/handshake.ts';
import { declare } from '../src/worker/doors.ts';

type Listener = (event: object) => void;

/** HostPort is the bridge's end of one host. */
export interface HostPort {
  readonly plugin: string;
  readonly hash: string;
  /** received is all that the host has received, oldest first, but for whether it is ready. */
  readonly received: string[];
  /** readiness is what it has received of that. */
  readonly readiness: string[];
  send(...parts: unknown[]): void;
}

/** ScriptOptions are what else a plugin's script says. */
export interface ScriptOptions {
  readonly settings?: object;
  readonly start?: 'now' | 'dom';
  readonly frames?: boolean;
  /** door is the name of the constant that keeps the host's door; default none. */
  readonly door?: string;
  readonly preScript?: string;
}

/** PageOptions say where a page is. */
export interface PageOptions {
  /** host is that of its location; default "127.0.0.1:8000". */
  readonly host?: string;
  /** framed tells that it is in a frame. */
  readonly framed?: boolean;
}

/** Realm is one page. */
export interface Realm {
  /** run evaluates a script in the page and returns its value. */
  run(code: string): unknown;
  /** start runs a plugin's adapter, as the registered script does. */
  start(plugin: string, hash: string, adapter: string, script?: ScriptOptions): void;
  /** startBase starts the base, whose door is kept in the constant named door. */
  startBase(door: string): void;
  /** startLate starts a plugin whose bridge waits for it in an event of the type meet. */
  startLate(plugin: string, adapter: string, meet: string): void;
  /** bridge does what the bridge does at document_start, and returns the ports it has then. */
  bridge(): HostPort[];
  /** ports are all ports that were offered to the bridge. */
  readonly ports: HostPort[];
  /** addContent puts the first child into the document, as the parser does before any script of the page. */
  addContent(): void;
  /** dispatch sends an event to the document, as a page could. */
  dispatch(type: string, init?: { data?: unknown; ports?: unknown[] }): void;
  /** task runs what waits in message channels, as the end of a task does. */
  task(): void;
  /** idle waits until all microtasks are done. */
  idle(): Promise<void>;
}

const folder = new URL('../testdata/', import.meta.url);
const realmCode = readFileSync(new URL('realm.js', folder), 'utf8');
/** hostileCode is the script of a hostile page. */
export const hostileCode = readFileSync(new URL('hostile.js', folder), 'utf8');
/** builtIns are the names that the server has plugins' code get as variables. */
export const builtIns = [
  ...readFileSync(new URL('../src/host/globals.ts', import.meta.url), 'utf8').matchAll(/^ {2}'(\w+)',$/gm),
].map((match) => match[1] ?? '');
const hostCode = buildSync({
  entryPoints: [new URL('../src/host/host.ts', import.meta.url).pathname],
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'host',
  target: 'es2022',
}).outputFiles[0]?.text;

/** makeRealm returns a page whose document has no content yet. */
export function makeRealm(page: PageOptions = {}): Realm {
  const listeners = new WeakMap<object, Map<string, Listener[]>>();
  const slots = new WeakMap<object, unknown[]>();
  const posted: (() => void)[] = [];
  const observers: { callback: () => void; on: boolean }[] = [];
  const realm = { content: false, loading: true };
  const context = vm.createContext({ console });

  const slot = (object: object, index: number): unknown => slots.get(object)?.[index];
  const dispatch = (target: object, event: object): boolean => {
    slots.get(event)?.splice(3, 1, target);
    const before: unknown = Reflect.get(context, 'event');
    for (const listener of [...(listeners.get(target)?.get(String(slot(event, 0))) ?? [])]) {
      Reflect.set(context, 'event', event);
      listener(event);
    }
    Reflect.set(context, 'event', before);
    return true;
  };
  const add = (target: object, type: string, listener: Listener) => {
    const all = listeners.get(target) ?? new Map<string, Listener[]>();
    listeners.set(target, all);
    all.set(type, [...(all.get(type) ?? []), listener]);
  };
  const remove = (target: object, type: string, listener: Listener) => {
    const all = listeners.get(target);
    all?.set(
      type,
      (all.get(type) ?? []).filter((l) => l !== listener),
    );
  };
  const initEvent = (event: object, type: string, init?: { data?: unknown; ports?: unknown[] }) =>
    slots.set(event, [type, init?.data, init?.ports ?? [], undefined]);
  const root = {};

  const outer = {
    add,
    remove,
    dispatch,
    initEvent,
    eventType: (event: object) => slot(event, 0),
    eventData: (event: object) => slot(event, 1),
    eventPorts: (event: object) => slot(event, 2),
    eventTarget: (event: object) => slot(event, 3),
    makeChannel: (channel: object, Port: new () => object) => {
      const ports = [new Port(), new Port()];
      slots.set(channel, ports);
      ports.forEach((port, i) => {
        slots.set(port, [ports[1 - i]]);
      });
    },
    port: slot,
    post: (port: object, data: unknown, MessageEvent: new (type: string, init: object) => object) => {
      const other = slot(port, 0);
      posted.push(() => {
        if (typeof other === 'object' && other) dispatch(other, new MessageEvent('message', { data }));
      });
    },
    firstChild: (node: object) => (node === root && realm.content ? {} : null),
    documentElement: () => root,
    readyState: () => (realm.loading ? 'loading' : 'interactive'),
    makeObserver: (observer: object, callback: () => void) => slots.set(observer, [{ callback, on: false }]),
    observe: (observer: object) => {
      const entry = slot(observer, 0);
      if (isObserver(entry)) {
        entry.on = true;
        observers.push(entry);
      }
    },
    disconnect: (observer: object) => {
      const entry = slot(observer, 0);
      if (isObserver(entry)) entry.on = false;
    },
    makeController: (controller: object, Signal: new () => object) => {
      const signal = new Signal();
      slots.set(controller, [signal]);
      slots.set(signal, [false, undefined]);
    },
    signal: (controller: object) => slot(controller, 0),
    aborted: (signal: object) => slot(signal, 0),
    reason: (signal: object) => slot(signal, 1),
    abort: (controller: object, reason: unknown, Event: new (type: string) => object) => {
      const signal = slot(controller, 0);
      if (typeof signal !== 'object' || !signal || slot(signal, 0)) return;
      slots.set(signal, [true, reason]);
      dispatch(signal, new Event('abort'));
    },
    makeException: (exception: object, message: string, name: string) => slots.set(exception, [message, name]),
    exception: (exception: object, index: number) => {
      if (!slots.has(exception)) throw new TypeError('Illegal invocation');
      return slot(exception, index);
    },
    framed: () => page.framed === true,
    here: () => page.host ?? '127.0.0.1:8000',
    makeUrl: (url: object, text: string) => slots.set(url, [new URL(text).host, new URL(text).href]),
    href: (url: object) => slot(url, 1),
    host: (url: object) => slot(url, 0),
    utf8: (text: string) => [...Buffer.from(text)],
    now: () => Date.now(), // which a test can move
    setTimeout: (work: () => void, ms: number) => setTimeout(work, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  };
  const define: unknown = vm.runInContext(realmCode, context);
  if (typeof define !== 'function' || hostCode === undefined) throw new Error('the realm can not be made');
  define(outer);
  const doc: object = vm.runInContext('document', context);

  const ports: HostPort[] = [];
  const event = (type: string, init?: { data?: unknown; ports?: unknown[] }) => {
    const made = {};
    initEvent(made, type, init);
    return made;
  };
  const portsOf = (message: object): unknown[] => {
    const given = slot(message, 2);
    return Array.isArray(given) ? given : [];
  };
  const take = (offer: object) => {
    const given = slot(offer, 2);
    const [plugin, hash]: string[] = JSON.parse(String(slot(offer, 1)));
    const port: unknown = Array.isArray(given) ? given[0] : undefined;
    if (typeof port !== 'object' || !port) throw new Error('an offer without a port');
    const base = plugin === '';
    const received: string[] = [];
    const readiness: string[] = [];
    add(port, UP, (message) => {
      const text = String(slot(message, 1));
      if (base && text.startsWith('host ')) {
        take(event('host', { data: text.slice(5), ports: portsOf(message) }));
        return;
      }
      (text.startsWith('s ') ? readiness : received).push(text);
    });
    const send = (...parts: unknown[]) => void dispatch(port, event(DOWN, { data: JSON.stringify(parts) }));
    ports.push({ plugin: plugin ?? '', hash: hash ?? '', received, readiness, send });
    dispatch(port, event(ACCEPTED));
  };

  return {
    ports,
    run: (code) => vm.runInContext(code, context),
    start: (plugin, hash, adapter, { preScript, door, ...more } = {}) => {
      const code = (text: string) =>
        `function ({${builtIns.join()}}) { return function (globalThis, window, self) {\n${text}\n}; }`;
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash, start: 'now', ...more }));
      const args = `${options}, ${code(adapter)}${preScript === undefined ? '' : `, ${code(preScript)}`}`;
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(door === undefined ? expression : declare(door, expression), context);
    },
    startBase: (door) => {
      const args = JSON.stringify(JSON.stringify({ frames: false }));
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(declare(door, expression), context);
    },
    startLate: (plugin, adapter, meet) => {
      add(doc, meet, take);
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash: 'h', start: 'now', meet }));
      const args = `${options}, function ({${builtIns.join()}}) { return function (globalThis, window, self) {\n${adapter}\n}; }`;
      vm.runInContext(`(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`, context);
    },
    bridge: () => {
      add(doc, OFFER, take);
      dispatch(doc, event(HANDSHAKE));
      return ports;
    },
    addContent: () => {
      realm.content = true;
      for (const observer of observers) if (observer.on) observer.callback();
    },
    dispatch: (type, init) => void dispatch(doc, event(type, init)),
    task: () => {
      for (const work of posted.splice(0)) work();
    },
    idle: async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

function isObserver(value: unknown): value is { callback: () => void; on: boolean } {
  return typeof value === 'object' && value !== null && 'callback' in value;
}

/** adapter returns the code of an adapter that registers as plugin, with tools given as JavaScript. */
export function adapter(plugin: string, tools: string, isReady = '() => Promise.resolve(true)'): string {
  return `
    const adapter = Object.freeze({ isReady: ${isReady}, tools: Object.freeze([${tools}].map((t) => Object.freeze(t))) });
    globalThis.__openTabs.adapters = { ${JSON.stringify(plugin)}: adapter };`;
}
