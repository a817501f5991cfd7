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

/** A plugin whose tools are wrapped, and the function that reports errors of its hooks. */
export interface Caller {
  name: string;
  plugin: Bag;
  failed: (hook: string, error: unknown) => void;
}

/**
 * Returns a copy of `tool` whose handler runs the plugin's hooks, gets a complete context and aborts the SDK's waits when
 * the call is cancelled. Errors of the handler stay unchanged.
 */
export function wrapTool(caller: Caller, tool: Bag): Bag {
  const given = lookup(tool, 'name');
  const name = typeof given === 'string' ? given : '';
  return wrap(caller, tool, 'handle', async (run) => {
    callHook(caller, 'onToolInvocationStart', [name]);
    const startedAt = timeNow();
    let success = false;
    try {
      const result = await run();
      success = true;
      return result;
    } finally {
      callHook(caller, 'onToolInvocationEnd', [name, success, timeNow() - startedAt]);
    }
  });
}

/** Returns a frozen copy of `prompt` like {@link wrapTool}, without the hooks, which are for tools only. */
export function wrapPrompt(caller: Caller, prompt: Bag): Bag {
  return freeze(wrap(caller, prompt, 'render', (run) => run()));
}

type Around = (run: () => Promise<unknown>) => Promise<unknown>;

/** Returns a copy of `definition` whose method `key` runs inside `around` with a complete context. */
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
  // Defined, not assigned, because the author may have frozen the definition.
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

/** Calls a hook of the plugin, if defined. */
export function callHook(caller: Caller, hook: string, args: readonly unknown[] = []): void {
  runHook(caller, hook, lookup(caller.plugin, hook), args);
}

/** Calls `method`, a current or replaced `hook` of the plugin, with the plugin as `this`. */
export function runHook(caller: Caller, hook: string, method: unknown, args: readonly unknown[] = []): void {
  if (!isMethod(method)) return;
  try {
    apply(method, caller.plugin, args);
  } catch (error) {
    caller.failed(hook, error);
  }
}
