import { pristinely } from './runtime/pristine.ts';

/** A value of {@link buildQueryString}. */
export type QueryValue = string | number | boolean;

/**
 * Writes a query string without its `?`. A key whose value is undefined is left out; an array gives its key once for each
 * of its values.
 */
export function buildQueryString(
  params: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>,
): string {
  return pristinely(() => {
    const query = new URLSearchParams();
    for (const [key, given] of Object.entries(params)) {
      const values = Array.isArray(given) ? given : [given];
      for (const value of values) if (value !== undefined) query.append(key, String(value));
    }
    return query.toString();
  });
}

/** Returns `object` without the keys whose value is undefined. Null, 0, false and '' stay. */
export function stripUndefined<T extends object>(object: T): Partial<T>;
export function stripUndefined(object: object): object {
  return pristinely(() => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)));
}
