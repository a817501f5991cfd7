import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import { Clock } from './clock.ts';
import { makeParserClass, parseToWindow } from './document.ts';
import { FakeTextDecoder, FakeTextEncoder, fakeAtob, fakeBtoa } from './encoding.ts';
import {
  FakeAbortController,
  FakeDOMException,
  FakeEvent,
  FakeEventTarget,
  makeChannelClass,
  makeSignalClass,
} from './events.ts';
import { FakeBlob, FakeFormData, FakeHeaders, FakeResponse, FakeSite, type Routes } from './http.ts';
import { FakeStorage } from './storage.ts';
import { FakeURL, FakeURLSearchParams } from './url.ts';

/** The options that define the initial state of a simulated page. */
export interface PageOptions {
  /** The URL of the simulated page; `https://example.com/` by default. */
  url?: string | undefined;
  /** The HTML of the simulated page; an empty document by default. */
  html?: string | undefined;
  routes?: Routes | undefined;
  localStorage?: Readonly<Record<string, string>> | undefined;
  sessionStorage?: Readonly<Record<string, string>> | undefined;
  /** The initial value of `document.cookie`, such as `session=1; theme=dark`. */
  cookies?: string | undefined;
  /** Properties of `window`, as if scripts of the page had set them. */
  globals?: Readonly<Record<string, unknown>> | undefined;
}

/** One line that code in the simulated page wrote to the page's console. */
export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

export const clock = new Clock();

export interface Page {
  readonly site: FakeSite;
  readonly console: readonly ConsoleLine[];
  url(): string;
  onNavigate(listener: (url: string) => void): void;
}

let pageGlobals: readonly string[] = [];

function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** installPlatform runs once, before any code of the test. */
export function installPlatform(): void {
  defineGlobal('setTimeout', (callback: unknown, ms: unknown = 0, ...args: unknown[]) =>
    clock.setTimer(() => callIfFunction(callback, args), Number(ms)),
  );
  defineGlobal('setInterval', (callback: unknown, ms: unknown = 0, ...args: unknown[]) =>
    clock.setTimer(() => callIfFunction(callback, args), Number(ms), Number(ms) || 1),
  );
  const clearTimer = (id: unknown) => clock.clearTimer(id);
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback'])
    defineGlobal(name, clearTimer);
  defineGlobal('requestAnimationFrame', (callback: unknown) =>
    clock.setTimer(() => callIfFunction(callback, [clock.now]), 16),
  );
  defineGlobal('requestIdleCallback', (callback: unknown) =>
    clock.setTimer(() => callIfFunction(callback, [{ didTimeout: false, timeRemaining: () => 50 }]), 1),
  );
  defineGlobal(
    'queueMicrotask',
    (callback: unknown) => void Promise.resolve().then(() => callIfFunction(callback, [])),
  );
  defineGlobal('structuredClone', (value: unknown) => clonePlainValue(value));
  defineGlobal('performance', { now: () => clock.now, timeOrigin: 0, mark: () => undefined, measure: () => undefined });
  defineGlobal('crypto', { randomUUID: generateFakeUUID, getRandomValues: fillWithRandomNumbers });
  defineGlobal('Date', makeDateClass(clock));
  const fakeClasses = {
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
    AbortController: FakeAbortController,
    AbortSignal: makeSignalClass(clock),
    MessageChannel: makeChannelClass(clock),
    Storage: FakeStorage,
    atob: fakeAtob,
    btoa: fakeBtoa,
  };
  for (const [name, value] of Object.entries(fakeClasses)) defineGlobal(name, value);
  for (const name of ['window', 'self', 'top', 'parent', 'frames']) defineGlobal(name, globalThis);
  defineGlobal('console', makeConsole([]));
}

export function openPage(options: PageOptions): Page {
  clock.clearAllTimers();
  const consoleLines: ConsoleLine[] = [];
  let currentUrl = new FakeURL(options.url ?? 'https://example.com/');
  const navigationListeners: ((url: string) => void)[] = [];
  const navigateTo = (target: unknown) => {
    const nextUrl = new FakeURL(target, currentUrl.href);
    const isSameDocument = nextUrl.href.split('#')[0] === currentUrl.href.split('#')[0] && nextUrl.hash !== '';
    currentUrl = nextUrl;
    if (isSameDocument) dispatchEvent('hashchange');
    else for (const listener of navigationListeners) listener(nextUrl.href);
  };
  const site = new FakeSite(clock, options.routes ?? {}, () => currentUrl.href);
  const window = parseToWindow(options.html ?? '');
  for (const name of [
    'document',
    'Node',
    'Element',
    'HTMLElement',
    'MutationObserver',
    'NodeFilter',
    'DocumentFragment',
  ]) {
    defineGlobal(name, window[name]);
  }
  defineGlobal('DOMParser', makeParserClass(window));
  const eventTarget = new FakeEventTarget();
  const dispatchEvent = (type: string) => eventTarget.dispatchEvent(new FakeEvent(type));
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    defineGlobal(name, eventTarget[name].bind(eventTarget));
  defineGlobal('postMessage', (data: unknown) => {
    clock.setTimer(() => eventTarget.dispatchEvent(new FakeEvent('message', { data })), 0);
  });
  defineGlobal(
    'location',
    makeLocation(() => currentUrl, navigateTo),
  );
  defineGlobal(
    'history',
    makeHistory((url) => {
      currentUrl = new FakeURL(url ?? currentUrl.href, currentUrl.href);
    }),
  );
  addDocumentProperties(window.document, () => currentUrl.href, options.cookies ?? '');
  defineGlobal('navigator', {
    userAgent: 'Mozilla/5.0 (opentabs plugin test)',
    language: 'en-US',
    languages: ['en-US'],
    onLine: true,
  });
  defineGlobal('localStorage', new FakeStorage(options.localStorage));
  defineGlobal('sessionStorage', new FakeStorage(options.sessionStorage));
  defineGlobal('fetch', (input: unknown, init: unknown) => site.fetch(input, hasProperties(init) ? init : {}));
  defineGlobal('origin', currentUrl.origin);
  defineGlobal('console', makeConsole(consoleLines));
  for (const name of pageGlobals) Reflect.deleteProperty(globalThis, name);
  pageGlobals = Object.keys(options.globals ?? {});
  for (const [name, value] of Object.entries(options.globals ?? {})) defineGlobal(name, value);
  return {
    site,
    console: consoleLines,
    url: () => currentUrl.href,
    onNavigate: (listener) => void navigationListeners.push(listener),
  };
}

function callIfFunction(callback: unknown, args: readonly unknown[]): void {
  if (isMethod(callback)) Reflect.apply(callback, undefined, args);
}

/** As in a browser, an assignment to a property of `location` causes a navigation. */
function makeLocation(currentUrl: () => FakeURL, navigateTo: (url: unknown) => void): object {
  const location = {
    assign: navigateTo,
    replace: navigateTo,
    reload: () => navigateTo(currentUrl().href),
    toString: () => currentUrl().href,
  };
  for (const globalName of [
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
    Object.defineProperty(location, globalName, {
      enumerable: true,
      get: () => currentUrl()[globalName],
      set: (value: unknown) => {
        if (globalName === 'href') return navigateTo(value);
        const newUrl = new FakeURL(currentUrl().href);
        if (globalName === 'pathname' || globalName === 'search' || globalName === 'hash')
          newUrl[globalName] = String(value);
        navigateTo(newUrl.href);
      },
    });
  }
  return location;
}

function makeHistory(changeUrl: (url: unknown) => void): object {
  const historyState: { state: unknown } = { state: null };
  const setHistoryState = (newState: unknown, _unused: unknown, url: unknown) => {
    historyState.state = newState;
    changeUrl(url);
  };
  return Object.assign(historyState, {
    pushState: setHistoryState,
    replaceState: setHistoryState,
    back: () => undefined,
    forward: () => undefined,
    length: 1,
  });
}

function addDocumentProperties(document: unknown, url: () => string, cookies: string): void {
  if (!hasProperties(document)) return;
  let cookieText = cookies;
  const properties: Properties = {
    readyState: 'complete',
    visibilityState: 'visible',
    hidden: false,
    referrer: '',
  };
  for (const [name, value] of Object.entries(properties))
    Object.defineProperty(document, name, { value, configurable: true });
  for (const name of ['URL', 'documentURI', 'baseURI'])
    Object.defineProperty(document, name, { get: url, configurable: true });
  Object.defineProperty(document, 'location', { get: () => globalThis.location, configurable: true });
  Object.defineProperty(document, 'cookie', {
    configurable: true,
    get: () => cookieText,
    set: (cookie: unknown) => {
      const pair = String(cookie).split(';')[0] ?? '';
      const name = pair.split('=')[0];
      const otherCookies = cookieText.split('; ').filter((pair) => pair !== '' && pair.split('=')[0] !== name);
      cookieText = [...otherCookies, pair].join('; ');
    },
  });
}

function makeConsole(consoleLines: ConsoleLine[]): object {
  const makeLogFunction =
    (consoleLevel: string) =>
    (...args: unknown[]) =>
      void consoleLines.push({
        level: consoleLevel,
        text: args.map((arg) => (typeof arg === 'string' ? arg : formatValue(arg))).join(' '),
      });
  return Object.fromEntries(
    ['debug', 'log', 'info', 'warn', 'error', 'trace', 'group', 'groupEnd', 'table'].map((consoleLevel) => [
      consoleLevel,
      makeLogFunction(consoleLevel),
    ]),
  );
}

export function formatValue(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (isMethod(value)) return `function ${String(value.name)}`.trim();
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member)) ??
      String(value)
    );
  } catch {
    return String(value);
  }
}

function clonePlainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clonePlainValue);
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [clonePlainValue(key), clonePlainValue(member)]));
  if (value instanceof Set) return new Set([...value].map(clonePlainValue));
  if (isMethod(value)) throw new FakeDOMException('a function could not be cloned', 'DataCloneError');
  if (!hasProperties(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clonePlainValue(member)]));
}

let randomSeed = 1;

function generateRandomNumber(): number {
  randomSeed = (randomSeed * 48271) % 2147483647;
  return randomSeed;
}

function fillWithRandomNumbers(typedArray: unknown): unknown {
  if (typedArray instanceof Uint8Array || typedArray instanceof Uint32Array || typedArray instanceof Uint16Array) {
    for (let i = 0; i < typedArray.length; i++) typedArray[i] = generateRandomNumber();
  }
  return typedArray;
}

function generateFakeUUID(): string {
  const hex = Array.from({ length: 32 }, () => (generateRandomNumber() % 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function makeDateClass(virtualClock: Clock): typeof Date {
  return new Proxy(Date, {
    construct: (DateClass, args) => Reflect.construct(DateClass, args.length === 0 ? [virtualClock.date] : args),
    apply: (DateClass) => new DateClass(virtualClock.date).toString(),
    get: (DateClass, key) => (key === 'now' ? () => virtualClock.date : Reflect.get(DateClass, key)),
  });
}
