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
  reportHookError: (hookName: string, error: unknown) => void;
}

/**
 * Returns a copy of `tool` whose handler calls the plugin's hooks before and after the tool. Errors that the handler
 * throws reach the extension unchanged.
 */
export function wrapTool(installedPlugin: InstalledPlugin, tool: Properties): Properties {
  const toolName = getSafeProperty(tool, 'name');
  const name = typeof toolName === 'string' ? toolName : '';
  return wrapMethod(installedPlugin, tool, 'handle', async (runWithContext) => {
    callHook(installedPlugin, 'onToolInvocationStart', [name]);
    const startedAt = readElapsedMs();
    let isSuccess = false;
    try {
      const result = await runWithContext();
      isSuccess = true;
      return result;
    } finally {
      callHook(installedPlugin, 'onToolInvocationEnd', [name, isSuccess, readElapsedMs() - startedAt]);
    }
  });
}

export function wrapPrompt(caller: InstalledPlugin, prompt: Properties): Properties {
  return freeze(wrapMethod(caller, prompt, 'render', (runWithContext) => runWithContext()));
}

type CallWrapper = (runWithContext: () => Promise<unknown>) => Promise<unknown>;

function wrapMethod(
  caller: InstalledPlugin,
  toolDefinition: Properties,
  key: 'handle' | 'render',
  wrapCall: CallWrapper,
): Properties {
  const method = getSafeProperty(toolDefinition, key);
  if (!isMethod(method)) return toolDefinition;
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
    return await wrapCall(() => runCall(context, () => apply(method, this, args)));
  };
  // The wrapped method is set on a copy, because the author may have frozen the tool or prompt.
  const contextCopy = makeBareObject();
  const keys = ownKeys(toolDefinition);
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i] ?? '';
    const descriptor = getOwnPropertyDescriptor(toolDefinition, name);
    if (!descriptor) continue;
    setPrototypeOf(descriptor, null);
    defineProperty(contextCopy, name, descriptor);
  }
  defineProperty(contextCopy, key, makeDataDescriptor(value));
  setPrototypeOf(contextCopy, getPrototypeOf(toolDefinition));
  return contextCopy;
}

export function callHook(caller: InstalledPlugin, hookName: string, args: readonly unknown[] = []): void {
  runHook(caller, hookName, getSafeProperty(caller.plugin, hookName), args);
}

export function runHook(
  caller: InstalledPlugin,
  hookName: string,
  method: unknown,
  args: readonly unknown[] = [],
): void {
  if (!isMethod(method)) return;
  try {
    apply(method, caller.plugin, args);
  } catch (error) {
    caller.reportHookError(hookName, error);
  }
}
