import { getContainer, getContainerPart } from './runtime/container.ts';
import { getSafeProperty, hasOwn } from './runtime/primordials.ts';
import { hasProperties } from './runtime/value.ts';

/** The name of the plugin into which this module is bundled. The name is undefined until the adapter has started. */
let ownerName: string | undefined;

/** Sets the plugin name under which `getPreScriptValue` looks up values. */
export function setPreScriptOwner(name: string): void {
  ownerName = name;
}

/**
 * Returns the value that the plugin's pre-script stored under `key` in this document. If the pre-script stored nothing
 * under `key`, or did not run because the plugin was added after the page had loaded, the result is undefined.
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
