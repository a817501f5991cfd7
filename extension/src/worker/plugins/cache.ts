/**
 * CacheKeyOrigin is the prefix of all cache keys, because Cache Storage accepts only http and https URLs as keys. The
 * host code.invalid does not exist, and the extension never sends requests to it.
 */
const CacheKeyOrigin = 'https://code.invalid/';
const CodeCacheName = 'code';

export async function readCached(key: string): Promise<string | undefined> {
  const response = await (await caches.open(CodeCacheName)).match(CacheKeyOrigin + key);
  return response?.text();
}

export async function writeCached(key: string, text: string): Promise<void> {
  await (await caches.open(CodeCacheName)).put(CacheKeyOrigin + key, new Response(text));
}

export async function listCachedKeys(): Promise<readonly string[]> {
  const requests = await (await caches.open(CodeCacheName)).keys();
  return requests.map((request) => request.url.slice(CacheKeyOrigin.length));
}

export async function removeCached(key: string): Promise<void> {
  await (await caches.open(CodeCacheName)).delete(CacheKeyOrigin + key);
}
