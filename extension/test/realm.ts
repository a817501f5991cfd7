// Simulates a page for unit tests of the host: a separate JavaScript realm with the DOM classes that a host needs
// (testdata/realm.js), and a fake bridge.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { buildSync } from 'esbuild';
import { ACCEPTED_EVENT, DOWN_MESSAGE, HANDSHAKE_EVENT, OFFER_EVENT, UP_MESSAGE } from '../src/handshake.ts';
import { makeConstantScript } from '../src/worker/delivery/entry-points.ts';

type Listener = (event: object) => void;

export interface HostPort {
  readonly plugin: string;
  readonly hash: string;
  /**
   * The field `received` contains the messages from the host, oldest first, except those about the adapter's readiness.
   */
  readonly received: string[];
  /** The field `readiness` contains the messages from the host about the adapter's readiness, oldest first. */
  readonly readiness: string[];
  send(...parts: unknown[]): void;
  sendText(text: string): void;
}

export interface ScriptOptions {
  readonly settings?: object;
  readonly start?: 'now' | 'dom';
  readonly frames?: boolean;
  /** entryPoint is the name of the constant that contains the host's entry point. */
  readonly entryPoint?: string;
  readonly preScript?: string;
}

export interface PageOptions {
  readonly host?: string;
  readonly framed?: boolean;
}

export interface Realm {
  run(code: string): unknown;
  start(plugin: string, hash: string, adapter: string, script?: ScriptOptions): void;
  /** entryPoint is the name of the constant that contains the entry point of the base script. */
  startBase(entryPoint: string): void;
  /** startLate starts a late plugin, whose host starts after the bridge. */
  startLate(plugin: string, adapter: string, meet: string): void;
  bridge(): HostPort[];
  readonly ports: HostPort[];
  /**
   * addContent adds the first element to the document, as Chrome's HTML parser does before any script of the page runs.
   */
  addContent(): void;
  /** The method `dispatch` dispatches an event on the document, as a script of the page could. */
  dispatch(type: string, init?: { data?: unknown; ports?: unknown[] }): void;
  /** runNextTask delivers the messages that are queued in message channels, as a browser does between two tasks. */
  runNextTask(): void;
  waitUntilIdle(): Promise<void>;
}

const folder = new URL('../testdata/', import.meta.url);
const realmCode = readFileSync(new URL('realm.js', folder), 'utf8');
export const hostileCode = readFileSync(new URL('hostile.js', folder), 'utf8');
/** builtIns lists the names of the JavaScript built-ins that the server passes to plugin code as variables. */
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
    encodeInto: (text: string, bytes: Uint8Array) => new TextEncoder().encodeInto(text, bytes),
    now: () => Date.now(), // Tests can mock Date.now, so the real function is stored.
    setTimeout: (work: () => void, ms: number) => setTimeout(work, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  };
  const define: unknown = vm.runInContext(realmCode, context);
  if (typeof define !== 'function' || hostCode === undefined) throw new Error('cannot create the realm');
  define(outer);
  const doc: object = vm.runInContext('document', context);

  const ports: HostPort[] = [];
  const event = (type: string, init?: { data?: unknown; ports?: unknown[] }) => {
    const made = {};
    initEvent(made, type, init);
    return made;
  };
  const portsOf = (message: object): unknown[] => {
    const found = slot(message, 2);
    return Array.isArray(found) ? found : [];
  };
  const acceptOffer = (offer: object) => {
    const [port] = portsOf(offer);
    const [plugin, hash]: string[] = JSON.parse(String(slot(offer, 1)));
    if (typeof port !== 'object' || !port) throw new Error('an offer without a port');
    const base = plugin === '';
    const received: string[] = [];
    const readiness: string[] = [];
    add(port, UP_MESSAGE, (message) => {
      const text = String(slot(message, 1));
      if (base && text.startsWith('host ')) {
        acceptOffer(event('host', { data: text.slice(5), ports: portsOf(message) }));
        return;
      }
      (text.startsWith('s ') ? readiness : received).push(text);
    });
    const sendText = (text: string) => void dispatch(port, event(DOWN_MESSAGE, { data: text }));
    const send = (...parts: unknown[]) => sendText(JSON.stringify(parts));
    ports.push({ plugin: plugin ?? '', hash: hash ?? '', received, readiness, send, sendText });
    dispatch(port, event(ACCEPTED_EVENT));
  };

  return {
    ports,
    run: (code) => vm.runInContext(code, context),
    start: (plugin, hash, adapter, { preScript, entryPoint, ...more } = {}) => {
      const code = (text: string) =>
        `function ({${builtIns.join()}}) { arguments[1]?.(new Error()); return function (globalThis, window, self) {\n${text}\n}; }`;
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash, start: 'now', ...more }));
      const args = `${options}, ${code(adapter)}${preScript === undefined ? '' : `, ${code(preScript)}`}`;
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(entryPoint === undefined ? expression : makeConstantScript(entryPoint, expression), context);
    },
    startBase: (entryPoint) => {
      const args = JSON.stringify(JSON.stringify({ frames: false }));
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(makeConstantScript(entryPoint, expression), context);
    },
    startLate: (plugin, adapter, meet) => {
      add(doc, meet, acceptOffer);
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash: 'h', start: 'now', meet }));
      const args = `${options}, function ({${builtIns.join()}}) { arguments[1]?.(new Error()); return function (globalThis, window, self) {\n${adapter}\n}; }`;
      vm.runInContext(`(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`, context);
    },
    bridge: () => {
      add(doc, OFFER_EVENT, acceptOffer);
      dispatch(doc, event(HANDSHAKE_EVENT));
      return ports;
    },
    addContent: () => {
      realm.content = true;
      for (const observer of observers) if (observer.on) observer.callback();
    },
    dispatch: (type, init) => void dispatch(doc, event(type, init)),
    runNextTask: () => {
      for (const work of posted.splice(0)) work();
    },
    waitUntilIdle: async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

function isObserver(value: unknown): value is { callback: () => void; on: boolean } {
  return typeof value === 'object' && value !== null && 'callback' in value;
}

/** `tools` is the JavaScript of the adapter's list of tools. */
export function makeAdapterCode(plugin: string, tools: string, isReady = '() => Promise.resolve(true)'): string {
  return `
    const adapter = Object.freeze({ isReady: ${isReady}, tools: Object.freeze([${tools}].map((t) => Object.freeze(t))) });
    globalThis.__openTabs.adapters = { ${JSON.stringify(plugin)}: adapter };`;
}
