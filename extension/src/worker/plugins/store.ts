import type { PluginFetchParams, PluginFetchResult } from '../../../../wire/wire.gen.ts';
import { isRecord } from '../../record.ts';
import type * as cache from './cache.ts';

/** StoreOptions are the sources of code: the server and the cache, which survives a restart of the browser. */
export interface StoreOptions extends Readonly<typeof cache> {
  /** fetch requests code from the server. */
  fetch(params: PluginFetchParams): Promise<PluginFetchResult>;
}

/**
 * Store provides the code of plugins and of the host. If code is not in the cache, the store fetches it from the
 * server, only once for concurrent requests.
 */
export interface Store {
  /**
   * get returns the code of a plugin, or of the host if name is empty. get rejects if the server is unreachable or
   * refuses the request.
   */
  get(name: string, script: string): Promise<PluginFetchResult>;
  /** keep removes all code from the cache except the code of the given scripts. */
  keep(scripts: readonly { readonly name: string; readonly script: string }[]): Promise<void>;
}

/** makeStore returns a Store. */
export function makeStore(options: StoreOptions): Store {
  /** coming maps each key to the code that is being read. */
  const coming = new Map<string, Promise<PluginFetchResult>>();
  const read = async (name: string, script: string): Promise<PluginFetchResult> => {
    const key = keyOf(name, script);
    const found = parse(await options.readCached(key).catch(() => undefined));
    if (found) return found;
    const fresh = await options.fetch(name === '' ? { script } : { name, script });
    // If the disk is full, continue without the cache.
    void options.writeCached(key, JSON.stringify(fresh)).catch(warn);
    return fresh;
  };
  return {
    get: (name, script) => {
      const key = keyOf(name, script);
      const pending = coming.get(key) ?? read(name, script).finally(() => coming.delete(key));
      coming.set(key, pending);
      return pending;
    },
    keep: async (scripts) => {
      const wanted = new Set(scripts.map(({ name, script }) => keyOf(name, script)));
      for (const key of await options.cachedKeys()) if (!wanted.has(key)) await options.removeCached(key);
    },
  };
}

function keyOf(name: string, script: string): string {
  return `${name}/${script}`;
}

function parse(text: string | undefined): PluginFetchResult | undefined {
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

function warn(error: unknown): void {
  console.warn(`opentabs: code is not kept: ${String(error)}`);
}
