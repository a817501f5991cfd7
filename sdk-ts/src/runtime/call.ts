import { runCall } from '../running.ts';
import { getContainer } from './container.ts';
import { completeContext } from './context.ts';
import { readElapsedMs } from './page-primordials.ts';
import {
  apply,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  getSafeProperty,
  makeBareObject,
  makeDataDescriptor,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';
import { isMethod, type Properties } from './value.ts';

/** A hook of a plugin is a function such as `onNavigate`. */
export interface InstalledPlugin {
  name: string;
  plugin: Properties;
  reportHookError: (hook: string, error: unknown) => void;
}

/**
 * Returns a copy of `tool` whose handler calls the plugin's hooks before and after the tool. Errors that the handler
 * throws reach the extension unchanged.
 */
export function wrapTool(installedPlugin: InstalledPlugin, tool: Properties): Properties {
  const toolName = getSafeProperty(tool, 'name');
  const name = typeof toolName === 'string' ? toolName : '';
  return wrapMethod(installedPlugin, tool, 'handle', async (run) => {
    callHook(installedPlugin, 'onToolInvocationStart', [name]);
    const startedAt = readElapsedMs();
    let success = false;
    try {
      const result = await run();
      success = true;
      return result;
    } finally {
      callHook(installedPlugin, 'onToolInvocationEnd', [name, success, readElapsedMs() - startedAt]);
    }
  });
}

export function wrapPrompt(caller: InstalledPlugin, prompt: Properties): Properties {
  return freeze(wrapMethod(caller, prompt, 'render', (run) => run()));
}

type CallWrapper = (run: () => Promise<unknown>) => Promise<unknown>;

function wrapMethod(
  caller: InstalledPlugin,
  definition: Properties,
  key: 'handle' | 'render',
  wrapper: CallWrapper,
): Properties {
  const method = getSafeProperty(definition, key);
  if (!isMethod(method)) return definition;
  const value = async function (
    this: unknown,
    params: unknown,
    hostContext: unknown,
    ...otherArgs: unknown[]
  ): Promise<unknown> {
    const container = getContainer();
    if (container) defineProperty(container, '_pluginName', makeDataDescriptor(caller.name));
    const context = completeContext(hostContext);
    const args: unknown[] = [params, context];
    for (let i = 0; i < otherArgs.length; i++) defineProperty(args, args.length, makeDataDescriptor(otherArgs[i]));
    return await wrapper(() => runCall(context, () => apply(method, this, args)));
  };
  // The wrapped method is set on a copy, because the author may have frozen the tool or prompt.
  const copy = makeBareObject();
  const keys = ownKeys(definition);
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i] ?? '';
    const descriptor = getOwnPropertyDescriptor(definition, name);
    if (!descriptor) continue;
    setPrototypeOf(descriptor, null);
    defineProperty(copy, name, descriptor);
  }
  defineProperty(copy, key, makeDataDescriptor(value));
  setPrototypeOf(copy, getPrototypeOf(definition));
  return copy;
}

export function callHook(caller: InstalledPlugin, hook: string, args: readonly unknown[] = []): void {
  runHook(caller, hook, getSafeProperty(caller.plugin, hook), args);
}

export function runHook(caller: InstalledPlugin, hook: string, method: unknown, args: readonly unknown[] = []): void {
  if (!isMethod(method)) return;
  try {
    apply(method, caller.plugin, args);
  } catch (error) {
    caller.reportHookError(hook, error);
  }
}
