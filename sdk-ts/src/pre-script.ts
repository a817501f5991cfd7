// The entry `@opentabs/sdk/pre-script`, for the module in opentabs.preScript of package.json.

import { getContainer } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/** A value of a pre-script: any JSON value. */
export type PreScriptValue = string | number | boolean | null | object;

/** Logs to the page's console: the log of the plugin exists only once the adapter has started. */
export interface PreScriptLog {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

/** The argument of a pre-script. A pre-script may call `set` after it has returned. */
export interface PreScriptContext {
  /** Stores a value for the adapter, which reads it with `getPreScriptValue(key)`. */
  set(key: string, value: PreScriptValue): void;
  log: PreScriptLog;
}

/**
 * Runs `script` at once, in the page and in each frame of the page, before any script of the page. An error of the
 * script is logged to the console. Does nothing outside the start of a pre-script, for example in a test.
 */
export function definePreScript(script: (context: PreScriptContext) => void): void {
  const runner = getContainer()?._preScriptRunner;
  if (isMethod(runner)) runner(script);
}
