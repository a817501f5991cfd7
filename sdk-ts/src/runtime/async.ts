import {
  apply,
  construct,
  type Fn,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isFunction,
  isObject,
  lockedThenMessage,
  NativePromise,
  NativeTypeError,
  resolveWithoutThenLookup,
  runInMicrotask,
  whenSettled,
} from './primordials.ts';

// Runs a plugin's async functions, which the build rewrites as generators (internal/jsbuild/async.go). `await` reads a
// promise's `constructor`, and resolving a promise with an object reads the object's `then`. A page can define getters
// for `constructor` and `then` on built-in prototypes, and thus read awaited values.

type StepResult = IteratorResult<unknown, unknown>;

const generatorPrototype = getPrototypeOf(getPrototypeOf((function* () {})()) ?? {}) ?? {};
const generatorNext = getGeneratorMethod(generatorPrototype, 'next');
const generatorThrow = getGeneratorMethod(generatorPrototype, 'throw');
const asyncIterator = Symbol.asyncIterator;
const iteratorSymbol = Symbol.iterator;

function getGeneratorMethod(prototype: object, name: string): Fn {
  const method: unknown = getOwnPropertyDescriptor(prototype, name)?.value;
  if (!isFunction(method)) throw new NativeTypeError(`this browser has no ${name} of generators`);
  return method;
}

export function runAsync(thisValue: unknown, args: ArrayLike<unknown> | null, generatorBody: Fn): Promise<unknown> {
  let resolvePromise: (value: unknown) => void = doNothing;
  let rejectPromise: (error: unknown) => void = doNothing;
  const nativePromise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      resolvePromise = resolve;
      rejectPromise = reject;
    },
  ]);
  let generatorObject: unknown;
  const runGeneratorStep = (method: Fn, value: unknown): void => {
    let stepResult: unknown;
    try {
      generatorObject ??= apply(generatorBody, thisValue, args ?? []);
      stepResult = apply(method, generatorObject, [value]);
    } catch (error) {
      rejectPromise(error);
      return;
    }
    if (!isStepResult(stepResult)) return;
    if (stepResult.done === true) resolveOrReject(stepResult.value, resolvePromise, rejectPromise);
    else awaitValue(stepResult.value, resumeGenerator, throwIntoGenerator);
  };
  const resumeGenerator = (value: unknown) => runGeneratorStep(generatorNext, value);
  const throwIntoGenerator = (error: unknown) => runGeneratorStep(generatorThrow, error);
  resumeGenerator(undefined);
  return nativePromise;
}

/** Generators create `done` and `value` as own properties of an iterator result, so no page's getter runs. */
function isStepResult(value: unknown): value is StepResult {
  return isObject(value);
}

function doNothing(): void {
  // Initial value of `resolvePromise` and `rejectPromise`, which the executor of the promise replaces synchronously.
}

function awaitValue(value: unknown, onFulfilled: (value: unknown) => void, onRejected: (error: unknown) => void): void {
  let hasReturned = false;
  const deferCallback = (callback: (value: unknown) => void) => (settledValue: unknown) => {
    if (hasReturned) callback(settledValue);
    else runInMicrotask(() => callback(settledValue));
  };
  whenSettled(value, deferCallback(onFulfilled), deferCallback(onRejected));
  hasReturned = true;
}

function resolveOrReject(
  value: unknown,
  resolvePromise: (value: unknown) => void,
  rejectPromise: (error: unknown) => void,
): void {
  const resolveValue = (settledValue: unknown) => {
    if (!resolveWithoutThenLookup(settledValue, resolvePromise)) rejectPromise(new NativeTypeError(lockedThenMessage));
  };
  whenSettled(value, resolveValue, rejectPromise);
}

export function getAsyncIterator(asyncIterable: Readonly<Record<PropertyKey, unknown>>): unknown {
  const asyncMethod = asyncIterable[asyncIterator];
  if (isFunction(asyncMethod)) return apply(asyncMethod, asyncIterable, []);
  const syncMethod = asyncIterable[iteratorSymbol];
  if (!isFunction(syncMethod)) throw new NativeTypeError('the value of a for await is not iterable');
  const syncIterator: unknown = apply(syncMethod, asyncIterable, []);
  if (!isRecord(syncIterator)) throw new NativeTypeError('the value of a for await has no iterator');
  const makeMethod = (name: 'next' | 'return') => {
    const syncIteratorMethod = syncIterator[name];
    if (!isFunction(syncIteratorMethod)) return undefined;
    return (stepArgument: unknown) =>
      runAsync(undefined, null, function* (): Generator<unknown, unknown, unknown> {
        const stepResult: unknown = apply(syncIteratorMethod, syncIterator, [stepArgument]);
        if (!isStepResult(stepResult)) throw new NativeTypeError('the iterator of a for await returned no object');
        return { value: yield stepResult.value, done: stepResult.done };
      });
  };
  return { next: makeMethod('next'), return: makeMethod('return') };
}

function isRecord(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return isObject(value);
}
