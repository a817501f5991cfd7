// The entry `@opentabs/sdk/pre-script`, for the module that package.json names in opentabs.preScript.

import { container } from './runtime/container.ts';
import { isMethod } from './runtime/value.ts';

/** A value of a pre-script: what JSON can hold. */
export type PreScriptValue = string | number | boolean | null | object;

/** Writes to the page's console; the plugin's own log begins with the adapter. */
export interface PreScriptLog {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

/** What a pre-script gets. It can be used at any time later, too. */
export interface PreScriptContext {
  /** Keeps a value for the adapter, which reads it by `getPreScriptValue(key)`. */
  set(key: string, value: PreScriptValue): void;
  log: PreScriptLog;
}

/**
 * Runs `script` at once, before any script of the page, in the page and in each of its frames. What it throws is written
 * to the console. Where no pre-script is being started, as in a test, it does nothing.
 */
export function definePreScript(script: (context: PreScriptContext) => void): void {
  const runner = container()?._preScriptRunner;
  if (isMethod(runner)) runner(script);
}
