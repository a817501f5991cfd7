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
// the constructor, and would then receive the promise and its value. Therefore the promises of a context have their own
// `then`, `catch` and `finally`. `await` uses neither the prototype nor the species for a promise whose constructor is
// the realm's Promise.

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
  // Without a handler, the `unhandledrejection` event would pass the error to the page.
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
  // A placeholder until the promise constructor has passed its functions, and a handler for ignored rejections.
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
 * attachHandlers calls the native `then`. onFulfilled and onRejected must return nothing and must not throw. `then`
 * reads the constructor of the promise. An own property with the value undefined selects the realm's Promise, and
 * avoids a lookup that the page controls.
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
