import { type Bag, isBag } from './value.ts';

declare global {
  /** Where adapters register. Another adapter may replace the object at any time: read it anew at each use. */
  var __openTabs: unknown;
}

/** Returns the registry of adapters, or undefined if there is none. */
export function registeredAdapters(): Bag | undefined {
  const container = globalThis.__openTabs;
  return isBag(container) && isBag(container.adapters) ? container.adapters : undefined;
}

/**
 * Returns a registry that `name` can be added to. An adapter locks the registry and its entry when it has started, so
 * the container is made anew with all that it holds except the entry of `name`.
 */
export function openRegistry(name: string): Bag {
  const container = globalThis.__openTabs;
  const properties = isBag(container) ? Object.getOwnPropertyDescriptors(container) : {};
  const entries = Object.getOwnPropertyDescriptors(registeredAdapters() ?? {});
  delete entries[name];
  const adapters: Bag = Object.defineProperties({}, entries);
  globalThis.__openTabs = Object.defineProperties(
    {},
    { ...properties, adapters: { value: adapters, writable: true, enumerable: true, configurable: true } },
  );
  return adapters;
}
