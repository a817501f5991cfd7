import { apply, isFn, NativeTypeError, rawJson, toBigInt } from './primordials.ts';

// JavaScript numbers round integers above 2^53. An integer above 2^53 in the arguments of a call becomes a bigint, so
// that no digit is lost. A bigint in a tool's result is written as an integer.

export const MaxSafeInteger = 9007199254740991;

/** parseExactInteger is a reviver function for JSON.parse that converts large integers to bigint. */
export function parseExactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || (value <= MaxSafeInteger && value >= -MaxSafeInteger)) return value;
  const sourceText = context?.source;
  return typeof sourceText === 'string' && isIntegerSource(sourceText) ? toBigInt(sourceText) : value;
}

/**
 * makeRawInteger returns a value that JSON.stringify writes as an integer without rounding. makeRawInteger throws if
 * the browser lacks JSON.rawJSON.
 */
export function makeRawInteger(value: bigint): unknown {
  if (!isFn(rawJson))
    throw new NativeTypeError('this browser cannot write a bigint as JSON; return a string or a number');
  return apply(rawJson, undefined, [`${value}`]);
}

function isIntegerSource(sourceText: string): boolean {
  for (let i = sourceText[0] === '-' ? 1 : 0; i < sourceText.length; i++) {
    const digit = sourceText[i];
    if (digit === undefined || digit < '0' || digit > '9') return false;
  }
  return true;
}
