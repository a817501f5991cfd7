import { readExceptionMessage } from './page-primordials.ts';
import { getSafeProperty } from './primordials.ts';

// Type checks for untrusted values, such as a plugin's default export and objects of other adapters.

export type Properties = Record<PropertyKey, unknown>;

export function hasProperties(value: unknown): value is Properties {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

export type Method = (this: unknown, ...args: unknown[]) => unknown;

export function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

/** readMessage never throws, even if a getter of the thrown value throws. */
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
