import { runCall } from '../running.ts';
import { container } from './container.ts';
import { completeContext } from './context.ts';
import { timeNow } from './page-primordials.ts';
import {
  apply,
  bare,
  dataProperty,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  lookup,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';
import { type Bag, isMethod } from './value.ts';

/** The plugin whose tools are wrapped, and where to report what its hooks throw. */
export interface Caller {
  name: string;
  plugin: Bag;
  failed: (hook: string, error: unknown) => void;
}

/**
 * Returns a copy of `tool` whose handler calls the plugin's hooks around each call, gets a whole context and lets the SDK's
 * waits stop with the call. What the handler throws is thrown on unchanged.
 */
export function wrapTool(caller: Caller, tool: Bag): Bag {
  const given = lookup(tool, 'name');
  const name = typeof given === 'string' ? given : '';
  return wrap(caller, tool, 'handle', async (run) => {
    callHook(caller, 'onToolInvocationStart', [name]);
    const began = timeNow();
    let success = false;
    try {
      const result = await run();
      success = true;
      return result;
    } finally {
      callHook(caller, 'onToolInvocationEnd', [name, success, timeNow() - began]);
    }
  });
}

/** Returns a copy of `prompt` like {@link wrapTool}, but without the hooks, which are for tools. It is locked. */
export function wrapPrompt(caller: Caller, prompt: Bag): Bag {
  return freeze(wrap(caller, prompt, 'render', (run) => run()));
}

type Around = (run: () => Promise<unknown>) => Promise<unknown>;

/** Returns a copy of `definition` whose method `key` runs with a whole context, and inside `around`. */
function wrap(caller: Caller, definition: Bag, key: 'handle' | 'render', around: Around): Bag {
  const method = lookup(definition, key);
  if (!isMethod(method)) return definition;
  const value = async function (this: unknown, params: unknown, given: unknown, ...rest: unknown[]): Promise<unknown> {
    const own = container();
    if (own) defineProperty(own, '_pluginName', dataProperty(caller.name));
    const context = completeContext(given);
    const args: unknown[] = [params, context];
    for (let i = 0; i < rest.length; i++) defineProperty(args, args.length, dataProperty(rest[i]));
    return await around(() => runCall(context.signal, () => apply(method, this, args)));
  };
  // Not by assignment: the author may have frozen the definition.
  const copy = bare();
  const keys = ownKeys(definition);
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i] ?? '';
    const found = getOwnPropertyDescriptor(definition, name);
    if (!found) continue;
    setPrototypeOf(found, null);
    defineProperty(copy, name, found);
  }
  defineProperty(copy, key, dataProperty(value));
  setPrototypeOf(copy, getPrototypeOf(definition));
  return copy;
}

/** Calls one of the plugin's hooks if it has it. */
export function callHook(caller: Caller, hook: string, args: readonly unknown[] = []): void {
  runHook(caller, hook, lookup(caller.plugin, hook), args);
}

/** Calls `method`, which is or was the plugin's `hook`, on the plugin. */
export function runHook(caller: Caller, hook: string, method: unknown, args: readonly unknown[] = []): void {
  if (!isMethod(method)) return;
  try {
    apply(method, caller.plugin, args);
  } catch (error) {
    caller.failed(hook, error);
  }
}
