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
    if (!isBag(globalThis.__openTabs)) globalThis.__openTabs = {};
  } catch {
    return undefined; // the page has locked the name
  }
  return container();
}

/** Returns the member `key` of the container if it has one that is an object. */
export function partOfContainer(key: string): Bag | undefined {
  const part = container()?.[key];
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
  const properties = Object.getOwnPropertyDescriptors(container() ?? {});
  const entries = Object.getOwnPropertyDescriptors(registeredAdapters() ?? {});
  delete entries[name];
  const adapters: Bag = Object.defineProperties({}, entries);
  globalThis.__openTabs = Object.defineProperties(
    {},
    { ...properties, adapters: { value: adapters, writable: true, enumerable: true, configurable: true } },
  );
  return adapters;
}
