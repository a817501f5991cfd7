import { getContainer, getContainerPart } from './runtime/container.ts';
import { hasOwn, lookup } from './runtime/primordials.ts';
import { hasProperties } from './runtime/value.ts';

/** The name of the plugin that this code is part of; undefined until the adapter has started. */
let ownerName: string | undefined;

/** Sets the name of the plugin that this code is part of. */
export function setPreScriptOwner(name: string): void {
  ownerName = name;
}

/**
 * Returns the value that the plugin's pre-script stored under `key` in this document. Returns undefined if no value
 * is stored, for example because the plugin has no pre-script or was added after the page had loaded.
 */
export function getPreScriptValue<T = unknown>(key: string): T | undefined;
export function getPreScriptValue(key: string): unknown {
  // A host of the original OpenTabs sets _pluginName only while a tool of the plugin runs.
  const container = getContainer();
  const name = ownerName ?? (container ? lookup(container, '_pluginName') : undefined);
  const storedValues = getContainerPart('preScript');
  const values =
    storedValues && typeof name === 'string' && hasOwn(storedValues, name) ? storedValues[name] : undefined;
  return hasProperties(values) && hasOwn(values, key) ? values[key] : undefined;
}
