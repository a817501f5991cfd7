/** Path keys that getPageGlobal rejects, because they lead to the class of a value. */
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a value of a global variable of the page, by a path such as `App.session.user.id`. Returns undefined if there
 * is no value, if reading the value throws, or if the path contains `__proto__`, `constructor` or `prototype`.
 */
export function getPageGlobal(path: string): unknown {
  let value: unknown = globalThis;
  for (const key of path.split('.')) {
    if (value === undefined || value === null || forbiddenKeys.has(key)) return undefined;
    try {
      value = Reflect.get(Object(value), key);
    } catch {
      return undefined;
    }
  }
  return value;
}

/** Returns the page's URL. */
export function getCurrentUrl(): string {
  return window.location.href;
}

/** Returns the page's title. */
export function getPageTitle(): string {
  return document.title;
}
