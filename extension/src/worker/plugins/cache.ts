/**
 * Origin is the prefix of cache keys, because Cache Storage accepts only http and https URLs. The extension never sends
 * a request to the origin of the cache keys.
 */
const Origin = 'https://code.invalid/';
const Name = 'code';

/** readCached returns a stored text, or undefined. */
export async function readCached(key: string): Promise<string | undefined> {
  const found = await (await caches.open(Name)).match(Origin + key);
  return found?.text();
}

/** writeCached stores a text. */
export async function writeCached(key: string, text: string): Promise<void> {
  await (await caches.open(Name)).put(Origin + key, new Response(text));
}

/** cachedKeys returns the keys of all stored texts. */
export async function cachedKeys(): Promise<readonly string[]> {
  const all = await (await caches.open(Name)).keys();
  return all.map((request) => request.url.slice(Origin.length));
}

/** removeCached removes a text. */
export async function removeCached(key: string): Promise<void> {
  await (await caches.open(Name)).delete(Origin + key);
}
