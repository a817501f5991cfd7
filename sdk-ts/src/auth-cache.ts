import { ensureContainer, getContainerPart } from './runtime/container.ts';
import { dataProperty, defineProperty, hasOwn, lookup, makeBareObject } from './runtime/primordials.ts';
import { hasProperties, type Properties } from './runtime/value.ts';

// The auth cache stores a plugin's login data, such as a token. Entries of the auth cache live as long as the document
// and survive a new build of the plugin. The entries of the auth cache are stored in the plugin's container, which
// opentabs hides from other plugins and from the page.

/** Returns the value that {@link setAuthCache} stored in this document; null without a stored value. */
export function getAuthCache<T>(namespace: string): T | null;
export function getAuthCache(namespace: string): unknown {
  const cache = getContainerPart('tokenCache');
  return cache && hasOwn(cache, namespace) ? (cache[namespace] ?? null) : null;
}

/** Stores a value, such as a token, until the document unloads or {@link clearAuthCache} removes it. Never throws. */
export function setAuthCache<T>(namespace: string, value: T): void {
  const cache = ensureCache();
  if (cache) defineProperty(cache, namespace, dataProperty(value));
}

/** Removes the value that {@link setAuthCache} stored. */
export function clearAuthCache(namespace: string): void {
  setAuthCache(namespace, undefined);
}

function ensureCache(): Properties | undefined {
  const container = ensureContainer();
  try {
    if (container && !hasProperties(lookup(container, 'tokenCache')))
      defineProperty(container, 'tokenCache', dataProperty(makeBareObject()));
  } catch {
    return undefined; // the page has locked the container against changes
  }
  return getContainerPart('tokenCache');
}
