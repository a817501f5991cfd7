import {
  apply,
  construct,
  type Fn,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isFn,
  isObject,
  lockedThen,
  NativePromise,
  NativeTypeError,
  runInMicrotask,
  settleUnseen,
  whenSettled,
} from './primordials.ts';

// Runs a plugin's async functions, which the build rewrites as generators (internal/jsbuild/async.go). Native async
// functions would expose what they await and return: `await` reads `constructor` of a promise, and resolving a promise
// with an object reads `then` of the object. The lookups of `constructor` and `then` reach prototypes where a page can
// define a getter.

type Step = IteratorResult<unknown, unknown>;

const generatorPrototype = getPrototypeOf(getPrototypeOf((function* () {})()) ?? {}) ?? {};
const nextStep = generatorMethod(generatorPrototype, 'next');
const throwInto = generatorMethod(generatorPrototype, 'throw');
const asyncIterator = Symbol.asyncIterator;
const iterator = Symbol.iterator;

function generatorMethod(on: object, name: string): Fn {
  const found: unknown = getOwnPropertyDescriptor(on, name)?.value;
  if (!isFn(found)) throw new NativeTypeError(`this browser has no ${name} of generators`);
  return found;
}

/** Runs the body of an async function, a generator that yields what the function awaits, and returns its promise. */
export function runAsync(self: unknown, args: ArrayLike<unknown> | null, body: Fn): Promise<unknown> {
  let settle: (value: unknown) => void = doNothing;
  let fail: (error: unknown) => void = doNothing;
  const promise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      settle = resolve;
      fail = reject;
    },
  ]);
  let generator: unknown;
  const step = (method: Fn, value: unknown): void => {
    let result: unknown;
    try {
      generator ??= apply(body, self, args ?? []);
      result = apply(method, generator, [value]);
    } catch (error) {
      fail(error);
      return;
    }
    if (!isStep(result)) return;
    if (result.done === true) resolveWith(result.value, settle, fail);
    else awaitValue(result.value, resume, throwNext);
  };
  const resume = (value: unknown) => step(nextStep, value);
  const throwNext = (error: unknown) => step(throwInto, error);
  resume(undefined);
  return promise;
}

/** Results of a generator have `done` and `value` as own properties, so the check for an object is sufficient. */
function isStep(value: unknown): value is Step {
  return isObject(value);
}

function doNothing(): void {
  // An empty function: a placeholder until the promise constructor has passed its functions.
}

/** Calls onFulfilled or onRejected in a microtask, like `await`. */
function awaitValue(value: unknown, onFulfilled: (value: unknown) => void, onRejected: (error: unknown) => void): void {
  let hasReturned = false;
  const deferCallback = (callback: (value: unknown) => void) => (settled: unknown) => {
    if (hasReturned) callback(settled);
    else runInMicrotask(() => callback(settled));
  };
  whenSettled(value, deferCallback(onFulfilled), deferCallback(onRejected));
  hasReturned = true;
}

/** Resolves a promise with the return value of an async function. The return value may be a promise. */
function resolveWith(value: unknown, settle: (value: unknown) => void, fail: (error: unknown) => void): void {
  const settled = (plain: unknown) => {
    if (!settleUnseen(plain, settle)) fail(new NativeTypeError(lockedThen));
  };
  whenSettled(value, settled, fail);
}

/** Returns the iterator of a `for await`. The `next` and `return` methods of this iterator return promises. */
export function asyncIteratorOf(values: Readonly<Record<PropertyKey, unknown>>): unknown {
  const asyncMethod = values[asyncIterator];
  if (isFn(asyncMethod)) return apply(asyncMethod, values, []);
  const start = values[iterator];
  if (!isFn(start)) throw new NativeTypeError('the value of a for await is not iterable');
  const syncIterator: unknown = apply(start, values, []);
  if (!isRecord(syncIterator)) throw new NativeTypeError('the value of a for await has no iterator');
  const method = (name: 'next' | 'return') => {
    const found = syncIterator[name];
    if (!isFn(found)) return undefined;
    return (given: unknown) =>
      runAsync(undefined, null, function* (): Generator<unknown, unknown, unknown> {
        const reached: unknown = apply(found, syncIterator, [given]);
        if (!isStep(reached)) throw new NativeTypeError('the iterator of a for await returned no object');
        return { value: yield reached.value, done: reached.done };
      });
  };
  return { next: method('next'), return: method('return') };
}

function isRecord(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return isObject(value);
}
