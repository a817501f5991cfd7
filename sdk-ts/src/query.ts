import { withPristineBuiltIns } from './runtime/pristine.ts';

/** The value of a key in a query string; see {@link buildQueryString}. */
export type QueryValue = string | number | boolean;

/**
 * Returns a query string without the `?`. Keys whose value is undefined are omitted; a key with an array is repeated
 * for each element.
 */
export function buildQueryString(
  params: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>,
): string {
  return withPristineBuiltIns(() => {
    const query = new URLSearchParams();
    for (const [key, param] of Object.entries(params)) {
      const values = Array.isArray(param) ? param : [param];
      for (const value of values) if (value !== undefined) query.append(key, String(value));
    }
    return query.toString();
  });
}

/** Returns `object` without the keys whose value is undefined. Keys with the values null, 0, false and '' are kept. */
export function stripUndefined<T extends object>(object: T): Partial<T>;
export function stripUndefined(object: object): object {
  return withPristineBuiltIns(() =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)),
  );
}
