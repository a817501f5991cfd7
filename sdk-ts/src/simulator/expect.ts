import { hasProperties, isMethod, readMessage } from '../runtime/value.ts';
import { formatValue } from './page.ts';

/** The assertions that {@link expect} returns. Each method throws an error if its assertion fails. */
export interface Expectation {
  /** Asserts that the tested value is identical to `expectedValue`, by `Object.is`. */
  toBe(expectedValue: unknown): void;
  /**
   * Asserts that the tested value equals `expectedValue` recursively. Properties that are undefined are treated as
   * absent.
   */
  toEqual(expectedValue: unknown): void;
  /** Asserts that a string matches a regular expression, or contains another string. */
  toMatch(expectedValue: RegExp | string): void;
  /** Asserts that a string contains a substring, or that an array contains an element equal to `expectedValue`. */
  toContain(expectedValue: unknown): void;
  toBeTruthy(): void;
  /**
   * Calls the tested function and asserts that it throws. If `expectedValue` is given, the error message must match the
   * pattern or contain the text.
   */
  toThrow(expectedValue?: RegExp | string): void;
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
  const assertExpectation = (isSatisfied: boolean, expected: string) => {
    if (isSatisfied === isNegated)
      throw new Error(`expected ${formatValue(value)} ${isNegated ? 'not ' : ''}${expected}`);
  };
  if (isPromise(value)) return makePromiseExpectation(value, isNegated);
  return {
    toBe: (expectedValue) => assertExpectation(Object.is(value, expectedValue), `to be ${formatValue(expectedValue)}`),
    toEqual: (expectedValue) =>
      assertExpectation(isEqual(value, expectedValue), `to equal ${formatValue(expectedValue)}`),
    toMatch: (expectedValue) =>
      assertExpectation(isMatch(String(value), expectedValue), `to match ${formatPattern(expectedValue)}`),
    toContain: (expectedValue) =>
      assertExpectation(containsValue(value, expectedValue), `to contain ${formatValue(expectedValue)}`),
    toBeTruthy: () => assertExpectation(Boolean(value), 'to be truthy'),
    toThrow: (expectedValue) => {
      const thrownMessage = catchErrorMessage(value);
      const expected = expectedValue === undefined ? 'to throw' : `to throw ${formatPattern(expectedValue)}`;
      const isSatisfied =
        thrownMessage !== undefined && (expectedValue === undefined || isMatch(thrownMessage, expectedValue));
      assertExpectation(
        isSatisfied,
        thrownMessage === undefined ? expected : `${expected}; it threw ${formatValue(thrownMessage)}`,
      );
    },
    get not() {
      return makeExpectation(value, !isNegated);
    },
  };
}

/** Returns assertions about a promise: `toBe` compares it with another promise, and the others throw. */
function makePromiseExpectation(value: PromiseLike<unknown>, isNegated: boolean): Expectation {
  const throwFailure = () => {
    throw new TypeError('the tested value is a promise; write await before it, as in expect(await promise)');
  };
  return {
    toBe: (expectedValue) => {
      if (!isPromise(expectedValue)) throwFailure();
      if (Object.is(value, expectedValue) === isNegated)
        throw new Error(`expected ${isNegated ? 'another' : 'the same'} promise`);
    },
    toEqual: throwFailure,
    toMatch: throwFailure,
    toContain: throwFailure,
    toBeTruthy: throwFailure,
    toThrow: throwFailure,
    get not() {
      return makePromiseExpectation(value, !isNegated);
    },
  };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return hasProperties(value) && isMethod(value.then);
}

function formatPattern(expectedValue: RegExp | string): string {
  return expectedValue instanceof RegExp ? String(expectedValue) : formatValue(expectedValue);
}

function catchErrorMessage(throwingFunction: unknown): string | undefined {
  if (!isMethod(throwingFunction))
    throw new TypeError('toThrow requires a function, as in expect(() => parse(text)).toThrow()');
  let returnValue: unknown;
  try {
    returnValue = throwingFunction();
  } catch (error) {
    return readMessage(error);
  }
  if (isPromise(returnValue))
    throw new TypeError('the function returns a promise; await the promise, and catch its error with try and catch');
  return undefined;
}

function isMatch(text: string, expectedValue: RegExp | string): boolean {
  return typeof expectedValue === 'string' ? text.includes(expectedValue) : expectedValue.test(text);
}

function containsValue(value: unknown, expectedValue: unknown): boolean {
  if (typeof value === 'string') return value.includes(String(expectedValue));
  return Array.isArray(value) && value.some((element) => isEqual(element, expectedValue));
}

function isEqual(firstValue: unknown, secondValue: unknown): boolean {
  if (Object.is(firstValue, secondValue)) return true;
  if (!hasProperties(firstValue) || !hasProperties(secondValue) || isMethod(firstValue) || isMethod(secondValue))
    return false;
  if (
    Array.isArray(firstValue) !== Array.isArray(secondValue) ||
    Object.prototype.toString.call(firstValue) !== Object.prototype.toString.call(secondValue)
  )
    return false;
  if (firstValue instanceof Date && secondValue instanceof Date) return firstValue.getTime() === secondValue.getTime();
  if (firstValue instanceof RegExp && secondValue instanceof RegExp) return String(firstValue) === String(secondValue);
  if (Array.isArray(firstValue) && Array.isArray(secondValue) && firstValue.length !== secondValue.length) return false;
  if (firstValue instanceof Map && secondValue instanceof Map) return isEqual([...firstValue], [...secondValue]);
  if (firstValue instanceof Set && secondValue instanceof Set) return isEqual([...firstValue], [...secondValue]);
  const keys = new Set([...Object.keys(firstValue), ...Object.keys(secondValue)]);
  return [...keys].every((key) => isEqual(firstValue[key], secondValue[key]));
}
