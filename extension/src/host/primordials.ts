// The built-ins that the host works with, taken at document_start, before any
// page script ran. A page can replace `JSON.stringify` or
// `Promise.prototype.then`; the host must never look them up again. Rules for
// the code of this folder:
//
// - call methods of built-ins only through `apply` with a function from here;
// - no `await`, no `for...of`, no spread and no destructuring of arrays: they
//   look up methods that a page can replace;
// - tables, descriptors and option objects have no prototype, so that a getter
//   on `Object.prototype` sees nothing;
// - never write `array[i] = x`: a setter on `Array.prototype` would get x.

export const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
export const { get: getProperty, has: hasProperty, ownKeys, set: setProperty, setPrototypeOf } = Reflect;
export const { freeze, hasOwn, is: isSame, isFrozen, keys: keysOf } = Object;
export const { isFinite: isFiniteNumber } = Number;
export const { isArray } = Array;
export const { parse: parseJson, stringify: toJson } = JSON;
/** toBigInt and rawJson keep integers exact that a number would round; rawJson is there since Chrome 114. */
export const toBigInt = BigInt;
export const BigIntPrototype = BigInt.prototype;
export const rawJson: unknown = 'rawJSON' in JSON ? JSON.rawJSON : undefined;
const isRaw: unknown = 'isRawJSON' in JSON ? JSON.isRawJSON : undefined;
/** isRawJson tells whether value is JSON text that JSON.rawJSON made. */
export const isRawJson = (value: object): boolean => isFn(isRaw) && apply(isRaw, undefined, [value]) === true;

export const ObjectPrototype = Object.prototype;
export const ErrorPrototype = Error.prototype;
export const PromisePrototype = Promise.prototype;
export const ArrayPrototype = Array.prototype;
export const StringPrototype = String.prototype;
export const NumberPrototype = Number.prototype;
export const BooleanPrototype = Boolean.prototype;
export const DatePrototype = Date.prototype;
export const UrlPrototype = URL.prototype;
export const NativeProxy = Proxy;
export const NativeAbortController = AbortController;
export const NativeDOMException = DOMException;
export const NativeMessageChannel = MessageChannel;
export const NativeMessageEvent = MessageEvent;
export const NativeMutationObserver = MutationObserver;
export const NativeTypeError = TypeError;
export const NativePromise = Promise;
export const NativeTextEncoder = TextEncoder;
export const NativeURL = URL;
export const NativeWeakMap = WeakMap;
export const realWindow = window;
export const realDocument = document;

export const promiseThen = Promise.prototype.then;
export const addEventListener = EventTarget.prototype.addEventListener;
export const removeEventListener = EventTarget.prototype.removeEventListener;
export const dispatchEvent = EventTarget.prototype.dispatchEvent;
export const postMessage = MessagePort.prototype.postMessage;
export const startPort = MessagePort.prototype.start;
export const abort = AbortController.prototype.abort;
export const observe = MutationObserver.prototype.observe;
export const disconnect = MutationObserver.prototype.disconnect;
export const weakGet = WeakMap.prototype.get;
export const weakSet = WeakMap.prototype.set;
export const encode = TextEncoder.prototype.encode;
export const slice = String.prototype.slice;
export const stringValueOf = String.prototype.valueOf;
export const numberValueOf = Number.prototype.valueOf;
export const booleanValueOf = Boolean.prototype.valueOf;
export const bigIntValueOf = BigInt.prototype.valueOf;
export const timeOfDate = Date.prototype.getTime;
export const dateToIsoString = Date.prototype.toISOString;
export const delay = setTimeout;
export const now = performance.now;
export const clock = performance;
export const { now: dateNow } = Date;

/** getterOf returns the getter of an accessor that the platform defines. */
function getterOf(on: object, key: PropertyKey): () => unknown {
  const found = getOwnPropertyDescriptor(on, key)?.get;
  if (!found) throw new TypeError(`opentabs: this browser has no getter ${String(key)}`);
  return found;
}

export const signalOf = getterOf(AbortController.prototype, 'signal');
export const abortedOf = getterOf(AbortSignal.prototype, 'aborted');
export const reasonOf = getterOf(AbortSignal.prototype, 'reason');
export const dataOf = getterOf(MessageEvent.prototype, 'data');
export const port1Of = getterOf(MessageChannel.prototype, 'port1');
export const port2Of = getterOf(MessageChannel.prototype, 'port2');
export const exceptionMessageOf = getterOf(DOMException.prototype, 'message');
export const lengthOfBytes = getterOf(getPrototypeOf(Uint8Array.prototype) ?? Uint8Array.prototype, 'length');
export const documentElementOf = getterOf(Document.prototype, 'documentElement');
export const readyStateOf = getterOf(Document.prototype, 'readyState');
export const firstChildOf = getterOf(Node.prototype, 'firstChild');
export const lastChildOf = getterOf(Node.prototype, 'lastChild');
export const hostOfUrl = getterOf(URL.prototype, 'host');
export const hrefOfUrl = getterOf(URL.prototype, 'href');
export const hostOfLocation = getterOf(location, 'host');
export const realLocation = location;
/** framed tells whether the document is in a frame of another one. Nobody can replace `window.top`. */
export const framed = window !== window.top;
/** probed tells whether the probe gave this document a frame (intact.ts). */
export const probed = window[0] !== undefined;

// A list of its own, without the DOM's interfaces: Chrome makes those when they are first asked for, which takes time.
const builtIns: object[] = [Object, Function, Array, Number, Boolean, String, Symbol, BigInt, Date, RegExp, Proxy];
const moreBuiltIns: object[] = [
  Promise,
  Map,
  Set,
  WeakMap,
  WeakSet,
  WeakRef,
  Error,
  TypeError,
  RangeError,
  SyntaxError,
];
const binaryBuiltIns: object[] = [ArrayBuffer, DataView, Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array];

/** isBuiltIn tells whether value is one of the language's own constructors, which never hand `this` to anybody. */
export function isBuiltIn(value: object): boolean {
  return isIn(builtIns, value) || isIn(moreBuiltIns, value) || isIn(binaryBuiltIns, value);
}

function isIn(list: readonly object[], value: object): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
}

/** Fn is any function; what it returns is not known. */
export type Fn = (this: unknown, ...args: unknown[]) => unknown;

export function isFn(value: unknown): value is Fn {
  return typeof value === 'function';
}

/** isObject tells objects and functions from primitives. */
export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

// Prototypes that a page can put a getter on: every tool's value has one of them at the end of its chain.
const plainPrototypes: object[] = [Object.prototype, Function.prototype, Array.prototype, Promise.prototype];
const textPrototypes: object[] = [String.prototype, Number.prototype, Boolean.prototype, RegExp.prototype];
const keyedPrototypes: object[] = [Date.prototype, Map.prototype, Set.prototype, WeakMap.prototype, URL.prototype];
const errorPrototypes: object[] = [
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
  EvalError.prototype,
  URIError.prototype,
  AggregateError.prototype,
  DOMException.prototype,
];

const errorNames: string[] = [
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'EvalError',
  'URIError',
  'AggregateError',
  'DOMException',
];

/** errorKind returns the name of the built-in class of errors that value descends from, or nothing. */
export function errorKind(value: object): string {
  let at = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && at !== null; depth++) {
    for (let i = 0; i < errorPrototypes.length; i++) if (errorPrototypes[i] === at) return errorNames[i] ?? '';
    at = getPrototypeOf(at);
  }
  return '';
}

/** isNativePrototype tells whether value is a prototype that the page shares with adapters. */
function isNativePrototype(value: object): boolean {
  return (
    value === ObjectPrototype ||
    isIn(errorPrototypes, value) ||
    isIn(plainPrototypes, value) ||
    isIn(textPrototypes, value) ||
    isIn(keyedPrototypes, value)
  );
}

/**
 * lookup reads a property as `from[key]` does, but does not go as far as the built-in prototypes, where a page may have
 * put a getter that would be handed `from`, or a value to answer in its place. It throws what a getter throws.
 */
export function lookup(from: object, key: PropertyKey): unknown {
  let at: object | null = from;
  for (let depth = 0; depth < 64 && at !== null && !isNativePrototype(at); depth++) {
    const found: PropertyDescriptor | undefined = getOwnPropertyDescriptor(at, key);
    if (found) {
      if (hasOwn(found, 'value')) return found.value;
      return isFn(found.get) ? apply(found.get, from, []) : undefined;
    }
    at = getPrototypeOf(at);
  }
  return undefined;
}

/**
 * whenSettled calls ok or bad once, as `Promise.resolve(value).then(ok, bad)` would, but without reading anything that a
 * page could have replaced. For a value that is not a promise it calls ok at once. ok and bad must not throw.
 */
export function whenSettled(value: unknown, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  if (!isObject(value)) {
    ok(value);
    return;
  }
  let then: unknown;
  try {
    if (isPromiseLike(value)) {
      followPromise(value, ok, bad);
      return;
    }
    then = lookup(value, 'then');
  } catch (error) {
    bad(error);
    return;
  }
  if (isFn(then)) adopt(value, then, ok, bad);
  else ok(value);
}

/**
 * followPromise attaches to a promise of this realm. `then` asks the promise for its constructor; an own `undefined`
 * means the realm's own Promise and keeps the page, which may have put a getter on Promise.prototype, out of it.
 */
function followPromise(value: Promise<unknown>, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  if (!defineProperty(value, 'constructor', dataProperty(undefined))) {
    throw new NativeTypeError('the tool returned a frozen promise');
  }
  apply(promiseThen, value, [ok, bad]);
}

/** bare returns an empty object without a prototype. */
export function bare(): Record<PropertyKey, unknown> {
  const made: Record<PropertyKey, unknown> = {};
  setPrototypeOf(made, null);
  return made;
}

/** dataProperty returns the descriptor of an ordinary property, without a prototype. */
export function dataProperty(value: unknown): PropertyDescriptor {
  const descriptor: PropertyDescriptor = { value, writable: true, enumerable: true, configurable: true };
  setPrototypeOf(descriptor, null);
  return descriptor;
}

/** hiddenProperty returns the descriptor of a property that Object.keys leaves out, without a prototype. */
export function hiddenProperty(value: unknown): PropertyDescriptor {
  const descriptor: PropertyDescriptor = { value, writable: true, enumerable: false, configurable: true };
  setPrototypeOf(descriptor, null);
  return descriptor;
}

/** isPromiseLike tells whether value descends from this realm's Promise.prototype. */
function isPromiseLike(value: object): value is Promise<unknown> {
  let at = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && at !== null; depth++) {
    if (at === PromisePrototype) return true;
    at = getPrototypeOf(at);
  }
  return false;
}

/** adopt follows a thenable that is not a promise of this realm. */
function adopt(value: object, then: Fn, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  let called = false;
  try {
    apply(then, value, [
      (result: unknown) => {
        if (called) return;
        called = true;
        whenSettled(result, ok, bad);
      },
      (error: unknown) => {
        if (called) return;
        called = true;
        bad(error);
      },
    ]);
  } catch (error) {
    if (!called) {
      called = true;
      bad(error);
    }
  }
}

const settled = construct(Promise, [(resolve: (value: undefined) => void) => resolve(undefined)]);
defineProperty(settled, 'constructor', dataProperty(undefined));

/** soon runs work in a microtask, where `window.event` shows nothing. Work must not throw. */
export function soon(work: () => void): void {
  apply(promiseThen, settled, [work]);
}
