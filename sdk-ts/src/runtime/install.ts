import { log } from '../log.ts';
import { setPreScriptOwner } from '../pre-script-value.ts';
import { type Caller, callHook, runHook, wrapPrompt, wrapTool } from './call.ts';
import { openRegistry, registeredAdapters } from './container.ts';
import { watchNavigation } from './navigation.ts';
import { connect } from './platform.ts';
import { apply } from './primordials.ts';
import { type Bag, isBag, isMethod, messageOf } from './value.ts';

/** Fields of a plugin's package.json; `name` is derived from the package's name. */
export interface PluginIdentity {
  name: string;
  displayName: string;
  description: string;
  urlPatterns: readonly string[];
  excludePatterns?: readonly string[];
  homepage?: string;
}

/**
 * Registers a module's default export as the adapter `identity.name` and replaces an earlier version. The snippet that
 * `opentabs plugin build` appends then sets its hash and locks it.
 */
export function install(exported: unknown, identity: PluginIdentity): void {
  if (!isBag(exported)) throw new TypeError(`plugin ${identity.name}: the default export is not a plugin`);
  const plugin = exported;
  const failed = (hook: string, error: unknown) => {
    log.warn(`${hook} failed: ${messageOf(error)}`);
  };
  const caller: Caller = { name: identity.name, plugin, failed };

  tearDownEarlier(caller);
  setPreScriptOwner(identity.name);
  const disconnect = connect(identity.name);
  applyIdentity(plugin, identity);
  const tools = Array.isArray(plugin.tools) ? plugin.tools.map((tool: Bag) => wrapTool(caller, tool)) : [];
  defineOwn(plugin, 'tools', tools);
  if (Array.isArray(plugin.prompts)) {
    // Frozen here because the snippet, which is the same in all packages, locks only the tools.
    defineOwn(plugin, 'prompts', Object.freeze(plugin.prompts.map((prompt: Bag) => wrapPrompt(caller, prompt))));
  }
  openRegistry(identity.name)[identity.name] = plugin;

  callHook(caller, 'onActivate');
  defineOwn(plugin, 'teardown', wrapTeardown(caller, startNavigation(caller), disconnect));
  // The wrapped teardown calls onDeactivate, so a host must not call it again.
  defineOwn(plugin, 'onDeactivate', undefined);
}

function tearDownEarlier({ name, failed }: Caller): void {
  const earlier = registeredAdapters()?.[name];
  if (isBag(earlier)) callHook({ name, plugin: earlier, failed }, 'teardown');
}

/** Sets the plugin's name, which is always the package's, and the missing fields from package.json. */
function applyIdentity(plugin: Bag, identity: PluginIdentity): void {
  defineOwn(plugin, 'name', identity.name);
  const { name: _, ...fields } = identity;
  for (const [key, value] of Object.entries(fields)) {
    const present = plugin[key];
    if (!present || (Array.isArray(present) && present.length === 0)) defineOwn(plugin, key, value);
  }
}

function startNavigation({ name, plugin, failed }: Caller): (() => void) | undefined {
  const { onNavigate } = plugin;
  if (!isMethod(onNavigate)) return undefined;
  const changed = (url: string) => {
    apply(onNavigate, plugin, [url]);
  };
  return watchNavigation(name, changed, (error) => failed('onNavigate', error));
}

function wrapTeardown(caller: Caller, stopNavigation: (() => void) | undefined, disconnect: () => void): () => void {
  const { onDeactivate, teardown } = caller.plugin;
  return () => {
    runHook(caller, 'onDeactivate', onDeactivate);
    stopNavigation?.();
    runHook(caller, 'teardown', teardown);
    disconnect();
  };
}

/** Defines an own property, because the class of the plugin may have a read-only field or a getter. */
function defineOwn(plugin: Bag, key: string, value: unknown): void {
  Object.defineProperty(plugin, key, { value, writable: true, enumerable: true, configurable: true });
}
