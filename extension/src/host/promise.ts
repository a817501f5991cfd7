import {
  apply,
  construct,
  defineProperty,
  type Fn,
  hiddenProperty,
  isFn,
  lockedThen,
  NativePromise,
  NativeTypeError,
  promiseThen,
  settleUnseen,
  whenSettled,
} from './primordials.ts';

// Promises that a handler gets from its context. A page can replace
// Promise.prototype.then and the constructor's species, and would be handed the
// promise and what it brings; so these have methods of their own. An `await`
// uses none of that for a promise whose constructor is the realm's own.

/** Deferred is a promise and the two ends of it; the first one that is called counts. */
export interface Deferred {
  readonly promise: object;
  /** resolve takes any value but a thenable. */
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** makeDeferred returns one that is open. A rejection that the handler does not look at is nobody's news. */
export function makeDeferred(): Deferred {
  let settle: (value: unknown) => void = nothing;
  let fail: (error: unknown) => void = nothing;
  const promise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      settle = resolve;
      fail = reject;
    },
  ]);
  // The page's `unhandledrejection` would show it what the handler was told.
  attach(promise, nothing, nothing);
  const own = (name: string, method: Fn) => defineProperty(promise, name, hiddenProperty(method));
  own('then', (ok, bad) => follow(promise, ok, bad));
  own('catch', (bad) => follow(promise, undefined, bad));
  own('finally', (work) => followLast(promise, work));
  const resolve = (value: unknown) => {
    if (!settleUnseen(value, settle)) fail(new NativeTypeError(lockedThen));
  };
  return { promise, resolve, reject: (error) => fail(error) };
}

function nothing(): void {
  // For both ends of a promise that is being made, and for those that nobody follows.
}

/** follow is `promise.then(ok, bad)`. */
function follow(promise: Promise<unknown>, ok: unknown, bad: unknown): object {
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
  attach(promise, turn(ok, next.resolve), turn(bad, next.reject));
  return next.promise;
}

/** followLast is `promise.finally(work)`. */
function followLast(promise: Promise<unknown>, work: unknown): object {
  const next = makeDeferred();
  const turn = (settle: (value: unknown) => void) => (value: unknown) => {
    try {
      whenSettled(isFn(work) ? apply(work, undefined, []) : undefined, () => settle(value), next.reject);
    } catch (error) {
      next.reject(error);
    }
  };
  attach(promise, turn(next.resolve), turn(next.reject));
  return next.promise;
}

/**
 * attach is the language's own `then`; ok and bad must return nothing and not throw. It asks a promise for its
 * constructor: an own `undefined` means the realm's own Promise and keeps the page out.
 */
function attach(promise: Promise<unknown>, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  defineProperty(promise, 'constructor', hiddenProperty(undefined));
  apply(promiseThen, promise, [ok, bad]);
  defineProperty(promise, 'constructor', hiddenProperty(NativePromise));
}
