import {
  bare,
  dataProperty,
  defineProperty,
  getOwnPropertyDescriptor,
  lookup,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';
import { type Bag, isBag } from './value.ts';

declare global {
  /** Container in which adapters register. Another adapter may replace it at any time, so read it again at each use. */
  var __openTabs: unknown;
}

/** Returns the container that the platform created for the plugin, or undefined. */
export function container(): Bag | undefined {
  return isBag(globalThis.__openTabs) ? globalThis.__openTabs : undefined;
}

/** Returns the container, and creates it if necessary; undefined if the page has locked the name. */
export function openContainer(): Bag | undefined {
  try {
    if (!isBag(globalThis.__openTabs)) globalThis.__openTabs = bare();
  } catch {
    return undefined;
  }
  return container();
}

/** Returns the property `key` of the container if its value is an object. */
export function partOfContainer(key: string): Bag | undefined {
  const own = container();
  const part = own ? lookup(own, key) : undefined;
  return isBag(part) ? part : undefined;
}

/** Returns the registry of adapters, or undefined. */
export function registeredAdapters(): Bag | undefined {
  return partOfContainer('adapters');
}

/**
 * Replaces the container with a copy without the adapter `name`, and returns the registry of the copy. A started adapter
 * has locked the registry and its entry, so the existing registry cannot be changed.
 */
export function openRegistry(name: string): Bag {
  const adapters = copyWithout(registeredAdapters(), name);
  const made = copyWithout(container(), 'adapters');
  defineProperty(made, 'adapters', dataProperty(adapters));
  globalThis.__openTabs = made;
  return adapters;
}

/** Returns a copy of an object, without a prototype and without the property `excluded`. */
function copyWithout(from: Bag | undefined, excluded: string): Bag {
  const made = bare();
  if (!from) return made;
  const keys = ownKeys(from);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const found = key === excluded ? undefined : getOwnPropertyDescriptor(from, key);
    if (!found) continue;
    setPrototypeOf(found, null);
    defineProperty(made, key, found);
  }
  return made;
}
