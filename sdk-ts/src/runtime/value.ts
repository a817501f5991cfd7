import { readExceptionMessage } from './page-primordials.ts';
import { getSafeProperty } from './primordials.ts';

// Type checks for untrusted values, such as a plugin's default export and objects of other adapters.

/** A value with properties: an object or a function. */
export type Properties = Record<PropertyKey, unknown>;

/** Reports whether `value` is an object or a function. */
export function hasProperties(value: unknown): value is Properties {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A function with unknown parameters and an unknown result. */
export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Reports whether `value` can be called. */
export function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

/** Returns the error message of a thrown value. Never throws, even if a getter of the value throws. */
export function readMessage(error: unknown): string {
  if (!hasProperties(error)) return typeof error === 'symbol' ? 'a symbol' : `${error}`;
  try {
    const message = getSafeProperty(error, 'message') ?? readExceptionMessage(error);
    if (typeof message === 'string') return message;
  } catch {
    // The error's `message` getter threw, so readMessage returns a default text.
  }
  return 'an error without a message';
}
