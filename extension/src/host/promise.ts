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

// Makes the promises that the context of a call returns to a handler. A page can replace Promise.prototype.then and
// Symbol.species of the constructor, and could receive the promise and its value in this way. The promises of a context
// have their own `then`, `catch` and `finally`, so that the page cannot receive them. `await` uses neither the
// prototype nor the species for a promise whose constructor is the realm's Promise.

/**
 * Deferred is a promise and its two settling functions. Only the first call of resolve or reject settles the promise.
 */
export interface Deferred {
  readonly promise: object;
  /** resolve accepts any value except a thenable. */
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** makeDeferred returns a pending Deferred. A rejection that the handler ignores triggers no event in the page. */
export function makeDeferred(): Deferred {
  let resolvePromise: (value: unknown) => void = doNothing;
  let rejectPromise: (error: unknown) => void = doNothing;
  const promise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      resolvePromise = resolve;
      rejectPromise = reject;
    },
  ]);
  // Without a rejection handler, the `unhandledrejection` event would pass the error of a rejected promise to the page.
  attachHandlers(promise, doNothing, doNothing);
  const defineMethod = (name: string, method: Fn) => defineProperty(promise, name, hiddenProperty(method));
  defineMethod('then', (ok, bad) => followPromise(promise, ok, bad));
  defineMethod('catch', (bad) => followPromise(promise, undefined, bad));
  defineMethod('finally', (work) => followFinally(promise, work));
  const resolve = (value: unknown) => {
    if (!settleHiddenFromPage(value, resolvePromise)) rejectPromise(new NativeTypeError(lockedThenMessage));
  };
  return { promise, resolve, reject: (error) => rejectPromise(error) };
}

function doNothing(): void {
  // doNothing is a placeholder until the promise constructor has passed its functions, and a handler for ignored
  // rejections.
}

/** followPromise implements `promise.then(ok, bad)`. */
function followPromise(promise: Promise<unknown>, onFulfilled: unknown, onRejected: unknown): object {
  const nextDeferred = makeDeferred();
  const makeHandler = (callback: unknown, passOn: (value: unknown) => void) => (value: unknown) => {
    if (!isFn(callback)) {
      passOn(value);
      return;
    }
    try {
      whenSettled(apply(callback, undefined, [value]), nextDeferred.resolve, nextDeferred.reject);
    } catch (error) {
      nextDeferred.reject(error);
    }
  };
  attachHandlers(promise, makeHandler(onFulfilled, nextDeferred.resolve), makeHandler(onRejected, nextDeferred.reject));
  return nextDeferred.promise;
}

/** followFinally implements `promise.finally(work)`. */
function followFinally(promise: Promise<unknown>, callback: unknown): object {
  const nextDeferred = makeDeferred();
  const makeHandler = (settle: (value: unknown) => void) => (value: unknown) => {
    try {
      whenSettled(
        isFn(callback) ? apply(callback, undefined, []) : undefined,
        () => settle(value),
        nextDeferred.reject,
      );
    } catch (error) {
      nextDeferred.reject(error);
    }
  };
  attachHandlers(promise, makeHandler(nextDeferred.resolve), makeHandler(nextDeferred.reject));
  return nextDeferred.promise;
}

/**
 * attachHandlers calls the native `then` of a promise with two handlers. The functions onFulfilled and onRejected must
 * return nothing and must not throw. The native `then` reads the property constructor of the promise. If the promise
 * has an own property constructor with the value undefined, `then` uses the realm's Promise, without a lookup that the
 * page controls.
 */
function attachHandlers(
  promise: Promise<unknown>,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
): void {
  defineProperty(promise, 'constructor', hiddenProperty(undefined));
  apply(promiseThen, promise, [onFulfilled, onRejected]);
  defineProperty(promise, 'constructor', hiddenProperty(NativePromise));
}
