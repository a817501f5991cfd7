import { log } from '../log.ts';
import { setPreScriptOwner } from '../pre-script-value.ts';
import { type Caller, callHook, runHook, wrapPrompt, wrapTool } from './call.ts';
import { openRegistry, registeredAdapters } from './container.ts';
import { watchNavigation } from './navigation.ts';
import { connect } from './platform.ts';
import { apply } from './primordials.ts';
import { type Bag, isBag, isMethod, messageOf } from './value.ts';

/** What package.json says of a plugin; `name` is the one derived from the package's name. */
export interface PluginIdentity {
  name: string;
  displayName: string;
  description: string;
  urlPatterns: readonly string[];
  excludePatterns?: readonly string[];
  homepage?: string;
}

/**
 * Registers a module's default export as the adapter `identity.name`, in place of one that is there already. The snippet
 * that `opentabs plugin build` appends then gives it its hash and locks it.
 */
export function install(exported: unknown, identity: PluginIdentity): void {
  if (!isBag(exported)) throw new TypeError(`plugin ${identity.name}: the default export is not a plugin`);
  const plugin = exported;
  const failed = (hook: string, error: unknown) => {
    log.warn(`${hook} failed: ${messageOf(error)}`);
  };
  const caller: Caller = { name: identity.name, plugin, failed };

  tearDownFormer(caller);
  setPreScriptOwner(identity.name);
  const disconnect = connect(identity.name);
  describe(plugin, identity);
  const tools = Array.isArray(plugin.tools) ? plugin.tools.map((tool: Bag) => wrapTool(caller, tool)) : [];
  own(plugin, 'tools', tools);
  if (Array.isArray(plugin.prompts)) {
    // The snippet locks the tools only: it is the same in all packages.
    own(plugin, 'prompts', Object.freeze(plugin.prompts.map((prompt: Bag) => wrapPrompt(caller, prompt))));
  }
  openRegistry(identity.name)[identity.name] = plugin;

  callHook(caller, 'onActivate');
  own(plugin, 'teardown', wrapTeardown(caller, startNavigation(caller), disconnect));
  // The wrapped teardown calls it; a host must not call it a second time.
  own(plugin, 'onDeactivate', undefined);
}

function tearDownFormer({ name, failed }: Caller): void {
  const former = registeredAdapters()?.[name];
  if (isBag(former)) callHook({ name, plugin: former, failed }, 'teardown');
}

/** Fills in what the plugin leaves to package.json. The name is always the package's: callers find the adapter by it. */
function describe(plugin: Bag, identity: PluginIdentity): void {
  own(plugin, 'name', identity.name);
  const { name: _, ...described } = identity;
  for (const [key, value] of Object.entries(described)) {
    const present = plugin[key];
    if (!present || (Array.isArray(present) && present.length === 0)) own(plugin, key, value);
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

/** Sets a property on the plugin itself, over whatever its class has: a field may be read-only or a getter. */
function own(plugin: Bag, key: string, value: unknown): void {
  Object.defineProperty(plugin, key, { value, writable: true, enumerable: true, configurable: true });
}
