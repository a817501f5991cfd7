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
  const reusedItems = nextValue.map((item) => reuseEqual(byKey.get(keyOf(item)), item));
  const isUnchanged =
    reusedItems.length === previousValue.length && reusedItems.every((item, i) => item === previousValue[i]);
  return isUnchanged ? previousValue : reusedItems;
}

function isEqual(firstValue: unknown, secondValue: unknown): boolean {
  if (firstValue === secondValue) return true;
  if (Array.isArray(firstValue) && Array.isArray(secondValue))
    return firstValue.length === secondValue.length && firstValue.every((item, i) => isEqual(item, secondValue[i]));
  if (!isRecord(firstValue) || !isRecord(secondValue)) return false;
  const names = new Set([...Object.keys(firstValue), ...Object.keys(secondValue)]);
  return [...names].every((name) => isEqual(firstValue[name], secondValue[name]));
}
