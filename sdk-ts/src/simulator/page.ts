import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import { Clock } from './clock.ts';
import { parserOf, windowOf } from './document.ts';
import { FakeTextDecoder, FakeTextEncoder, fakeAtob, fakeBtoa } from './encoding.ts';
import { channelsBy, FakeController, FakeDOMException, FakeEvent, FakeEventTarget, signalsBy } from './events.ts';
import { FakeBlob, FakeFormData, FakeHeaders, FakeResponse, FakeSite, type Routes } from './http.ts';
import { FakeStorage } from './storage.ts';
import { FakeURL, FakeURLSearchParams } from './url.ts';

/** What a page is before a test begins. */
export interface PageOptions {
  /** Where the tab is; `https://example.com/` if absent. */
  url?: string | undefined;
  /** The document; an empty one if absent. */
  html?: string | undefined;
  routes?: Routes | undefined;
  localStorage?: Readonly<Record<string, string>> | undefined;
  sessionStorage?: Readonly<Record<string, string>> | undefined;
  /** As `document.cookie` shows them. */
  cookies?: string | undefined;
  /** What the page's own scripts have put on `window`. */
  globals?: Readonly<Record<string, unknown>> | undefined;
}

/** A line that code in the page wrote to the console. */
export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

/** The one clock of the engine: pages come and go, time does not. */
export const clock = new Clock();

/** What the page of the current test shows of itself. */
export interface Page {
  readonly site: FakeSite;
  readonly console: readonly ConsoleLine[];
  url(): string;
  /** Runs once the page has begun to go elsewhere. */
  left(work: (to: string) => void): void;
}

/** The globals that an earlier page has put in place by `globals`. */
let ownGlobals: readonly string[] = [];

/** Gives a global to all code of the engine. */
function give(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** Installs what QuickJS has not and every page has. It is done once, before any other code runs. */
export function installPlatform(): void {
  give('setTimeout', (work: unknown, ms: unknown = 0, ...args: unknown[]) =>
    clock.set(() => call(work, args), Number(ms)),
  );
  give('setInterval', (work: unknown, ms: unknown = 0, ...args: unknown[]) =>
    clock.set(() => call(work, args), Number(ms), Number(ms) || 1),
  );
  const clear = (id: unknown) => clock.clear(id);
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) give(name, clear);
  give('requestAnimationFrame', (work: unknown) => clock.set(() => call(work, [clock.now]), 16));
  give('requestIdleCallback', (work: unknown) =>
    clock.set(() => call(work, [{ didTimeout: false, timeRemaining: () => 50 }]), 1),
  );
  give('queueMicrotask', (work: unknown) => void Promise.resolve().then(() => call(work, [])));
  give('structuredClone', (value: unknown) => clone(value));
  give('performance', { now: () => clock.now, timeOrigin: 0, mark: () => undefined, measure: () => undefined });
  give('crypto', { randomUUID: fakeUUID, getRandomValues: fillRandom });
  give('Date', dateBy(clock));
  const classes = {
    URL: FakeURL,
    URLSearchParams: FakeURLSearchParams,
    Headers: FakeHeaders,
    Response: FakeResponse,
    Blob: FakeBlob,
    FormData: FakeFormData,
    TextEncoder: FakeTextEncoder,
    TextDecoder: FakeTextDecoder,
    Event: FakeEvent,
    CustomEvent: FakeEvent,
    MessageEvent: FakeEvent,
    EventTarget: FakeEventTarget,
    DOMException: FakeDOMException,
    AbortController: FakeController,
    AbortSignal: signalsBy(clock),
    MessageChannel: channelsBy(clock),
    Storage: FakeStorage,
    atob: fakeAtob,
    btoa: fakeBtoa,
  };
  for (const [name, value] of Object.entries(classes)) give(name, value);
  for (const name of ['window', 'self', 'top', 'parent', 'frames']) give(name, globalThis);
  give('console', consoleTo([]));
}

/** Opens a page in place of the one before. */
export function openPage(options: PageOptions): Page {
  clock.forget();
  const lines: ConsoleLine[] = [];
  let at = new FakeURL(options.url ?? 'https://example.com/');
  const leaving: ((to: string) => void)[] = [];
  const go = (to: unknown) => {
    const next = new FakeURL(to, at.href);
    const sameDocument = next.href.split('#')[0] === at.href.split('#')[0] && next.hash !== '';
    at = next;
    if (sameDocument) tell('hashchange');
    else for (const work of leaving) work(next.href);
  };
  const site = new FakeSite(clock, options.routes ?? {}, () => at.href);
  const window = windowOf(options.html ?? '');
  for (const name of [
    'document',
    'Node',
    'Element',
    'HTMLElement',
    'MutationObserver',
    'NodeFilter',
    'DocumentFragment',
  ]) {
    give(name, window[name]);
  }
  give('DOMParser', parserOf(window));
  const target = new FakeEventTarget();
  const tell = (type: string) => target.dispatchEvent(new FakeEvent(type));
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    give(name, target[name].bind(target));
  give('postMessage', (data: unknown) => {
    clock.set(() => target.dispatchEvent(new FakeEvent('message', { data })), 0);
  });
  give(
    'location',
    locationOf(() => at, go),
  );
  give(
    'history',
    historyOf((to) => {
      at = new FakeURL(to ?? at.href, at.href);
    }),
  );
  describe(window.document, () => at.href, options.cookies ?? '');
  give('navigator', {
    userAgent: 'Mozilla/5.0 (opentabs plugin test)',
    language: 'en-US',
    languages: ['en-US'],
    onLine: true,
  });
  give('localStorage', new FakeStorage(options.localStorage));
  give('sessionStorage', new FakeStorage(options.sessionStorage));
  give('fetch', (input: unknown, init: unknown) => site.fetch(input, isBag(init) ? init : {}));
  give('origin', at.origin);
  give('console', consoleTo(lines));
  for (const name of ownGlobals) Reflect.deleteProperty(globalThis, name);
  ownGlobals = Object.keys(options.globals ?? {});
  for (const [name, value] of Object.entries(options.globals ?? {})) give(name, value);
  return { site, console: lines, url: () => at.href, left: (work) => void leaving.push(work) };
}

function call(work: unknown, args: readonly unknown[]): void {
  if (isMethod(work)) Reflect.apply(work, undefined, args);
}

/** The address of the page; to set a part of it navigates. */
function locationOf(at: () => FakeURL, go: (to: unknown) => void): object {
  const location = {
    assign: go,
    replace: go,
    reload: () => go(at().href),
    toString: () => at().href,
  };
  for (const part of [
    'href',
    'protocol',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
    'origin',
  ] as const) {
    Object.defineProperty(location, part, {
      enumerable: true,
      get: () => at()[part],
      set: (value: unknown) => {
        if (part === 'href') return go(value);
        const next = new FakeURL(at().href);
        if (part === 'pathname' || part === 'search' || part === 'hash') next[part] = String(value);
        go(next.href);
      },
    });
  }
  return location;
}

function historyOf(change: (to: unknown) => void): object {
  const state: { state: unknown } = { state: null };
  const set = (next: unknown, _unused: unknown, to: unknown) => {
    state.state = next;
    change(to);
  };
  return Object.assign(state, {
    pushState: set,
    replaceState: set,
    back: () => undefined,
    forward: () => undefined,
    length: 1,
  });
}

/** Gives the document what linkedom has not. */
function describe(document: unknown, url: () => string, cookies: string): void {
  if (!isBag(document)) return;
  let kept = cookies;
  const parts: Bag = {
    readyState: 'complete',
    visibilityState: 'visible',
    hidden: false,
    referrer: '',
  };
  for (const [name, value] of Object.entries(parts))
    Object.defineProperty(document, name, { value, configurable: true });
  for (const name of ['URL', 'documentURI', 'baseURI'])
    Object.defineProperty(document, name, { get: url, configurable: true });
  Object.defineProperty(document, 'location', { get: () => globalThis.location, configurable: true });
  Object.defineProperty(document, 'cookie', {
    configurable: true,
    get: () => kept,
    set: (cookie: unknown) => {
      const pair = String(cookie).split(';')[0] ?? '';
      const name = pair.split('=')[0];
      kept = [...kept.split('; ').filter((one) => one !== '' && one.split('=')[0] !== name), pair].join('; ');
    },
  });
}

function consoleTo(lines: ConsoleLine[]): object {
  const say =
    (level: string) =>
    (...args: unknown[]) =>
      void lines.push({ level, text: args.map((arg) => (typeof arg === 'string' ? arg : shown(arg))).join(' ') });
  return Object.fromEntries(
    ['debug', 'log', 'info', 'warn', 'error', 'trace', 'group', 'groupEnd', 'table'].map((level) => [
      level,
      say(level),
    ]),
  );
}

/** Writes a value for a person. */
export function shown(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (isMethod(value)) return `function ${String(value.name)}`;
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ??
      String(value)
    );
  } catch {
    return String(value);
  }
}

/** Copies plain data. */
function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone);
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [clone(key), clone(member)]));
  if (value instanceof Set) return new Set([...value].map(clone));
  if (isMethod(value)) throw new FakeDOMException('a function could not be cloned', 'DataCloneError');
  if (!isBag(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clone(member)]));
}

/** Random values that are the same in every run. */
let seed = 1;

function random(): number {
  seed = (seed * 48271) % 2147483647;
  return seed;
}

function fillRandom(array: unknown): unknown {
  if (array instanceof Uint8Array || array instanceof Uint32Array || array instanceof Uint16Array) {
    for (let i = 0; i < array.length; i++) array[i] = random();
  }
  return array;
}

function fakeUUID(): string {
  const hex = Array.from({ length: 32 }, () => (random() % 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Returns Date whose present is that of the clock. */
function dateBy(time: Clock): typeof Date {
  return new Proxy(Date, {
    construct: (real, args) => Reflect.construct(real, args.length === 0 ? [time.date] : args),
    apply: (real) => new real(time.date).toString(),
    get: (real, key) => (key === 'now' ? () => time.date : Reflect.get(real, key)),
  });
}
