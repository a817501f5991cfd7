// primordials.ts stores the built-in functions that the host uses at document_start, before any script of the page
// runs. Code in the folder host follows the rules of sdk-ts/src/runtime/primordials.ts, which stores the built-in
// functions of JavaScript. Code in the folder host never uses `await`, because the page can observe the promises that
// `await` creates.

import { apply, getOwnPropertyDescriptor, isFunction, listIncludes } from '../../../sdk-ts/src/runtime/primordials.ts';

export {
  ArrayPrototype,
  apply,
  construct,
  defineProperty,
  deleteProperty,
  ErrorPrototype,
  type Fn,
  findErrorKind as errorKind,
  freeze,
  getOwnPropertyDescriptor,
  getProperty,
  getPrototypeOf,
  getSafeProperty as lookup,
  hasOwn,
  hasProperty,
  isArray,
  isFiniteNumber,
  isFrozen,
  isFunction as isFn,
  isObject,
  isSameValue as isSame,
  listOwnKeys as keysOf,
  lockedThenMessage,
  makeBareObject,
  makeDataDescriptor as dataProperty,
  makeHiddenDescriptor as hiddenProperty,
  NativePromise,
  NativeTypeError,
  ObjectPrototype,
  ownKeys,
  parseJson,
  promiseThen,
  resolveWithoutThenLookup as settleHiddenFromPage,
  runInMicrotask,
  setProperty,
  setPrototypeOf,
  stringSlice as slice,
  toJson,
  whenSettled,
} from '../../../sdk-ts/src/runtime/primordials.ts';

/**
 * toBigInt and rawJson preserve integers that a JavaScript number would round. The function rawJson requires Chrome
 * 114.
 */
export const toBigInt = BigInt;
export const BigIntPrototype = BigInt.prototype;
export const rawJson: unknown = 'rawJSON' in JSON ? JSON.rawJSON : undefined;
const nativeIsRawJson: unknown = 'isRawJSON' in JSON ? JSON.isRawJSON : undefined;
/** isRawJson reports whether JSON.rawJSON created a value. */
export const isRawJson = (value: object): boolean =>
  isFunction(nativeIsRawJson) && apply(nativeIsRawJson, undefined, [value]) === true;

export const StringPrototype = String.prototype;
export const NumberPrototype = Number.prototype;
export const BooleanPrototype = Boolean.prototype;
export const DatePrototype = Date.prototype;
export const UrlPrototype = URL.prototype;
export const NativeError = Error;
export const NativeProxy = Proxy;
export const NativeAbortController = AbortController;
export const NativeDOMException = DOMException;
export const NativeMessageChannel = MessageChannel;
export const NativeMessageEvent = MessageEvent;
export const NativeMutationObserver = MutationObserver;
export const NativeTextEncoder = TextEncoder;
export const NativeUint8Array = Uint8Array;
export const NativeURL = URL;
export const NativeWeakMap = WeakMap;
export const realWindow = window;
export const realDocument = document;

export const addEventListener = EventTarget.prototype.addEventListener;
export const removeEventListener = EventTarget.prototype.removeEventListener;
export const dispatchEvent = EventTarget.prototype.dispatchEvent;
export const postMessage = MessagePort.prototype.postMessage;
export const startPort = MessagePort.prototype.start;
export const abortController = AbortController.prototype.abort;
export const observeMutations = MutationObserver.prototype.observe;
export const disconnectObserver = MutationObserver.prototype.disconnect;
export const weakMapGet = WeakMap.prototype.get;
export const weakMapSet = WeakMap.prototype.set;
export const encodeInto = TextEncoder.prototype.encodeInto;
export const stringSlice = String.prototype.slice;
export const stringValueOf = String.prototype.valueOf;
export const numberValueOf = Number.prototype.valueOf;
export const booleanValueOf = Boolean.prototype.valueOf;
export const bigIntValueOf = BigInt.prototype.valueOf;
export const dateGetTime = Date.prototype.getTime;
export const dateToIsoString = Date.prototype.toISOString;
export const nativeSetTimeout = setTimeout;
export const performanceNow = performance.now;
export const nativePerformance = performance;
export const { now: dateNow } = Date;

function findGetter(object: object, key: PropertyKey): () => unknown {
  const getter = getOwnPropertyDescriptor(object, key)?.get;
  if (!getter) throw new TypeError(`opentabs: this browser has no getter ${String(key)}`);
  return getter;
}

export const signalGetter = findGetter(AbortController.prototype, 'signal');
export const abortedGetter = findGetter(AbortSignal.prototype, 'aborted');
export const reasonGetter = findGetter(AbortSignal.prototype, 'reason');
export const messageDataGetter = findGetter(MessageEvent.prototype, 'data');
export const port1Getter = findGetter(MessageChannel.prototype, 'port1');
export const port2Getter = findGetter(MessageChannel.prototype, 'port2');
export const exceptionMessageGetter = findGetter(DOMException.prototype, 'message');
export const documentElementGetter = findGetter(Document.prototype, 'documentElement');
export const readyStateGetter = findGetter(Document.prototype, 'readyState');
export const firstChildGetter = findGetter(Node.prototype, 'firstChild');
export const lastChildGetter = findGetter(Node.prototype, 'lastChild');
export const urlHostGetter = findGetter(URL.prototype, 'host');
export const urlHrefGetter = findGetter(URL.prototype, 'href');
export const locationHostGetter = findGetter(location, 'host');
export const realLocation = location;
/** isInFrame is true if the document is in a frame. The page cannot replace `window.top`. */
export const isInFrame = window !== window.top;
/** hasProbeFrame is true if the document contains a frame of the probe script (intact.ts). */
export const hasProbeFrame = window[0] !== undefined;

// The lists of built-ins contain only constructors of the JavaScript language, not of the browser. Chrome creates each
// DOM interface when it is first accessed, which takes time.
const builtIns: object[] = [Object, Function, Array, Number, Boolean, String, Symbol, BigInt, Date, RegExp, Proxy];
const collectionAndErrorBuiltIns: object[] = [
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

/** A constructor of the JavaScript language never passes its `this` value to code of the page. */
export function isBuiltIn(value: object): boolean {
  return (
    listIncludes(builtIns, value) ||
    listIncludes(collectionAndErrorBuiltIns, value) ||
    listIncludes(binaryBuiltIns, value)
  );
}
