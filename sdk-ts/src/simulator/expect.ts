import { isBag, isMethod, messageOf } from '../runtime/value.ts';
import { shown } from './page.ts';

/** What a test expects of a value. Each throws if it is not so. */
export interface Expectation {
  /** It is this very value. */
  toBe(want: unknown): void;
  /** It is equal, member by member; members that are undefined count as absent. */
  toEqual(want: unknown): void;
  /** The text matches, or contains the text. */
  toMatch(want: RegExp | string): void;
  /** The text or the array contains it; in an array an equal member will do. */
  toContain(want: unknown): void;
  toBeTruthy(): void;
  /** It is a function that throws; with a message that matches, if that is given. */
  toThrow(want?: RegExp | string): void;
  /** Expects the contrary. */
  readonly not: Expectation;
}

/** Begins an expectation: `expect(call.result).toEqual({ ok: true })`. */
export function expect(value: unknown): Expectation {
  return expectation(value, false);
}

function expectation(value: unknown, contrary: boolean): Expectation {
  const check = (holds: boolean, what: string) => {
    if (holds === contrary) throw new Error(`expected ${shown(value)} ${contrary ? 'not ' : ''}${what}`);
  };
  return {
    toBe: (want) => check(Object.is(value, want), `to be ${shown(want)}`),
    toEqual: (want) => check(equal(value, want), `to equal ${shown(want)}`),
    toMatch: (want) =>
      check(matches(String(value), want), `to match ${want instanceof RegExp ? String(want) : shown(want)}`),
    toContain: (want) => check(contains(value, want), `to contain ${shown(want)}`),
    toBeTruthy: () => check(Boolean(value), 'to be truthy'),
    toThrow: (want) => {
      const thrown = thrownBy(value);
      const what = want === undefined ? 'to throw' : `to throw ${want instanceof RegExp ? String(want) : shown(want)}`;
      const holds = thrown !== undefined && (want === undefined || matches(thrown, want));
      check(holds, thrown === undefined ? what : `${what}; it threw ${shown(thrown)}`);
    },
    get not() {
      return expectation(value, !contrary);
    },
  };
}

function thrownBy(work: unknown): string | undefined {
  if (!isMethod(work))
    throw new TypeError('toThrow: give expect a function, as in expect(() => parse(text)).toThrow()');
  try {
    work();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function matches(text: string, want: RegExp | string): boolean {
  return typeof want === 'string' ? text.includes(want) : want.test(text);
}

function contains(value: unknown, want: unknown): boolean {
  if (typeof value === 'string') return value.includes(String(want));
  return Array.isArray(value) && value.some((one) => equal(one, want));
}

/** Reports whether two values are equal, member by member. */
export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isBag(a) || !isBag(b) || isMethod(a) || isMethod(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b) || Object.prototype.toString.call(a) !== Object.prototype.toString.call(b))
    return false;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  if (a instanceof Map && b instanceof Map) return equal([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return equal([...a], [...b]);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => equal(a[key], b[key]));
}
