import { messageOfException } from './page-primordials.ts';
import { lookup } from './primordials.ts';

// Narrowing of values that come from outside: the plugin's default export, and what other adapters left on the page.

/** A value whose properties may be asked for. */
export type Bag = Record<PropertyKey, unknown>;

/** Reports whether `value` is an object or a function. */
export function isBag(value: unknown): value is Bag {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Any function. */
export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Reports whether `value` can be called. */
export function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

/** Returns what was thrown as text. It never throws. */
export function messageOf(error: unknown): string {
  if (!isBag(error)) return typeof error === 'symbol' ? 'a symbol' : `${error}`;
  try {
    const message = lookup(error, 'message') ?? messageOfException(error);
    if (typeof message === 'string') return message;
  } catch {
    // A getter that throws.
  }
  return 'an error without a message';
}
