import type { PreScriptContext, PreScriptLog } from '../pre-script.ts';
import { openContainer } from './container.ts';
import { type Bag, isBag, isMethod } from './value.ts';

// Precedes a plugin's pre-script in dist/pre-script.iife.js, which runs before any script of the page. It uses the
// container like pre-scripts of the original OpenTabs SDK, so platforms that run those also run this one.

/** The plugin's name. The build replaces this identifier. */
declare const OPENTABS_PLUGIN_NAME: string;

const consoleMethods = ['debug', 'info', 'warn', 'error'] as const;

function logOf(name: string): PreScriptLog {
  const write =
    (method: (typeof consoleMethods)[number]) =>
    (message: string, ...args: unknown[]) =>
      console[method](`[opentabs:${name}:pre-script] ${message}`, ...args);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Creates the plugin's storage for values, and sets the runner for the next definePreScript. */
export function preparePreScript(name: string): void {
  const container = openContainer();
  if (!container) return;
  if (!isBag(container.preScript)) container.preScript = {};
  const values: Bag = {};
  if (isBag(container.preScript)) container.preScript[name] = values;
  const log = logOf(name);
  const context: PreScriptContext = {
    log,
    set: (key, value) => {
      Object.defineProperty(values, key, { value, writable: true, enumerable: true, configurable: true });
    },
  };
  const runner = (script: unknown) => {
    if (container._preScriptRunner === runner) delete container._preScriptRunner;
    if (!isMethod(script)) return;
    try {
      script(context);
    } catch (error) {
      log.error('it failed:', error);
    }
  };
  container._preScriptRunner = runner;
}

preparePreScript(OPENTABS_PLUGIN_NAME);
