import {
  apply,
  construct,
  defineProperty,
  type Fn,
  hiddenProperty,
  isFn,
  lockedThenMessage,
  NativePromise,
  NativeTypeError,
  promiseThen,
  settleHiddenFromPage,
  whenSettled,
} from './primordials.ts';

// Makes the promises that a context returns to a handler. A page can replace Promise.prototype.then and the species of
// the constructor, and would receive the promise and its value. Therefore the promises of a context have own methods.
// `await` uses neither for a promise whose constructor is the realm's Promise.

/** Deferred is a promise and its two settling functions. The first call of resolve or reject settles the promise. */
export interface Deferred {
  readonly promise: object;
  /** resolve accepts any value except a thenable. */
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** makeDeferred returns a pending Deferred. A rejection that the handler ignores triggers no event in the page. */
export function makeDeferred(): Deferred {
  let settle: (value: unknown) => void = doNothing;
  let fail: (error: unknown) => void = doNothing;
  const promise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      settle = resolve;
      fail = reject;
    },
  ]);
  // Without a handler, the `unhandledrejection` event would pass the error to the page.
  attachHandlers(promise, doNothing, doNothing);
  const own = (name: string, method: Fn) => defineProperty(promise, name, hiddenProperty(method));
  own('then', (ok, bad) => followPromise(promise, ok, bad));
  own('catch', (bad) => followPromise(promise, undefined, bad));
  own('finally', (work) => followLast(promise, work));
  const resolve = (value: unknown) => {
    if (!settleHiddenFromPage(value, settle)) fail(new NativeTypeError(lockedThenMessage));
  };
  return { promise, resolve, reject: (error) => fail(error) };
}

function doNothing(): void {
  // An empty function: a placeholder until the promise constructor has passed its functions, and a handler for ignored
  // rejections.
}

/** followPromise implements `promise.then(ok, bad)`. */
function followPromise(promise: Promise<unknown>, ok: unknown, bad: unknown): object {
  const next = makeDeferred();
  const turn = (work: unknown, otherwise: (value: unknown) => void) => (value: unknown) => {
    if (!isFn(work)) {
      otherwise(value);
      return;
    }
    try {
      whenSettled(apply(work, undefined, [value]), next.resolve, next.reject);
    } catch (error) {
      next.reject(error);
    }
  };
  attachHandlers(promise, turn(ok, next.resolve), turn(bad, next.reject));
  return next.promise;
}

/** followLast implements `promise.finally(work)`. */
function followLast(promise: Promise<unknown>, work: unknown): object {
  const next = makeDeferred();
  const turn = (settle: (value: unknown) => void) => (value: unknown) => {
    try {
      whenSettled(isFn(work) ? apply(work, undefined, []) : undefined, () => settle(value), next.reject);
    } catch (error) {
      next.reject(error);
    }
  };
  attachHandlers(promise, turn(next.resolve), turn(next.reject));
  return next.promise;
}

/**
 * attachHandlers calls the native `then`. ok and bad must return nothing and not throw. `then` reads the constructor of the
 * promise: an own property with the value undefined selects the realm's Promise, and avoids a lookup that the page controls.
 */
function attachHandlers(promise: Promise<unknown>, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  defineProperty(promise, 'constructor', hiddenProperty(undefined));
  apply(promiseThen, promise, [ok, bad]);
  defineProperty(promise, 'constructor', hiddenProperty(NativePromise));
}
