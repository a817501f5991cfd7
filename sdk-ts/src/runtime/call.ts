import { runCall } from '../running.ts';
import { container } from './container.ts';
import { completeContext } from './context.ts';
import { type Bag, isMethod } from './value.ts';

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
  const name = String(tool.name);
  return wrap(caller, tool, 'handle', async (run) => {
    callHook(caller, 'onToolInvocationStart', [name]);
    const began = performance.now();
    let success = false;
    try {
      const result = await run();
      success = true;
      return result;
    } finally {
      callHook(caller, 'onToolInvocationEnd', [name, success, performance.now() - began]);
    }
  });
}

/** Returns a copy of `prompt` like {@link wrapTool}, but the hooks are told of tools only. It is locked. */
export function wrapPrompt(caller: Caller, prompt: Bag): Bag {
  return Object.freeze(wrap(caller, prompt, 'render', (run) => run()));
}

type Around = (run: () => Promise<unknown>) => Promise<unknown>;

/** Returns a copy of `definition` whose method `key` runs with a whole context, and inside `around`. */
function wrap(caller: Caller, definition: Bag, key: 'handle' | 'render', around: Around): Bag {
  const method = definition[key];
  if (!isMethod(method)) return definition;
  const value = async function (this: unknown, params: unknown, given: unknown, ...rest: unknown[]): Promise<unknown> {
    const own = container();
    if (own) own._pluginName = caller.name;
    const context = completeContext(given);
    return await around(() => runCall(context.signal, () => Reflect.apply(method, this, [params, context, ...rest])));
  };
  // Not by assignment: the author may have frozen the definition.
  return Object.create(Object.getPrototypeOf(definition), {
    ...Object.getOwnPropertyDescriptors(definition),
    [key]: { value, writable: true, enumerable: true, configurable: true },
  });
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
