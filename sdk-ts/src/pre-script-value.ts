import { container, partOfContainer } from './runtime/container.ts';
import { hasOwn, lookup } from './runtime/primordials.ts';
import { isBag } from './runtime/value.ts';

/** The plugin that this code is part of, once the adapter has started. */
let owner: string | undefined;

/** Sets the plugin that this code is part of. */
export function setPreScriptOwner(name: string): void {
  owner = name;
}

/**
 * Returns the value that the plugin's pre-script stored under `key` in this document. Returns undefined if there is no
 * value, also because the plugin has no pre-script or was added after the page had loaded.
 */
export function getPreScriptValue<T = unknown>(key: string): T | undefined;
export function getPreScriptValue(key: string): unknown {
  // A host of the original OpenTabs sets _pluginName only while a tool of the plugin runs.
  const own = container();
  const name = owner ?? (own ? lookup(own, '_pluginName') : undefined);
  const stored = partOfContainer('preScript');
  const values = stored && typeof name === 'string' && hasOwn(stored, name) ? stored[name] : undefined;
  return isBag(values) && hasOwn(values, key) ? values[key] : undefined;
}
