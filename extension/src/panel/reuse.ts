// Replaces new objects with equal previous objects, so that components with unchanged content do not render again. Each
// message from the service worker creates new objects, even if the content has not changed.

import { isRecord } from '../record.ts';

export function reuseEqual<T>(previous: T | undefined, next: T): T {
  return previous !== undefined && isEqual(previous, next) ? previous : next;
}

/** reuseItems reuses the previous object of each unchanged item, and the whole previous list if nothing changed. */
export function reuseItems<T>(
  previous: readonly T[] | undefined,
  next: readonly T[],
  keyOf: (item: T) => unknown,
): readonly T[] {
  if (!previous) return next;
  const byKey = new Map(previous.map((item) => [keyOf(item), item]));
  const items = next.map((item) => reuseEqual(byKey.get(keyOf(item)), item));
  const isUnchanged = items.length === previous.length && items.every((item, i) => item === previous[i]);
  return isUnchanged ? previous : items;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isEqual(a[name], b[name]));
}
