import { apply, isFn, NativeTypeError, rawJson, toBigInt } from './primordials.ts';

// JavaScript's numbers round integers beyond 2^53. Such an integer in a call's
// arguments reaches the tool as a bigint, and a bigint in its result is written
// as the integer it is.

/** MaxSafe is the largest integer up to which a number rounds none. */
const MaxSafe = 9007199254740991;

/** exactInteger is a reviver for JSON.parse. */
export function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || (value <= MaxSafe && value >= -MaxSafe)) return value;
  const source = context?.source;
  return typeof source === 'string' && isInteger(source) ? toBigInt(source) : value;
}

/** rawInteger returns what JSON.stringify writes as the integer that value is. It throws where the browser can't. */
export function rawInteger(value: bigint): unknown {
  if (!isFn(rawJson)) throw new NativeTypeError('this browser can write no bigint as JSON; return a text or a number');
  return apply(rawJson, undefined, [`${value}`]);
}

/** isInteger reports whether the text of a number has digits only, behind a sign. */
function isInteger(source: string): boolean {
  for (let i = source[0] === '-' ? 1 : 0; i < source.length; i++) {
    const digit = source[i];
    if (digit === undefined || digit < '0' || digit > '9') return false;
  }
  return true;
}
