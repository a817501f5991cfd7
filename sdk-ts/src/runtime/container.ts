import {
  defineProperty,
  getOwnPropertyDescriptor,
  getSafeProperty,
  makeBareObject,
  makeDataDescriptor,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';
import { hasProperties, type Properties } from './value.ts';

declare global {
  /**
   * The container in which adapters register. Read `__openTabs` at each use, because another adapter can replace the
   * container at any time.
   */
  var __openTabs: unknown;
}

/** Returns the adapter's container, or undefined outside opentabs, for example in a test. */
export function getContainer(): Properties | undefined {
  return hasProperties(globalThis.__openTabs) ? globalThis.__openTabs : undefined;
}

/**
 * Returns the adapter's container, and creates it if necessary. If the page has locked the global variable
 * `__openTabs`, returns undefined.
 */
export function ensureContainer(): Properties | undefined {
  try {
    if (!hasProperties(globalThis.__openTabs)) globalThis.__openTabs = makeBareObject();
  } catch {
    return undefined;
  }
  return getContainer();
}

/** Returns the container's property `key`, or undefined if the value of the property is not an object. */
export function getContainerPart(key: string): Properties | undefined {
  const container = getContainer();
  const value = container ? getSafeProperty(container, key) : undefined;
  return hasProperties(value) ? value : undefined;
}

/** Returns the object that maps plugin names to started adapters, or undefined if no adapter has started. */
export function getRegisteredAdapters(): Properties | undefined {
  return getContainerPart('adapters');
}

/**
 * Removes the adapter `name` by replacing the container with a copy, and returns the adapter registry of the copy. Each
 * adapter locks its registry entry when it starts, so the entry itself cannot be deleted.
 */
export function replaceRegistry(name: string): Properties {
  const adapters = copyWithoutKey(getRegisteredAdapters(), name);
  const copy = copyWithoutKey(getContainer(), 'adapters');
  defineProperty(copy, 'adapters', makeDataDescriptor(adapters));
  globalThis.__openTabs = copy;
  return adapters;
}

/** Returns a copy of `original` without a prototype and without the property `excludedKey`. */
function copyWithoutKey(original: Properties | undefined, excludedKey: string): Properties {
  const copy = makeBareObject();
  if (!original) return copy;
  const keys = ownKeys(original);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor = key === excludedKey ? undefined : getOwnPropertyDescriptor(original, key);
    if (!descriptor) continue;
    setPrototypeOf(descriptor, null);
    defineProperty(copy, key, descriptor);
  }
  return copy;
}
