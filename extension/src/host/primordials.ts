// The built-ins that the host uses, stored at document_start, before any script
// of the page. Code in this folder follows the rules in
// sdk-ts/src/runtime/primordials.ts, which contains the language built-ins, and
// one more: no `await`, because a page can observe its promises.

import {
  apply,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isFn,
  isIn,
} from '../../../sdk-ts/src/runtime/primordials.ts';

export {
  ArrayPrototype,
  apply,
  construct,
  dataProperty,
  defineProperty,
  deleteProperty,
  ErrorPrototype,
  errorKind,
  type Fn,
  freeze,
  getOwnPropertyDescriptor,
  getProperty,
  getPrototypeOf,
  hasOwn,
  hasProperty,
  hiddenProperty,
  isArray,
  isFiniteNumber,
  isFn,
  isFrozen,
  isObject,
  isSame,
  keysOf,
  lockedThenMessage,
  lookup,
  makeBareObject as bare,
  NativePromise,
  NativeTypeError,
  ObjectPrototype,
  ownKeys,
  parseJson,
  promiseThen,
  runInMicrotask as soon,
  setProperty,
  setPrototypeOf,
  settleHiddenFromPage,
  slice,
  toJson,
  whenSettled,
} from '../../../sdk-ts/src/runtime/primordials.ts';

/** toBigInt and rawJson preserve integers that a number would round. rawJson requires Chrome 114. */
export const toBigInt = BigInt;
export const BigIntPrototype = BigInt.prototype;
export const rawJson: unknown = 'rawJSON' in JSON ? JSON.rawJSON : undefined;
const isRaw: unknown = 'isRawJSON' in JSON ? JSON.isRawJSON : undefined;
/** isRawJson reports whether JSON.rawJSON created value. */
export const isRawJson = (value: object): boolean => isFn(isRaw) && apply(isRaw, undefined, [value]) === true;

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
export const NativeTextEncoder = TextEncoder;
export const NativeURL = URL;
export const NativeWeakMap = WeakMap;
export const realWindow = window;
export const realDocument = document;

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

/** getterOf returns the getter of an accessor property of the browser. */
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
/** framed reports whether the document is in a frame. A page cannot replace `window.top`. */
export const framed = window !== window.top;
/** probed reports whether the probe added a frame to this document (intact.ts). */
export const probed = window[0] !== undefined;

// The list does not contain DOM interfaces, because Chrome creates each interface at the first access, which takes
// time.
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

/**
 * isBuiltIn reports whether value is a constructor of the language. Constructors of the language never pass `this` to
 * other code.
 */
export function isBuiltIn(value: object): boolean {
  return isIn(builtIns, value) || isIn(moreBuiltIns, value) || isIn(binaryBuiltIns, value);
}
