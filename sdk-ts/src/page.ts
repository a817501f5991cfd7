/** Names that lead from a value to its class and so to more than the page's data. */
const closed: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a value that the page keeps in a global variable, by a path such as `App.session.user.id`; undefined if there
 * is none, if reading it throws, or if the path leads through `__proto__`, `constructor` or `prototype`.
 */
export function getPageGlobal(path: string): unknown {
  let value: unknown = globalThis;
  for (const key of path.split('.')) {
    if (value === undefined || value === null || closed.has(key)) return undefined;
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
