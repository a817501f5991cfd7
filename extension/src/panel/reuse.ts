// Replaces new objects with equal previous objects, so that components with unchanged content do not render again. Each
// message from the service worker creates new objects, even if the content has not changed.

import { isRecord } from '../record.ts';

export function reuseEqual<T>(previousValue: T | undefined, nextValue: T): T {
  return previousValue !== undefined && isEqual(previousValue, nextValue) ? previousValue : nextValue;
}

/** reuseItems reuses the previous object of each unchanged item, and the whole previous list if nothing changed. */
export function reuseItems<T>(
  previousValue: readonly T[] | undefined,
  nextValue: readonly T[],
  keyOf: (item: T) => unknown,
): readonly T[] {
  if (!previousValue) return nextValue;
  const byKey = new Map(previousValue.map((item) => [keyOf(item), item]));
  const items = nextValue.map((item) => reuseEqual(byKey.get(keyOf(item)), item));
  const isUnchanged = items.length === previousValue.length && items.every((item, i) => item === previousValue[i]);
  return isUnchanged ? previousValue : items;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isEqual(a[name], b[name]));
}
