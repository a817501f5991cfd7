import { runCall } from '../running.ts';
import { completeContext } from './context.ts';
import { type Bag, isBag, isMethod, type Method } from './value.ts';

/** The plugin whose tools are wrapped, and where to say what its hooks throw. */
export interface Caller {
  name: string;
  plugin: Bag;
  failed: (hook: string, error: unknown) => void;
}

/**
 * Returns a copy of `tool` whose handler tells the plugin's hooks of each call, gets a whole context and lets the SDK's
 * waits stop with the call. What the handler throws is thrown on unchanged.
 */
export function wrapTool(caller: Caller, tool: Bag): Bag {
  const { handle } = tool;
  if (!isMethod(handle)) return tool;
  const value = wrapHandler(caller, String(tool.name), handle);
  // Not by assignment: the author may have frozen the tool.
  return Object.create(Object.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    handle: { value, writable: true, enumerable: true, configurable: true },
  });
}

function wrapHandler(caller: Caller, tool: string, handle: Method): Method {
  return async function (this: unknown, params: unknown, given: unknown, ...rest: unknown[]): Promise<unknown> {
    const container = globalThis.__openTabs;
    if (isBag(container)) container._pluginName = caller.name;
    const context = completeContext(given);
    callHook(caller, 'onToolInvocationStart', [tool]);
    const began = performance.now();
    let success = false;
    try {
      const result = await runCall(context.signal, () => Reflect.apply(handle, this, [params, context, ...rest]));
      success = true;
      return result;
    } finally {
      callHook(caller, 'onToolInvocationEnd', [tool, success, performance.now() - began]);
    }
  };
}

/** Calls one of the plugin's hooks if it has it. */
export function callHook(caller: Caller, hook: string, args: readonly unknown[] = []): void {
  runHook(caller, hook, caller.plugin[hook], args);
}

/** Calls `method`, which is or was the plugin's `hook`, on the plugin. */
export function runHook(caller: Caller, hook: string, method: unknown, args: readonly unknown[] = []): void {
  if (!isMethod(method)) return;
  try {
    Reflect.apply(method, caller.plugin, args);
  } catch (error) {
    caller.failed(hook, error);
  }
}
