import { ensureContainer, getContainerPart } from './runtime/container.ts';
import { defineProperty, getSafeProperty, hasOwn, makeBareObject, makeDataDescriptor } from './runtime/primordials.ts';
import { hasProperties, type Properties } from './runtime/value.ts';

// The auth cache survives a hot reload of the plugin, and opentabs hides the cache from the page.

/** Returns the login data that {@link setAuthCache} stored in this document, or null if there is none. */
export function getAuthCache<T>(namespace: string): T | null;
export function getAuthCache(namespace: string): unknown {
  const cache = getContainerPart('tokenCache');
  return cache && hasOwn(cache, namespace) ? (cache[namespace] ?? null) : null;
}

/**
 * Stores login data, such as a token, until the document unloads or {@link clearAuthCache} is called. `setAuthCache`
 * never throws.
 */
export function setAuthCache<T>(namespace: string, value: T): void {
  const cache = getOrCreateCache();
  if (cache) defineProperty(cache, namespace, makeDataDescriptor(value));
}

/** Removes the login data that {@link setAuthCache} stored under `namespace`. */
export function clearAuthCache(namespace: string): void {
  setAuthCache(namespace, undefined);
}

function getOrCreateCache(): Properties | undefined {
  const container = ensureContainer();
  try {
    if (container && !hasProperties(getSafeProperty(container, 'tokenCache')))
      defineProperty(container, 'tokenCache', makeDataDescriptor(makeBareObject()));
  } catch {
    return undefined; // The page has frozen the container, so it cannot store an auth cache.
  }
  return getContainerPart('tokenCache');
}
