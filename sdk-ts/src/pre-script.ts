// The package entry `@opentabs/sdk/pre-script`, for the module that `opentabs.preScript` in package.json names.

import { getContainer } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/** A JSON value that a pre-script stores for its adapter. */
export type PreScriptValue = string | number | boolean | null | object;

/**
 * The log of a pre-script, which writes to the page's console. The plugin's log is available only after the adapter has
 * started.
 */
export interface PreScriptLog {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

/**
 * The argument that a pre-script's function receives. A pre-script can call `set` and the log functions at any time,
 * even after its function has returned.
 */
export interface PreScriptContext {
  /** Stores a JSON value for the plugin's adapter. The adapter reads the stored value with `getPreScriptValue(key)`. */
  set(key: string, value: PreScriptValue): void;
  log: PreScriptLog;
}

/**
 * Runs `script` in the page and in each of its frames, before any script of the page. If `script` throws an error, the
 * error is logged to the page's console. `definePreScript` does nothing if opentabs is not starting a pre-script, for
 * example in a test.
 */
export function definePreScript(script: (context: PreScriptContext) => void): void {
  const preScriptRunner = getContainer()?._preScriptRunner;
  if (isMethod(preScriptRunner)) preScriptRunner(script);
}
