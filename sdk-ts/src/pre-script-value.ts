import { container, partOfContainer } from './runtime/container.ts';
import { hasOwn, lookup } from './runtime/primordials.ts';
import { isBag } from './runtime/value.ts';

/** The plugin that this code is part of, once the adapter has started. */
let owner: string | undefined;

/** Says which plugin this code is part of. */
export function setPreScriptOwner(name: string): void {
  owner = name;
}

/**
 * Returns what the plugin's pre-script has kept under `key` in this document; undefined if it has not, also because the
 * plugin has no pre-script or was added after the page had loaded.
 */
export function getPreScriptValue<T = unknown>(key: string): T | undefined;
export function getPreScriptValue(key: string): unknown {
  // An existing host names the plugin only while one of its tools runs.
  const own = container();
  const name = owner ?? (own ? lookup(own, '_pluginName') : undefined);
  const kept = partOfContainer('preScript');
  const values = kept && typeof name === 'string' && hasOwn(kept, name) ? kept[name] : undefined;
  return isBag(values) && hasOwn(values, key) ? values[key] : undefined;
}
