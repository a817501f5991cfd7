// Language built-ins that the SDK and the extension's host use. This module stores the built-ins when it loads: before
// any script of the page, or while the host has undone the page's changes (extension/src/host/pristine.ts). A page can
// replace `Reflect.apply` or `Promise.prototype.then`, so code that runs during a call must not look up built-ins
// again. Code that runs during a tool call follows these rules:
//
// - Call methods of built-ins only through `apply`, with a function that this module exports.
// - Do not use `for...of`, spread, or destructuring of arrays: they look up methods that a page can replace.
// - Create tables, descriptors and option objects without a prototype, and read optional fields with `lookup`, so that
//   no getter on `Object.prototype` runs.
// - Never write `array[i] = x`: a setter on `Array.prototype` would receive x.

export const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
export const { get: getProperty, has: hasProperty, ownKeys, set: setProperty, setPrototypeOf } = Reflect;
export const { create, freeze, hasOwn, is: isSameValue, isFrozen, keys: listOwnKeys } = Object;
export const { isFinite: isFiniteNumber } = Number;
export const { isArray } = Array;
export const { parse: parseJson, stringify: toJson } = JSON;

export const ObjectPrototype = Object.prototype;
export const ErrorPrototype = Error.prototype;
const PromisePrototype = Promise.prototype;
export const ArrayPrototype = Array.prototype;
export const NativePromise = Promise;
export const NativeTypeError = TypeError;
export const promiseThen = Promise.prototype.then;
export const MapPrototype = Map.prototype;
export const SetPrototype = Set.prototype;
export const stringSlice = String.prototype.slice;
export const textIncludes = String.prototype.includes;

export type Fn = (this: unknown, ...args: unknown[]) => unknown;

export function isFunction(value: unknown): value is Fn {
  return typeof value === 'function';
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

const plainPrototypes: object[] = [Object.prototype, Function.prototype, Array.prototype, Promise.prototype];
const textPrototypes: object[] = [String.prototype, Number.prototype, Boolean.prototype, RegExp.prototype];
const urlPrototype = typeof URL === 'function' ? URL.prototype : Object.prototype;
const keyedPrototypes: object[] = [Date.prototype, Map.prototype, Set.prototype, WeakMap.prototype, urlPrototype];
const errorPrototypes: object[] = [
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
  EvalError.prototype,
  URIError.prototype,
  AggregateError.prototype,
  // QuickJS and other engines without a DOM have no DOMException.
  typeof DOMException === 'function' ? DOMException.prototype : Error.prototype,
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

export function findErrorKind(value: object): string {
  let ancestorPrototype = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && ancestorPrototype !== null; depth++) {
    for (let i = 0; i < errorPrototypes.length; i++)
      if (errorPrototypes[i] === ancestorPrototype) return errorNames[i] ?? '';
    ancestorPrototype = getPrototypeOf(ancestorPrototype);
  }
  return '';
}

export function listIncludes(list: readonly object[], value: object): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
}

function isNativePrototype(value: object): boolean {
  return (
    value === ObjectPrototype ||
    listIncludes(errorPrototypes, value) ||
    listIncludes(plainPrototypes, value) ||
    listIncludes(textPrototypes, value) ||
    listIncludes(keyedPrototypes, value)
  );
}

/**
 * getSafeProperty returns `safeObject[key]`, but ignores properties of the built-in prototypes. On a built-in
 * prototype, a page can define getters that would receive `safeObject` as `this`.
 */
export function getSafeProperty(safeObject: object, key: PropertyKey): unknown {
  let ownerObject: object | null = safeObject;
  for (let depth = 0; depth < 64 && ownerObject !== null && !isNativePrototype(ownerObject); depth++) {
    const propertyDescriptor: PropertyDescriptor | undefined = getOwnPropertyDescriptor(ownerObject, key);
    if (propertyDescriptor) {
      if (hasOwn(propertyDescriptor, 'value')) return propertyDescriptor.value;
      return isFunction(propertyDescriptor.get) ? apply(propertyDescriptor.get, safeObject, []) : undefined;
    }
    ownerObject = getPrototypeOf(ownerObject);
  }
  return undefined;
}

/** MaxThenableDepth limits how many thenables may resolve to another thenable, because the chain may be endless. */
const MaxThenableDepth = 10_000;

/**
 * whenSettled works like `Promise.resolve(value).then(onFulfilled, onRejected)`, but without built-ins that a page can
 * replace. Unlike `then`, whenSettled calls onFulfilled synchronously if `value` is not a promise. The functions
 * onFulfilled and onRejected must not throw.
 */
export function whenSettled(
  value: unknown,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
): void {
  settleThenableChain(value, onFulfilled, onRejected, 0);
}

/**
 * settleThenableChain uses a loop, because recursion over thenables that resolve synchronously could overflow the
 * stack.
 */
function settleThenableChain(
  value: unknown,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
  resolvedCount: number,
): void {
  let currentValue = value;
  for (let count = resolvedCount; ; count++) {
    if (!isObject(currentValue)) {
      onFulfilled(currentValue);
      return;
    }
    let thenMethod: unknown;
    try {
      if (inheritsFromPromise(currentValue)) {
        followPromise(currentValue, onFulfilled, onRejected);
        return;
      }
      thenMethod = getSafeProperty(currentValue, 'then');
    } catch (error) {
      onRejected(error);
      return;
    }
    if (!isFunction(thenMethod)) {
      onFulfilled(currentValue);
      return;
    }
    if (count >= MaxThenableDepth) {
      onRejected(new NativeTypeError(`a thenable resolved to another one ${MaxThenableDepth} times`));
      return;
    }
    const settledResult = callThen(
      currentValue,
      thenMethod,
      (thenableResult) => settleThenableChain(thenableResult, onFulfilled, onRejected, count + 1),
      onRejected,
    );
    if (!settledResult.isResolved) return;
    currentValue = settledResult.value;
  }
}

/**
 * `Promise.prototype.then` reads `constructor`, for which a page can define a getter. An own property `constructor`
 * with the value undefined prevents a getter of the page from running.
 */
function followPromise(
  value: Promise<unknown>,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
): void {
  if (!defineProperty(value, 'constructor', makeDataDescriptor(undefined))) {
    throw new NativeTypeError('the tool returned a frozen promise');
  }
  apply(promiseThen, value, [onFulfilled, onRejected]);
}

export function makeBareObject(): Record<PropertyKey, unknown> {
  const safeObject: Record<PropertyKey, unknown> = {};
  setPrototypeOf(safeObject, null);
  return safeObject;
}

export function makeDataDescriptor(value: unknown): PropertyDescriptor {
  const propertyDescriptor: PropertyDescriptor = { value, writable: true, enumerable: true, configurable: true };
  setPrototypeOf(propertyDescriptor, null);
  return propertyDescriptor;
}

export function makeHiddenDescriptor(value: unknown): PropertyDescriptor {
  const propertyDescriptor: PropertyDescriptor = { value, writable: true, enumerable: false, configurable: true };
  setPrototypeOf(propertyDescriptor, null);
  return propertyDescriptor;
}

export function inheritsFromPromise(value: object): value is Promise<unknown> {
  let ancestorPrototype = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && ancestorPrototype !== null; depth++) {
    if (ancestorPrototype === PromisePrototype) return true;
    ancestorPrototype = getPrototypeOf(ancestorPrototype);
  }
  return false;
}

interface SynchronousResult {
  isResolved: boolean;
  value: unknown;
}

/**
 * callThen passes a late result to the callbacks in a microtask, because the thenable may resolve while the stack is
 * almost full.
 */
function callThen(
  value: object,
  thenMethod: Fn,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
): SynchronousResult {
  const settledResult: SynchronousResult = { isResolved: false, value: undefined };
  let isRejected = false;
  let hasSettled = false;
  let hasReturned = false;
  try {
    apply(thenMethod, value, [
      (thenableResult: unknown) => {
        if (hasSettled) return;
        if (hasReturned) runInMicrotask(() => onFulfilled(thenableResult));
        else {
          settledResult.value = thenableResult;
          settledResult.isResolved = true;
        }
        hasSettled = true;
      },
      (error: unknown) => {
        if (hasSettled) return;
        if (hasReturned) runInMicrotask(() => onRejected(error));
        else {
          settledResult.value = error;
          isRejected = true;
        }
        hasSettled = true;
      },
    ]);
  } catch (error) {
    if (!hasSettled) {
      hasSettled = true;
      settledResult.value = error;
      isRejected = true;
    }
  }
  hasReturned = true;
  if (isRejected) onRejected(settledResult.value);
  return settledResult;
}

const resolvedPromise = construct(Promise, [(resolve: (value: undefined) => void) => resolve(undefined)]);
defineProperty(resolvedPromise, 'constructor', makeDataDescriptor(undefined));

/** runInMicrotask calls `callback`, which must not throw, in a microtask, where `window.event` is undefined. */
export function runInMicrotask(callback: () => void): void {
  apply(promiseThen, resolvedPromise, [callback]);
}

export const lockedThenMessage =
  'a script of the page has locked a `then` that would read and change what the call waits for';

/**
 * resolveWithoutThenLookup resolves a promise with a value that is not a thenable, without running a getter of the
 * page. Resolving a promise reads the value's `then`, so the value gets a temporary own property `then` that is
 * undefined. If the page has locked an inherited `then` property, resolveWithoutThenLookup does not resolve the promise
 * and returns false.
 */
export function resolveWithoutThenLookup(value: unknown, resolvePromise: (value: unknown) => void): boolean {
  if (!isObject(value) || getOwnPropertyDescriptor(value, 'then')) {
    resolvePromise(value);
    return true;
  }
  if (defineProperty(value, 'then', makeHiddenDescriptor(undefined))) {
    resolvePromise(value);
    deleteProperty(value, 'then');
    return true;
  }
  return runWithoutInheritedThen(getPrototypeOf(value), () => resolvePromise(value));
}

function runWithoutInheritedThen(safeObject: object | null, callback: () => void): boolean {
  for (
    let ancestorPrototype = safeObject;
    ancestorPrototype !== null;
    ancestorPrototype = getPrototypeOf(ancestorPrototype)
  ) {
    const propertyDescriptor = getOwnPropertyDescriptor(ancestorPrototype, 'then');
    if (!propertyDescriptor) continue;
    setPrototypeOf(propertyDescriptor, null);
    if (!deleteProperty(ancestorPrototype, 'then')) return false;
    try {
      return runWithoutInheritedThen(getPrototypeOf(ancestorPrototype), callback);
    } finally {
      defineProperty(ancestorPrototype, 'then', propertyDescriptor);
    }
  }
  callback();
  return true;
}
