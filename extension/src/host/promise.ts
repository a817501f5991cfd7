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

// promise.ts creates the promises that the context's functions return to a handler. A page can replace
// Promise.prototype.then or Symbol.species, and could then receive a promise and its value. The promises of a context
// have their own `then`, `catch` and `finally` methods, which the page cannot replace. `await` uses neither the
// prototype nor the species of a promise whose `constructor` is the original Promise.

/**
 * Deferred is a promise with the two functions that settle it. Only the first call of resolve or reject settles the
 * promise.
 */
export interface Deferred {
  readonly promise: object;
  /** The method `resolve` accepts any value except an object with a `then` method. */
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** makeDeferred returns a promise whose ignored rejection causes no `unhandledrejection` event in the page. */
export function makeDeferred(): Deferred {
  let resolvePromise: (value: unknown) => void = doNothing;
  let rejectPromise: (error: unknown) => void = doNothing;
  const nativePromise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      resolvePromise = resolve;
      rejectPromise = reject;
    },
  ]);
  // Without a rejection handler, an `unhandledrejection` event would pass the error to the page.
  attachHandlers(nativePromise, doNothing, doNothing);
  const defineMethod = (name: string, method: Fn) => defineProperty(nativePromise, name, hiddenProperty(method));
  defineMethod('then', (ok, bad) => followPromise(nativePromise, ok, bad));
  defineMethod('catch', (bad) => followPromise(nativePromise, undefined, bad));
  defineMethod('finally', (onSettled) => attachFinally(nativePromise, onSettled));
  const resolve = (value: unknown) => {
    if (!settleHiddenFromPage(value, resolvePromise)) rejectPromise(new NativeTypeError(lockedThenMessage));
  };
  return { promise: nativePromise, resolve, reject: (error) => rejectPromise(error) };
}

function doNothing(): void {
  // doNothing is a rejection handler that ignores the error, and the initial value of resolve and reject until the
  // Promise constructor provides both functions.
}

/** followPromise implements `promise.then(onFulfilled, onRejected)`. */
function followPromise(nativePromise: Promise<unknown>, onFulfilled: unknown, onRejected: unknown): object {
  const nextDeferred = makeDeferred();
  const makeHandler = (callback: unknown, settleDerivedPromise: (value: unknown) => void) => (value: unknown) => {
    if (!isFn(callback)) {
      settleDerivedPromise(value);
      return;
    }
    try {
      whenSettled(apply(callback, undefined, [value]), nextDeferred.resolve, nextDeferred.reject);
    } catch (error) {
      nextDeferred.reject(error);
    }
  };
  attachHandlers(
    nativePromise,
    makeHandler(onFulfilled, nextDeferred.resolve),
    makeHandler(onRejected, nextDeferred.reject),
  );
  return nextDeferred.promise;
}

/** attachFinally implements `promise.finally(callback)`. */
function attachFinally(nativePromise: Promise<unknown>, callback: unknown): object {
  const nextDeferred = makeDeferred();
  const makeHandler = (settlePromise: (value: unknown) => void) => (value: unknown) => {
    try {
      whenSettled(
        isFn(callback) ? apply(callback, undefined, []) : undefined,
        () => settlePromise(value),
        nextDeferred.reject,
      );
    } catch (error) {
      nextDeferred.reject(error);
    }
  };
  attachHandlers(nativePromise, makeHandler(nextDeferred.resolve), makeHandler(nextDeferred.reject));
  return nextDeferred.promise;
}

/**
 * attachHandlers requires that onFulfilled and onRejected return nothing and throw no error. The native `then` method
 * reads the property `constructor` of the promise. If a promise has its own property `constructor` with the value
 * undefined, `then` uses the original Promise.
 */
function attachHandlers(
  nativePromise: Promise<unknown>,
  onFulfilled: (value: unknown) => void,
  onRejected: (error: unknown) => void,
): void {
  defineProperty(nativePromise, 'constructor', hiddenProperty(undefined));
  apply(promiseThen, nativePromise, [onFulfilled, onRejected]);
  defineProperty(nativePromise, 'constructor', hiddenProperty(NativePromise));
}
