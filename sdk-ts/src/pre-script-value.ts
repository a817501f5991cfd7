import { getContainer, getContainerPart } from './runtime/container.ts';
import { getSafeProperty, hasOwn } from './runtime/primordials.ts';
import { hasProperties } from './runtime/value.ts';

/** The plugin's name is undefined until the adapter has started. */
let ownerName: string | undefined;

export function setPreScriptOwner(name: string): void {
  ownerName = name;
}

/**
 * Returns the value that the plugin's pre-script stored under `key` in this document. The result is undefined if the
 * pre-script stored nothing under `key`, or did not run because the page had already loaded.
 */
export function getPreScriptValue<T = unknown>(key: string): T | undefined;
export function getPreScriptValue(key: string): unknown {
  // In the original OpenTabs platform, the variable `_pluginName` is set only while a tool of the plugin runs.
  const container = getContainer();
  const name = ownerName ?? (container ? getSafeProperty(container, '_pluginName') : undefined);
  const storedValues = getContainerPart('preScript');
  const values =
    storedValues && typeof name === 'string' && hasOwn(storedValues, name) ? storedValues[name] : undefined;
  return hasProperties(values) && hasOwn(values, key) ? values[key] : undefined;
}
