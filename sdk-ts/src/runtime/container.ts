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
  /** Read `__openTabs` at each use, because another adapter can replace the container at any time. */
  var __openTabs: unknown;
}

export function getContainer(): Properties | undefined {
  return hasProperties(globalThis.__openTabs) ? globalThis.__openTabs : undefined;
}

/** ensureContainer returns undefined if the page has made the global variable `__openTabs` read-only. */
export function ensureContainer(): Properties | undefined {
  try {
    if (!hasProperties(globalThis.__openTabs)) globalThis.__openTabs = makeBareObject();
  } catch {
    return undefined;
  }
  return getContainer();
}

export function getContainerPart(key: string): Properties | undefined {
  const container = getContainer();
  const value = container ? getSafeProperty(container, key) : undefined;
  return hasProperties(value) ? value : undefined;
}

export function getRegisteredAdapters(): Properties | undefined {
  return getContainerPart('adapters');
}

/**
 * replaceRegistry replaces the whole container, because the registry entries of adapters are non-configurable and
 * cannot be deleted.
 */
export function replaceRegistry(name: string): Properties {
  const otherAdapters = copyWithoutKey(getRegisteredAdapters(), name);
  const containerCopy = copyWithoutKey(getContainer(), 'adapters');
  defineProperty(containerCopy, 'adapters', makeDataDescriptor(otherAdapters));
  globalThis.__openTabs = containerCopy;
  return otherAdapters;
}

function copyWithoutKey(originalProperties: Properties | undefined, excludedKey: string): Properties {
  const containerCopy = makeBareObject();
  if (!originalProperties) return containerCopy;
  const keys = ownKeys(originalProperties);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor = key === excludedKey ? undefined : getOwnPropertyDescriptor(originalProperties, key);
    if (!descriptor) continue;
    setPrototypeOf(descriptor, null);
    defineProperty(containerCopy, key, descriptor);
  }
  return containerCopy;
}
