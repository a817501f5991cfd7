// Reuses previous objects in place of equal new objects, so that components with unchanged content do not render again.
// Each message from the service worker creates new objects, even if the content has not changed.

import { isRecord } from '../record.ts';

export function reuseIfEqual<T>(previousValue: T | undefined, nextValue: T): T {
  return previousValue !== undefined && isEqual(previousValue, nextValue) ? previousValue : nextValue;
}

/** reuseItems reuses the previous object of each unchanged item, and the whole previous list if nothing changed. */
export function reuseItems<T>(
  previousValue: readonly T[] | undefined,
  nextValue: readonly T[],
  getItemKey: (item: T) => unknown,
): readonly T[] {
  if (!previousValue) return nextValue;
  const itemsByKey = new Map(previousValue.map((item) => [getItemKey(item), item]));
  const reusedItems = nextValue.map((item) => reuseIfEqual(itemsByKey.get(getItemKey(item)), item));
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
