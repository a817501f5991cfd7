import { hasProperties, isMethod, readMessage } from '../runtime/value.ts';
import { formatValue } from './page.ts';

/** The assertions that {@link expect} returns. Each method throws an error if its assertion fails. */
export interface Expectation {
  /** Asserts that the tested value is identical to `want`, by `Object.is`. */
  toBe(want: unknown): void;
  /** Asserts that the tested value equals `want` recursively. Properties that are undefined are treated as absent. */
  toEqual(want: unknown): void;
  /** Asserts that a string matches a regular expression, or contains another string. */
  toMatch(want: RegExp | string): void;
  /** Asserts that a string contains a substring, or that an array contains an element equal to `want`. */
  toContain(want: unknown): void;
  toBeTruthy(): void;
  /**
   * Calls the tested function and asserts that it throws. If `want` is given, the error message must match the pattern
   * or contain the text.
   */
  toThrow(want?: RegExp | string): void;
  /** The same assertions in negated form, as in `expect(a).not.toBe(b)`. */
  readonly not: Expectation;
}

/**
 * Returns assertions about `value`, as in `expect(call.result).toEqual({ ok: true })`. Every assertion about a promise
 * throws, because a test that passes a promise has forgotten an `await`. The only assertion about a promise that does
 * not throw is `toBe` with another promise.
 */
export function expect(value: unknown): Expectation {
  return makeExpectation(value, false);
}

function makeExpectation(value: unknown, isNegated: boolean): Expectation {
  const check = (isMet: boolean, expected: string) => {
    if (isMet === isNegated) throw new Error(`expected ${formatValue(value)} ${isNegated ? 'not ' : ''}${expected}`);
  };
  if (isPromise(value)) return makePromiseExpectation(value, isNegated);
  return {
    toBe: (want) => check(Object.is(value, want), `to be ${formatValue(want)}`),
    toEqual: (want) => check(isEqual(value, want), `to equal ${formatValue(want)}`),
    toMatch: (want) => check(isMatch(String(value), want), `to match ${formatPattern(want)}`),
    toContain: (want) => check(contains(value, want), `to contain ${formatValue(want)}`),
    toBeTruthy: () => check(Boolean(value), 'to be truthy'),
    toThrow: (want) => {
      const thrownMessage = catchMessage(value);
      const expected = want === undefined ? 'to throw' : `to throw ${formatPattern(want)}`;
      const isMet = thrownMessage !== undefined && (want === undefined || isMatch(thrownMessage, want));
      check(isMet, thrownMessage === undefined ? expected : `${expected}; it threw ${formatValue(thrownMessage)}`);
    },
    get not() {
      return makeExpectation(value, !isNegated);
    },
  };
}

/** Returns assertions about a promise: `toBe` compares it with another promise, and the others throw. */
function makePromiseExpectation(value: PromiseLike<unknown>, isNegated: boolean): Expectation {
  const fail = () => {
    throw new TypeError('the tested value is a promise; write await before it, as in expect(await promise)');
  };
  return {
    toBe: (want) => {
      if (!isPromise(want)) fail();
      if (Object.is(value, want) === isNegated)
        throw new Error(`expected ${isNegated ? 'another' : 'the same'} promise`);
    },
    toEqual: fail,
    toMatch: fail,
    toContain: fail,
    toBeTruthy: fail,
    toThrow: fail,
    get not() {
      return makePromiseExpectation(value, !isNegated);
    },
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return hasProperties(value) && isMethod(value.then);
}

function formatPattern(want: RegExp | string): string {
  return want instanceof RegExp ? String(want) : formatValue(want);
}

function catchMessage(work: unknown): string | undefined {
  if (!isMethod(work)) throw new TypeError('toThrow requires a function, as in expect(() => parse(text)).toThrow()');
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    return readMessage(error);
  }
  if (isPromise(result))
    throw new TypeError('the function returns a promise; await the promise, and catch its error with try and catch');
  return undefined;
}

function isMatch(text: string, want: RegExp | string): boolean {
  return typeof want === 'string' ? text.includes(want) : want.test(text);
}

function contains(value: unknown, want: unknown): boolean {
  if (typeof value === 'string') return value.includes(String(want));
  return Array.isArray(value) && value.some((element) => isEqual(element, want));
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!hasProperties(a) || !hasProperties(b) || isMethod(a) || isMethod(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b) || Object.prototype.toString.call(a) !== Object.prototype.toString.call(b))
    return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  if (a instanceof Map && b instanceof Map) return isEqual([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return isEqual([...a], [...b]);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isEqual(a[key], b[key]));
}
