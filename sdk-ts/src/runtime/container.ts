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
  /** Where adapters register. Another adapter may replace the object at any time: read it anew at each use. */
  var __openTabs: unknown;
}

/** Returns the container that the platform gives a plugin, or undefined if there is none. */
export function container(): Bag | undefined {
  return isBag(globalThis.__openTabs) ? globalThis.__openTabs : undefined;
}

/** Returns the container, a new one if there is none; undefined if the page does not let it be made. */
export function openContainer(): Bag | undefined {
  try {
    if (!isBag(globalThis.__openTabs)) globalThis.__openTabs = bare();
  } catch {
    return undefined; // the page has locked the name
  }
  return container();
}

/** Returns the member `key` of the container if it has one that is an object. */
export function partOfContainer(key: string): Bag | undefined {
  const own = container();
  const part = own ? lookup(own, key) : undefined;
  return isBag(part) ? part : undefined;
}

/** Returns the registry of adapters, or undefined if there is none. */
export function registeredAdapters(): Bag | undefined {
  return partOfContainer('adapters');
}

/**
 * Returns a registry that `name` can be added to. An adapter locks the registry and its entry when it has started, so
 * the container is made anew with all that it holds except the entry of `name`.
 */
export function openRegistry(name: string): Bag {
  const adapters = copyWithout(registeredAdapters(), name);
  const made = copyWithout(container(), 'adapters');
  defineProperty(made, 'adapters', dataProperty(adapters));
  globalThis.__openTabs = made;
  return adapters;
}

/** Returns a copy of an object, without a prototype and without one of its properties. */
function copyWithout(from: Bag | undefined, left: string): Bag {
  const made = bare();
  if (!from) return made;
  const keys = ownKeys(from);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const found = key === left ? undefined : getOwnPropertyDescriptor(from, key);
    if (!found) continue;
    setPrototypeOf(found, null);
    defineProperty(made, key, found);
  }
  return made;
}
