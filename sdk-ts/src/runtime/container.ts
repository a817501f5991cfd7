import {
  dataProperty,
  defineProperty,
  getOwnPropertyDescriptor,
  lookup,
  makeBareObject,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';
import { hasProperties, type Properties } from './value.ts';

declare global {
  /**
   * Container in which adapters register. Another adapter may replace the container at any time, so read the container
   * again at each use.
   */
  var __openTabs: unknown;
}

/** Returns the container that the platform created for the plugin, or undefined. */
export function getContainer(): Properties | undefined {
  return hasProperties(globalThis.__openTabs) ? globalThis.__openTabs : undefined;
}

/** Returns the container, after creating it if necessary; undefined if the page has locked `__openTabs`. */
export function ensureContainer(): Properties | undefined {
  try {
    if (!hasProperties(globalThis.__openTabs)) globalThis.__openTabs = makeBareObject();
  } catch {
    return undefined;
  }
  return getContainer();
}

/** Returns the property `key` of the container if the value of this property is an object. */
export function getContainerPart(key: string): Properties | undefined {
  const container = getContainer();
  const value = container ? lookup(container, key) : undefined;
  return hasProperties(value) ? value : undefined;
}

/** Returns the registry of adapters, or undefined. */
export function getRegisteredAdapters(): Properties | undefined {
  return getContainerPart('adapters');
}

/**
 * Replaces the container with a copy without the adapter `name`, and returns the registry of the copy. A started
 * adapter has locked the registry and its own entry, so the registry must be replaced.
 */
export function replaceRegistry(name: string): Properties {
  const adapters = copyWithout(getRegisteredAdapters(), name);
  const copy = copyWithout(getContainer(), 'adapters');
  defineProperty(copy, 'adapters', dataProperty(adapters));
  globalThis.__openTabs = copy;
  return adapters;
}

/** Returns a copy of an object, without a prototype and without the property `excludedKey`. */
function copyWithout(original: Properties | undefined, excludedKey: string): Properties {
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
