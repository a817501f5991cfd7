import type { FailedPluginView, PluginView, ToolView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { removeHiddenCharacters } from './wording.ts';

/** MaxSites is how many of a plugin's sites the panel lists by name. */
const MaxSites = 3;

/** formatSites formats the hosts of Chrome match patterns, such as "a.com, b.com and 2 more". */
export function formatSites(patterns: readonly string[]): string {
  const hosts = [...new Set(patterns.map(readPatternHost))];
  const hiddenCount = hosts.length - MaxSites;
  return hosts.slice(0, MaxSites).join(', ') + (hiddenCount > 0 ? ` and ${hiddenCount} more` : '');
}

function readPatternHost(pattern: string): string {
  const host = /^[^:]+:\/\/([^/]*)/.exec(pattern)?.[1];
  if (pattern === '<all_urls>' || host === '*') return 'all sites';
  return removeHiddenCharacters(host || pattern);
}

/** formatHash inserts a space after every eight characters of a hash, so that a user can compare hashes by eye. */
export function formatHash(hash: string): string {
  return (hash.match(/.{1,8}/g) ?? []).join(' ');
}

/** countOwnPermissions counts the tools for which the user has set a permission that overrides the plugin's. */
export function countOwnPermissions(tools: readonly ToolView[]): number {
  return tools.filter((tool) => tool.permission !== undefined).length;
}

/** ToolGroup contains the tools of one category. For tools without a category, category is empty. */
export interface ToolGroup {
  readonly category: string;
  readonly tools: readonly ToolView[];
}

/**
 * groupTools groups tools by category, in order of first use. Tools without a category come last, in the group "Other".
 */
export function groupTools(tools: readonly ToolView[]): ToolGroup[] {
  const groups = new Map<string, ToolView[]>();
  for (const tool of tools) {
    const category = removeHiddenCharacters(tool.category ?? '');
    const group = groups.get(category);
    if (group) group.push(tool);
    else groups.set(category, [tool]);
  }
  return [...groups]
    .toSorted(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([category, grouped]) => ({ category: category || (groups.size > 1 ? 'Other' : ''), tools: grouped }));
}

/**
 * findPackageName returns the text of a search as the name of an npm package, or an empty string if no package can have
 * that name.
 */
export function findPackageName(text: string): string {
  const name = text.trim().toLowerCase();
  return /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/.test(name) ? name : '';
}

/** PluginFilter selects plugins by their state, such as waiting for review. */
export type PluginFilter = 'all' | 'review' | 'on' | 'off' | 'failed';

/** pluginFilters lists the plugin filters in the order in which the panel shows them. */
export const pluginFilters: readonly { readonly filter: PluginFilter; readonly title: string }[] = [
  { filter: 'all', title: 'All' },
  { filter: 'review', title: 'To review' },
  { filter: 'on', title: 'On' },
  { filter: 'off', title: 'Off' },
  { filter: 'failed', title: 'Failed' },
];

/**
 * findPlugins returns the plugins that match both a filter and a search text. The search text may be part of a plugin
 * name, a site or a tool name. findPlugins lists the plugins that need a review before all other plugins.
 */
export function findPlugins(plugins: readonly PluginView[], text: string, filter: PluginFilter): PluginView[] {
  const query = text.trim().toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(query);
  return plugins
    .filter(
      (plugin) =>
        matchesFilter(plugin, filter) &&
        (matches(plugin.name) ||
          matches(plugin.displayName) ||
          (plugin.matches ?? []).some(matches) ||
          (plugin.tools ?? []).some((tool) => matches(tool.name) || matches(tool.displayName))),
    )
    .toSorted((a, b) => Number(a.reviewed) - Number(b.reviewed));
}

function matchesFilter(plugin: PluginView, filter: PluginFilter): boolean {
  const isOn =
    plugin.permission !== 'off' || (plugin.tools ?? []).some(({ permission }) => (permission ?? 'off') !== 'off');
  switch (filter) {
    case 'review':
      return !plugin.reviewed;
    case 'on':
      return plugin.reviewed && isOn;
    case 'off':
      return plugin.reviewed && !isOn;
    case 'failed':
      return plugin.problem !== undefined;
    default:
      return true;
  }
}

/** findFailedPlugins returns the plugins that could not be loaded and whose name or path contains the search text. */
export function findFailedPlugins(
  failed: readonly FailedPluginView[],
  text: string,
  filter: PluginFilter,
): readonly FailedPluginView[] {
  const query = text.trim().toLowerCase();
  if (filter !== 'all' && filter !== 'failed') return [];
  return failed.filter(({ name = '', path }) => `${name} ${path}`.toLowerCase().includes(query));
}

/**
 * Readiness describes whether a plugin can be used in this browser. "closed" means that no open tab matches the plugin,
 * "unavailable" that no matching tab is ready, and "ready" that the plugin's tools can run.
 */
export type Readiness = 'closed' | 'unavailable' | 'ready';

/** findReadiness returns the readiness of a plugin in the tabs of this browser. */
export function findReadiness(name: string, tabs: readonly PanelTab[]): Readiness {
  const tabPlugins = tabs.flatMap((tab) => tab.plugins.filter((plugin) => plugin.name === name));
  if (tabPlugins.some((plugin) => plugin.status === 'live' && plugin.ready === true)) return 'ready';
  return tabPlugins.length > 0 ? 'unavailable' : 'closed';
}

/**
 * makeIconUrl converts a plugin's SVG icon to a data URL for an `<img>`, which runs no scripts and loads no resources.
 * If the SVG is not valid Unicode, makeIconUrl returns undefined.
 */
export function makeIconUrl(svg: string | undefined): string | undefined {
  if (!svg) return undefined;
  try {
    return `data:image/svg+xml,${encodeURIComponent(svg)}`;
  } catch {
    return undefined; // the SVG contains half of a surrogate pair
  }
}
