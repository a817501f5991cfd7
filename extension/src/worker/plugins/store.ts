import type { PluginFetchParams, PluginFetchResult } from '../../../../wire/wire.gen.ts';
import { isRecord } from '../../record.ts';
import type * as cache from './cache.ts';

/** StoreOptions contains the two sources of code: the server, and a cache that survives a restart of the browser. */
export interface StoreOptions extends Readonly<typeof cache> {
  fetch(params: PluginFetchParams): Promise<PluginFetchResult>;
}

/**
 * CodeStore provides the code of plugins and of the host from the cache or from the server. Concurrent requests for the
 * same code share one request to the server.
 */
export interface CodeStore {
  /**
   * If the parameter `name` is an empty string, the method `get` returns the code of the host. The method rejects if
   * the server is unreachable or returns an error.
   */
  get(name: string, script: string): Promise<PluginFetchResult>;
  /** removeOtherScripts deletes all code from the cache except the code of the given scripts. */
  removeOtherScripts(scripts: readonly { readonly name: string; readonly script: string }[]): Promise<void>;
}

export function makeCodeStore(options: StoreOptions): CodeStore {
  const pendingReads = new Map<string, Promise<PluginFetchResult>>();
  const readOrFetch = async (name: string, script: string): Promise<PluginFetchResult> => {
    const key = makeCacheKey(name, script);
    const cachedCode = parseCode(await options.readCached(key).catch(() => undefined));
    if (cachedCode) return cachedCode;
    const fetchedCode = await options.fetch(name === '' ? { script } : { name, script });
    // If writing to the cache fails, for example because the disk is full, the worker still uses the code.
    void options.writeCached(key, JSON.stringify(fetchedCode)).catch(warnNotCached);
    return fetchedCode;
  };
  return {
    get: (name, script) => {
      const key = makeCacheKey(name, script);
      const pendingRead = pendingReads.get(key) ?? readOrFetch(name, script).finally(() => pendingReads.delete(key));
      pendingReads.set(key, pendingRead);
      return pendingRead;
    },
    removeOtherScripts: async (scripts) => {
      const wantedKeys = new Set(scripts.map(({ name, script }) => makeCacheKey(name, script)));
      for (const key of await options.listCachedKeys()) if (!wantedKeys.has(key)) await options.removeCached(key);
    },
  };
}

function makeCacheKey(name: string, script: string): string {
  return `${name}/${script}`;
}

function parseCode(codeText: string | undefined): PluginFetchResult | undefined {
  if (codeText === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(codeText);
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
