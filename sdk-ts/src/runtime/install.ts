import { log } from '../log.ts';
import { setPreScriptOwner } from '../pre-script-value.ts';
import { callHook, type InstalledPlugin, runHook, wrapPrompt, wrapTool } from './call.ts';
import { getRegisteredAdapters, replaceRegistry } from './container.ts';
import { watchNavigation } from './navigation.ts';
import { connectToPlatform } from './platform.ts';
import { apply } from './primordials.ts';
import { hasProperties, isMethod, type Properties, readMessage } from './value.ts';

/** `name` is derived from the name of the npm package. */
export interface PluginIdentity {
  name: string;
  displayName: string;
  description: string;
  urlPatterns: readonly string[];
  excludePatterns?: readonly string[];
  homepage?: string;
}

/** After `install` returns, code from `opentabs plugin build` sets the adapter's hash and locks the adapter. */
export function install(moduleExport: unknown, identity: PluginIdentity): void {
  if (!hasProperties(moduleExport)) throw new TypeError(`plugin ${identity.name}: the default export is not a plugin`);
  const plugin = moduleExport;
  const reportHookError = (hook: string, error: unknown) => {
    log.warn(`${hook} failed: ${readMessage(error)}`);
  };
  const installedPlugin: InstalledPlugin = { name: identity.name, plugin, reportHookError };

  tearDownEarlierAdapter(installedPlugin);
  setPreScriptOwner(identity.name);
  const disconnectPlatform = connectToPlatform(identity.name);
  applyIdentity(plugin, identity);
  const tools = Array.isArray(plugin.tools)
    ? plugin.tools.map((tool: Properties) => wrapTool(installedPlugin, tool))
    : [];
  defineOwnProperty(plugin, 'tools', tools);
  if (Array.isArray(plugin.prompts)) {
    // The install function freezes the prompts, because the code that the build appends to the adapter locks only the
    // tools.
    defineOwnProperty(
      plugin,
      'prompts',
      Object.freeze(plugin.prompts.map((prompt: Properties) => wrapPrompt(installedPlugin, prompt))),
    );
  }
  replaceRegistry(identity.name)[identity.name] = plugin;

  callHook(installedPlugin, 'onActivate');
  defineOwnProperty(
    plugin,
    'teardown',
    wrapTeardown(installedPlugin, startNavigationHook(installedPlugin), disconnectPlatform),
  );
  // The SDK's wrapper of `teardown` already calls onDeactivate, so onDeactivate is undefined for the extension.
  defineOwnProperty(plugin, 'onDeactivate', undefined);
}

function tearDownEarlierAdapter({ name, reportHookError }: InstalledPlugin): void {
  const earlierAdapter = getRegisteredAdapters()?.[name];
  if (hasProperties(earlierAdapter)) callHook({ name, plugin: earlierAdapter, reportHookError }, 'teardown');
}

function applyIdentity(plugin: Properties, identity: PluginIdentity): void {
  defineOwnProperty(plugin, 'name', identity.name);
  const { name: _, ...fields } = identity;
  for (const [key, value] of Object.entries(fields)) {
    const currentValue = plugin[key];
    if (!currentValue || (Array.isArray(currentValue) && currentValue.length === 0))
      defineOwnProperty(plugin, key, value);
  }
}

function startNavigationHook({ name, plugin, reportHookError }: InstalledPlugin): (() => void) | undefined {
  const { onNavigate } = plugin;
  if (!isMethod(onNavigate)) return undefined;
  const onUrlChange = (url: string) => {
    apply(onNavigate, plugin, [url]);
  };
  return watchNavigation(name, onUrlChange, (error) => reportHookError('onNavigate', error));
}

function wrapTeardown(
  caller: InstalledPlugin,
  stopNavigation: (() => void) | undefined,
  disconnectPlatform: () => void,
): () => void {
  const { onDeactivate, teardown } = caller.plugin;
  return () => {
    runHook(caller, 'onDeactivate', onDeactivate);
    stopNavigation?.();
    runHook(caller, 'teardown', teardown);
    disconnectPlatform();
  };
}

function defineOwnProperty(plugin: Properties, key: string, value: unknown): void {
  Object.defineProperty(plugin, key, { value, writable: true, enumerable: true, configurable: true });
}
