import { withPristineBuiltIns } from './runtime/pristine.ts';

/** A parameter value that {@link buildQueryString} accepts. */
export type QueryValue = string | number | boolean;

/**
 * Returns a URL query string without the `?`. Keys whose value is undefined are omitted; an array repeats its key for
 * each element.
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

/**
 * Returns a copy of `object` without the keys whose value is undefined. Keys with the value null, 0, false or '' are
 * kept.
 */
export function stripUndefined<T extends object>(object: T): Partial<T>;
export function stripUndefined(object: object): object {
  return withPristineBuiltIns(() =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)),
  );
}
