import { openContainer, partOfContainer } from './runtime/container.ts';
import { bare, dataProperty, defineProperty, hasOwn, lookup } from './runtime/primordials.ts';
import { type Bag, isBag } from './runtime/value.ts';

// What a plugin has found out about its login, kept for as long as the document lives: also when the adapter is replaced
// by a new build of itself. It is in the plugin's container, which on this platform no other plugin and no page can see.

/** Returns what {@link setAuthCache} kept in this document; null if there is nothing. */
export function getAuthCache<T>(namespace: string): T | null;
export function getAuthCache(namespace: string): unknown {
  const cache = partOfContainer('tokenCache');
  return cache && hasOwn(cache, namespace) ? (cache[namespace] ?? null) : null;
}

/** Keeps `value`, such as a token, until the document is gone or {@link clearAuthCache} is called. It never throws. */
export function setAuthCache<T>(namespace: string, value: T): void {
  const cache = openCache();
  if (cache) defineProperty(cache, namespace, dataProperty(value));
}

/** Forgets what {@link setAuthCache} kept. */
export function clearAuthCache(namespace: string): void {
  setAuthCache(namespace, undefined);
}

function openCache(): Bag | undefined {
  const container = openContainer();
  try {
    if (container && !isBag(lookup(container, 'tokenCache')))
      defineProperty(container, 'tokenCache', dataProperty(bare()));
  } catch {
    return undefined; // a page has locked the container
  }
  return partOfContainer('tokenCache');
}
