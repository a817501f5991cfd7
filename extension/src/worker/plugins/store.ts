import type { PluginFetchParams, PluginFetchResult } from '../../../../wire/wire.gen.ts';
import { isRecord } from '../../record.ts';
import type * as cache from './cache.ts';

/** StoreOptions are the sources of code: the server and the cache, which survives a restart of the browser. */
export interface StoreOptions extends Readonly<typeof cache> {
  /** fetch requests code from the server. */
  fetch(params: PluginFetchParams): Promise<PluginFetchResult>;
}

/**
 * Store provides the code of plugins and of the host. If code is not in the cache, the store fetches the code from the
 * server, only once for concurrent requests.
 */
export interface Store {
  /**
   * get returns the code of a plugin, or of the host if name is empty. get rejects if the server is unreachable or
   * refuses the request.
   */
  get(name: string, script: string): Promise<PluginFetchResult>;
  /** removeOthers removes all code from the cache except the code of the given scripts. */
  removeOthers(scripts: readonly { readonly name: string; readonly script: string }[]): Promise<void>;
}

/** makeStore returns a Store without pending reads. */
export function makeStore(options: StoreOptions): Store {
  /** pendingReads maps each key to the code that is being read. */
  const pendingReads = new Map<string, Promise<PluginFetchResult>>();
  const readOrFetch = async (name: string, script: string): Promise<PluginFetchResult> => {
    const key = cacheKey(name, script);
    const cachedCode = parseCode(await options.readCached(key).catch(() => undefined));
    if (cachedCode) return cachedCode;
    const fetchedCode = await options.fetch(name === '' ? { script } : { name, script });
    // If the disk is full, the code is used without the cache.
    void options.writeCached(key, JSON.stringify(fetchedCode)).catch(warnNotCached);
    return fetchedCode;
  };
  return {
    get: (name, script) => {
      const key = cacheKey(name, script);
      const pendingRead = pendingReads.get(key) ?? readOrFetch(name, script).finally(() => pendingReads.delete(key));
      pendingReads.set(key, pendingRead);
      return pendingRead;
    },
    removeOthers: async (scripts) => {
      const wantedKeys = new Set(scripts.map(({ name, script }) => cacheKey(name, script)));
      for (const key of await options.listCachedKeys()) if (!wantedKeys.has(key)) await options.removeCached(key);
    },
  };
}

function cacheKey(name: string, script: string): string {
  return `${name}/${script}`;
}

function parseCode(text: string | undefined): PluginFetchResult | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || typeof value.code !== 'string') return undefined;
    const { code, options, preScript } = value;
    return {
      code,
      ...(typeof options === 'string' ? { options } : {}),
      ...(typeof preScript === 'string' ? { preScript } : {}),
    };
  } catch {
    return undefined;
  }
}

function warnNotCached(error: unknown): void {
  console.warn(`opentabs: code is not kept: ${String(error)}`);
}
