/** Origin begins the addresses of what is cached: Cache Storage takes http and https alone. Nothing is ever asked there. */
const Origin = 'https://code.invalid/';
const Name = 'code';

/** readCached returns a text that was kept; nothing if there is none. */
export async function readCached(key: string): Promise<string | undefined> {
  const found = await (await caches.open(Name)).match(Origin + key);
  return found?.text();
}

/** writeCached keeps a text. */
export async function writeCached(key: string, text: string): Promise<void> {
  await (await caches.open(Name)).put(Origin + key, new Response(text));
}

/** cachedKeys returns the keys of all texts that are kept. */
export async function cachedKeys(): Promise<readonly string[]> {
  const all = await (await caches.open(Name)).keys();
  return all.map((request) => request.url.slice(Origin.length));
}

/** removeCached forgets a text. */
export async function removeCached(key: string): Promise<void> {
  await (await caches.open(Name)).delete(Origin + key);
}
