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
  settleUnseen,
  soon,
  whenSettled,
} from './primordials.ts';

// Runs a plugin's async functions, which the build rewrites as generators (internal/jsbuild/async.go). Native async
// functions would expose what they await and return: `await` reads `constructor` of a promise, and resolving a promise
// with an object reads `then` of the object. Both lookups reach prototypes where a page can define a getter.

type Step = IteratorResult<unknown, unknown>;

const generatorPrototype = getPrototypeOf(getPrototypeOf((function* () {})()) ?? {}) ?? {};
const nextStep = methodOf(generatorPrototype, 'next');
const throwInto = methodOf(generatorPrototype, 'throw');
const asyncIterator = Symbol.asyncIterator;
const iterator = Symbol.iterator;

function methodOf(on: object, name: string): Fn {
  const found: unknown = getOwnPropertyDescriptor(on, name)?.value;
  if (!isFn(found)) throw new NativeTypeError(`this browser has no ${name} of generators`);
  return found;
}

/** Runs the body of an async function, a generator that yields what the function awaits, and returns its promise. */
export function runAsync(self: unknown, args: ArrayLike<unknown> | null, body: Fn): Promise<unknown> {
  let settle: (value: unknown) => void = ignore;
  let fail: (error: unknown) => void = ignore;
  const promise = construct(NativePromise<unknown>, [
    (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      settle = resolve;
      fail = reject;
    },
  ]);
  let running: unknown;
  const step = (method: Fn, value: unknown): void => {
    let reached: unknown;
    try {
      running ??= apply(body, self, args ?? []);
      reached = apply(method, running, [value]);
    } catch (error) {
      fail(error);
      return;
    }
    if (!isStep(reached)) return;
    if (reached.done === true) resolveWith(reached.value, settle, fail);
    else follow(reached.value, resume, raise);
  };
  const resume = (value: unknown) => step(nextStep, value);
  const raise = (error: unknown) => step(throwInto, error);
  resume(undefined);
  return promise;
}

/** Results of a generator have both fields as own properties, so an object is enough. */
function isStep(value: unknown): value is Step {
  return isObject(value);
}

function ignore(): void {
  // Placeholder until the promise constructor has passed its functions.
}

/** Calls ok or bad in a microtask, like `await`. */
function follow(value: unknown, ok: (value: unknown) => void, bad: (error: unknown) => void): void {
  let isLater = false;
  const later = (go: (value: unknown) => void) => (settled: unknown) => {
    if (isLater) go(settled);
    else soon(() => go(settled));
  };
  whenSettled(value, later(ok), later(bad));
  isLater = true;
}

/** Resolves a promise with the return value of an async function, which may be a promise itself. */
function resolveWith(value: unknown, settle: (value: unknown) => void, fail: (error: unknown) => void): void {
  const settled = (plain: unknown) => {
    if (!settleUnseen(plain, settle)) fail(new NativeTypeError(lockedThen));
  };
  whenSettled(value, settled, fail);
}

/** Returns the iterator of a `for await`. Its `next` and `return` methods return promises. */
export function asyncIteratorOf(values: Readonly<Record<PropertyKey, unknown>>): unknown {
  const own = values[asyncIterator];
  if (isFn(own)) return apply(own, values, []);
  const start = values[iterator];
  if (!isFn(start)) throw new NativeTypeError('the value of a for await is not iterable');
  const inner: unknown = apply(start, values, []);
  if (!isRecord(inner)) throw new NativeTypeError('the value of a for await has no iterator');
  const method = (name: 'next' | 'return') => {
    const found = inner[name];
    if (!isFn(found)) return undefined;
    return (given: unknown) =>
      runAsync(undefined, null, function* (): Generator<unknown, unknown, unknown> {
        const reached: unknown = apply(found, inner, [given]);
        if (!isStep(reached)) throw new NativeTypeError('the iterator of a for await returned no object');
        return { value: yield reached.value, done: reached.done };
      });
  };
  return { next: method('next'), return: method('return') };
}

function isRecord(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return isObject(value);
}
