const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads a global variable of the page, or a property inside it, by a path such as `App.session.user.id`. getPageGlobal
 * returns undefined if the path does not exist, if a getter throws, or if the path contains `__proto__`, `constructor`
 * or `prototype`.
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

/**
 * Returns the current URL of the page. The returned URL includes changes that the page made with `history.pushState`.
 */
export function getCurrentUrl(): string {
  return window.location.href;
}

/** Returns the current `document.title` of the page. */
export function getPageTitle(): string {
  return document.title;
}
