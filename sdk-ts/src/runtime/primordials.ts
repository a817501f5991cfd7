// The built-ins of the language that the SDK and the extension's host work with, taken when this module loads: before any
// script of the page ran, or while the host keeps the page's changes away (extension/src/host/pristine.ts). A page can
// replace `Reflect.apply` or `Promise.prototype.then`; what runs inside a call must not look them up again. Rules for code
// that a page must not see into:
//
// - call methods of built-ins only through `apply` with a function from here;
// - no `for...of`, no spread and no destructuring of arrays: they look up methods that a page can replace;
// - tables, descriptors and option objects have no prototype, and fields that may be absent are read by `lookup`, so that a
//   getter on `Object.prototype` sees nothing;
// - never write `array[i] = x`: a setter on `Array.prototype` would get x.

export const { apply, construct, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
export const { get: getProperty, has: hasProperty, ownKeys, set: setProperty, setPrototypeOf } = Reflect;
export const { create, freeze, hasOwn, is: isSame, isFrozen, keys: keysOf } = Object;
export const { isFinite: isFiniteNumber } = Number;
export const { isArray } = Array;
export const { parse: parseJson, stringify: toJson } = JSON;

export const ObjectPrototype = Object.prototype;
export const ErrorPrototype = Error.prototype;
export const PromisePrototype = Promise.prototype;
export const ArrayPrototype = Array.prototype;
export const NativeError = Error;
export const NativePromise = Promise;
export const NativeTypeError = TypeError;
export const promiseThen = Promise.prototype.then;
export const slice = String.prototype.slice;

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
const ofUrl = typeof URL === 'function' ? URL.prototype : Object.prototype;
const keyedPrototypes: object[] = [Date.prototype, Map.prototype, Set.prototype, WeakMap.prototype, ofUrl];
const errorPrototypes: object[] = [
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
  EvalError.prototype,
  URIError.prototype,
  AggregateError.prototype,
  // A realm without a page has none.
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

/** errorKind returns the name of the built-in class of errors that value descends from, or nothing. */
export function errorKind(value: object): string {
  let at = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && at !== null; depth++) {
    for (let i = 0; i < errorPrototypes.length; i++) if (errorPrototypes[i] === at) return errorNames[i] ?? '';
    at = getPrototypeOf(at);
  }
  return '';
}

/** isIn reports whether a list that was made here holds value. */
export function isIn(list: readonly object[], value: object): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
}

/** isNativePrototype reports whether value is a prototype that the page shares with adapters. */
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

/** MaxAdopted is how many thenables may resolve to one another before the last is rejected. */
const MaxAdopted = 10_000;

/**
 * whenSettled calls ok or bad once, as `Promise.resolve(value).then(ok, bad)` would, but without reading anything that a
 * page could have replaced. For a value that is not a promise it calls ok at once. ok and bad must not throw.
 */
export function whenSettled(value: unknown, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  settleFrom(value, ok, bad, 0);
}

/**
 * settleFrom is whenSettled for what a chain of thenables has resolved to. It follows the chain in a loop: a thenable that
 * resolves at once must not use up the stack, because an overflow would lose the result.
 */
function settleFrom(
  value: unknown,
  ok: (value: unknown) => void,
  bad: (error: unknown) => void,
  adopted: number,
): void {
  let at = value;
  for (let count = adopted; ; count++) {
    if (!isObject(at)) {
      ok(at);
      return;
    }
    let then: unknown;
    try {
      if (isPromiseLike(at)) {
        followPromise(at, ok, bad);
        return;
      }
      then = lookup(at, 'then');
    } catch (error) {
      bad(error);
      return;
    }
    if (!isFn(then)) {
      ok(at);
      return;
    }
    if (count >= MaxAdopted) {
      bad(new NativeTypeError(`a thenable resolved to another one ${MaxAdopted} times`));
      return;
    }
    const next = adopt(at, then, (result) => settleFrom(result, ok, bad, count + 1), bad);
    if (!next.resolved) return;
    at = next.value;
  }
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

/** isPromiseLike reports whether value descends from this realm's Promise.prototype. */
function isPromiseLike(value: object): value is Promise<unknown> {
  let at = getPrototypeOf(value);
  for (let depth = 0; depth < 64 && at !== null; depth++) {
    if (at === PromisePrototype) return true;
    at = getPrototypeOf(at);
  }
  return false;
}

/** Adopted is what a thenable has resolved to before its `then` returned. */
interface Adopted {
  resolved: boolean;
  value: unknown;
}

/**
 * adopt calls the `then` of a thenable that is not a promise of this realm. What it resolves to at once is returned; what
 * comes later is handed to ok or bad in a microtask, because the thenable may call from the end of the stack.
 */
function adopt(value: object, then: Fn, ok: (value: unknown) => void, bad: (error: unknown) => void): Adopted {
  const now: Adopted = { resolved: false, value: undefined };
  let rejected = false;
  let called = false;
  let returned = false;
  try {
    apply(then, value, [
      (result: unknown) => {
        if (called) return;
        if (returned) soon(() => ok(result));
        else {
          now.value = result;
          now.resolved = true;
        }
        called = true;
      },
      (error: unknown) => {
        if (called) return;
        if (returned) soon(() => bad(error));
        else {
          now.value = error;
          rejected = true;
        }
        called = true;
      },
    ]);
  } catch (error) {
    if (!called) {
      called = true;
      now.value = error;
      rejected = true;
    }
  }
  returned = true;
  if (rejected) bad(now.value);
  return now;
}

const settled = construct(Promise, [(resolve: (value: undefined) => void) => resolve(undefined)]);
defineProperty(settled, 'constructor', dataProperty(undefined));

/** soon runs work in a microtask, where `window.event` shows nothing. Work must not throw. */
export function soon(work: () => void): void {
  apply(promiseThen, settled, [work]);
}

/** lockedThen is what a promise is rejected with where {@link settleUnseen} fails. */
export const lockedThen = 'a script of the page has locked a `then` that would read and change what the call waits for';

/**
 * settleUnseen calls settle, the function that resolves a promise, with a value that is no thenable. The promise asks an
 * object for `then`: an own one that is undefined ends the search before the page's prototypes. For an object that is sealed
 * the page's own `then` is removed meanwhile; false means that the page has locked it.
 */
export function settleUnseen(value: unknown, settle: (value: unknown) => void): boolean {
  if (!isObject(value) || getOwnPropertyDescriptor(value, 'then')) {
    settle(value);
    return true;
  }
  if (defineProperty(value, 'then', hiddenProperty(undefined))) {
    settle(value);
    deleteProperty(value, 'then');
    return true;
  }
  return withoutInheritedThen(getPrototypeOf(value), () => settle(value));
}

function withoutInheritedThen(from: object | null, work: () => void): boolean {
  for (let at = from; at !== null; at = getPrototypeOf(at)) {
    const found = getOwnPropertyDescriptor(at, 'then');
    if (!found) continue;
    setPrototypeOf(found, null);
    if (!deleteProperty(at, 'then')) return false;
    try {
      return withoutInheritedThen(getPrototypeOf(at), work);
    } finally {
      defineProperty(at, 'then', found);
    }
  }
  work();
  return true;
}
