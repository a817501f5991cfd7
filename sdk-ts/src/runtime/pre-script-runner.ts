import type { PreScriptContext, PreScriptLog } from '../pre-script.ts';
import { ensureContainer } from './container.ts';
import { hasProperties, isMethod, type Properties } from './value.ts';

// Pre-scripts use the container fields of the original OpenTabs SDK, so that the original platform can run them.

declare const OPENTABS_PLUGIN_NAME: string;

const consoleMethods = ['debug', 'info', 'warn', 'error'] as const;

function makeLog(name: string): PreScriptLog {
  const makeLogFunction =
    (method: (typeof consoleMethods)[number]) =>
    (message: string, ...args: unknown[]) =>
      console[method](`[opentabs:${name}:pre-script] ${message}`, ...args);
  return {
    debug: makeLogFunction('debug'),
    info: makeLogFunction('info'),
    warn: makeLogFunction('warn'),
    error: makeLogFunction('error'),
  };
}

export function preparePreScript(name: string): void {
  const container = ensureContainer();
  if (!container) return;
  if (!hasProperties(container.preScript)) container.preScript = {};
  const preScriptValues: Properties = {};
  if (hasProperties(container.preScript)) container.preScript[name] = preScriptValues;
  const log = makeLog(name);
  const context: PreScriptContext = {
    log,
    set: (key, value) => {
      Object.defineProperty(preScriptValues, key, { value, writable: true, enumerable: true, configurable: true });
    },
  };
  const runPreScript = (script: unknown) => {
    if (container._preScriptRunner === runPreScript) delete container._preScriptRunner;
    if (!isMethod(script)) return;
    try {
      script(context);
    } catch (error) {
      log.error('the pre-script failed:', error);
    }
  };
  container._preScriptRunner = runPreScript;
}

preparePreScript(OPENTABS_PLUGIN_NAME);
