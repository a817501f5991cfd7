// Simulates a page for unit tests of the host: a separate JavaScript realm with the DOM classes that a host needs
// (testdata/realm.js), and a fake bridge.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { buildSync } from 'esbuild';
import {
  BRIDGE_TO_HOST_EVENT,
  HANDSHAKE_EVENT,
  HOST_OFFER_EVENT,
  HOST_TO_BRIDGE_EVENT,
  OFFER_ACCEPTED_EVENT,
} from '../src/handshake.ts';
import { makeConstantScript } from '../src/worker/delivery/entry-points.ts';

type Listener = (event: object) => void;

export interface HostPort {
  readonly plugin: string;
  readonly hash: string;
  /** receivedTexts contains the messages from the host, oldest first, except messages about the adapter's readiness. */
  readonly receivedTexts: string[];
  /** readinessReports contains the messages from the host about the adapter's readiness, oldest first. */
  readonly readinessReports: string[];
  sendParts(...parts: unknown[]): void;
  sendText(sentText: string): void;
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
  readonly isFramed?: boolean;
}

export interface Realm {
  run(code: string): unknown;
  start(plugin: string, hash: string, adapter: string, script?: ScriptOptions): void;
  /** entryPoint is the name of the constant that contains the entry point of the base script. */
  startBase(entryPoint: string): void;
  /** startAfterLoad starts a late plugin, whose host starts after the bridge. */
  startAfterLoad(plugin: string, adapter: string, handshakeEvent: string): void;
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
  const slotsByObject = new WeakMap<object, unknown[]>();
  const postedTasks: (() => void)[] = [];
  const mutationObservers: { callback: () => void; on: boolean }[] = [];
  const realm = { content: false, loading: true };
  const context = vm.createContext({ console });

  const readSlot = (object: object, index: number): unknown => slotsByObject.get(object)?.[index];
  const dispatchEventTo = (target: object, event: object): boolean => {
    slotsByObject.get(event)?.splice(3, 1, target);
    const previousEvent: unknown = Reflect.get(context, 'event');
    for (const listener of [...(listeners.get(target)?.get(String(readSlot(event, 0))) ?? [])]) {
      Reflect.set(context, 'event', event);
      listener(event);
    }
    Reflect.set(context, 'event', previousEvent);
    return true;
  };
  const addListener = (target: object, type: string, listener: Listener) => {
    const listenersOfTarget = listeners.get(target) ?? new Map<string, Listener[]>();
    listeners.set(target, listenersOfTarget);
    listenersOfTarget.set(type, [...(listenersOfTarget.get(type) ?? []), listener]);
  };
  const removeListener = (target: object, type: string, listener: Listener) => {
    const listenersOfTarget = listeners.get(target);
    listenersOfTarget?.set(
      type,
      (listenersOfTarget.get(type) ?? []).filter((l) => l !== listener),
    );
  };
  const initEvent = (event: object, type: string, init?: { data?: unknown; ports?: unknown[] }) =>
    slotsByObject.set(event, [type, init?.data, init?.ports ?? [], undefined]);
  const rootElement = {};

  const outerWindow = {
    add: addListener,
    remove: removeListener,
    dispatch: dispatchEventTo,
    initEvent,
    eventType: (event: object) => readSlot(event, 0),
    eventData: (event: object) => readSlot(event, 1),
    eventPorts: (event: object) => readSlot(event, 2),
    eventTarget: (event: object) => readSlot(event, 3),
    makeChannel: (channel: object, Port: new () => object) => {
      const ports = [new Port(), new Port()];
      slotsByObject.set(channel, ports);
      ports.forEach((port, i) => {
        slotsByObject.set(port, [ports[1 - i]]);
      });
    },
    port: readSlot,
    post: (port: object, data: unknown, MessageEvent: new (type: string, init: object) => object) => {
      const peerPort = readSlot(port, 0);
      postedTasks.push(() => {
        if (typeof peerPort === 'object' && peerPort) dispatchEventTo(peerPort, new MessageEvent('message', { data }));
      });
    },
    firstChild: (node: object) => (node === rootElement && realm.content ? {} : null),
    documentElement: () => rootElement,
    readyState: () => (realm.loading ? 'loading' : 'interactive'),
    makeObserver: (mutationObserver: object, callback: () => void) =>
      slotsByObject.set(mutationObserver, [{ callback, on: false }]),
    observe: (mutationObserver: object) => {
      const entry = readSlot(mutationObserver, 0);
      if (isObserver(entry)) {
        entry.on = true;
        mutationObservers.push(entry);
      }
    },
    disconnect: (mutationObserver: object) => {
      const entry = readSlot(mutationObserver, 0);
      if (isObserver(entry)) entry.on = false;
    },
    makeController: (controller: object, Signal: new () => object) => {
      const signal = new Signal();
      slotsByObject.set(controller, [signal]);
      slotsByObject.set(signal, [false, undefined]);
    },
    signal: (controller: object) => readSlot(controller, 0),
    aborted: (signal: object) => readSlot(signal, 0),
    reason: (signal: object) => readSlot(signal, 1),
    abort: (controller: object, reason: unknown, Event: new (type: string) => object) => {
      const signal = readSlot(controller, 0);
      if (typeof signal !== 'object' || !signal || readSlot(signal, 0)) return;
      slotsByObject.set(signal, [true, reason]);
      dispatchEventTo(signal, new Event('abort'));
    },
    makeException: (exception: object, messageText: string, name: string) =>
      slotsByObject.set(exception, [messageText, name]),
    exception: (exception: object, index: number) => {
      if (!slotsByObject.has(exception)) throw new TypeError('Illegal invocation');
      return readSlot(exception, index);
    },
    framed: () => page.isFramed === true,
    here: () => page.host ?? '127.0.0.1:8000',
    makeUrl: (url: object, sentText: string) =>
      slotsByObject.set(url, [new URL(sentText).host, new URL(sentText).href]),
    href: (url: object) => readSlot(url, 1),
    host: (url: object) => readSlot(url, 0),
    encodeInto: (sentText: string, bytes: Uint8Array) => new TextEncoder().encodeInto(sentText, bytes),
    now: () => Date.now(), // tests can mock Date.now
    setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  };
  const defineRealm: unknown = vm.runInContext(realmCode, context);
  if (typeof defineRealm !== 'function' || hostCode === undefined) throw new Error('cannot create the realm');
  defineRealm(outerWindow);
  const doc: object = vm.runInContext('document', context);

  const ports: HostPort[] = [];
  const event = (type: string, init?: { data?: unknown; ports?: unknown[] }) => {
    const newEvent = {};
    initEvent(newEvent, type, init);
    return newEvent;
  };
  const readPorts = (messageText: object): unknown[] => {
    const portList = readSlot(messageText, 2);
    return Array.isArray(portList) ? portList : [];
  };
  const acceptHostOffer = (hostOffer: object) => {
    const [port] = readPorts(hostOffer);
    const [plugin, hash]: string[] = JSON.parse(String(readSlot(hostOffer, 1)));
    if (typeof port !== 'object' || !port) throw new Error('the offer of the host contains no port');
    const isBaseHost = plugin === '';
    const receivedTexts: string[] = [];
    const readinessReports: string[] = [];
    addListener(port, HOST_TO_BRIDGE_EVENT, (messageText) => {
      const sentText = String(readSlot(messageText, 1));
      if (isBaseHost && sentText.startsWith('host ')) {
        acceptHostOffer(event('host', { data: sentText.slice(5), ports: readPorts(messageText) }));
        return;
      }
      (sentText.startsWith('s ') ? readinessReports : receivedTexts).push(sentText);
    });
    const sendText = (sentText: string) => void dispatchEventTo(port, event(BRIDGE_TO_HOST_EVENT, { data: sentText }));
    const sendParts = (...parts: unknown[]) => sendText(JSON.stringify(parts));
    ports.push({ plugin: plugin ?? '', hash: hash ?? '', receivedTexts, readinessReports, sendParts, sendText });
    dispatchEventTo(port, event(OFFER_ACCEPTED_EVENT));
  };

  return {
    ports,
    run: (code) => vm.runInContext(code, context),
    start: (plugin, hash, adapter, { preScript, entryPoint, ...adapterOptions } = {}) => {
      const code = (sentText: string) =>
        `function ({${builtIns.join()}}) { arguments[1]?.(new Error()); return function (globalThis, window, self) {\n${sentText}\n}; }`;
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash, start: 'now', ...adapterOptions }));
      const args = `${options}, ${code(adapter)}${preScript === undefined ? '' : `, ${code(preScript)}`}`;
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(entryPoint === undefined ? expression : makeConstantScript(entryPoint, expression), context);
    },
    startBase: (entryPoint) => {
      const args = JSON.stringify(JSON.stringify({ frames: false }));
      const expression = `(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`;
      vm.runInContext(makeConstantScript(entryPoint, expression), context);
    },
    startAfterLoad: (plugin, adapter, handshakeEvent) => {
      addListener(doc, handshakeEvent, acceptHostOffer);
      const options = JSON.stringify(JSON.stringify({ name: plugin, hash: 'h', start: 'now', meet: handshakeEvent }));
      const args = `${options}, function ({${builtIns.join()}}) { arguments[1]?.(new Error()); return function (globalThis, window, self) {\n${adapter}\n}; }`;
      vm.runInContext(`(() => {\n'use strict';\n${hostCode}\nreturn host.start;\n})()(${args});`, context);
    },
    bridge: () => {
      addListener(doc, HOST_OFFER_EVENT, acceptHostOffer);
      dispatchEventTo(doc, event(HANDSHAKE_EVENT));
      return ports;
    },
    addContent: () => {
      realm.content = true;
      for (const mutationObserver of mutationObservers) if (mutationObserver.on) mutationObserver.callback();
    },
    dispatch: (type, init) => void dispatchEventTo(doc, event(type, init)),
    runNextTask: () => {
      for (const postedTask of postedTasks.splice(0)) postedTask();
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
