import type { FailedPluginView, PluginView, ToolView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { removeHiddenCharacters } from './wording.ts';

const MaxSites = 3;

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

export function countToolPermissions(tools: readonly ToolView[]): number {
  return tools.filter((tool) => tool.permission !== undefined).length;
}

export interface ToolGroup {
  readonly toolCategory: string;
  readonly tools: readonly ToolView[];
}

/** groupTools groups tools by category, in order of first use. */
export function groupTools(tools: readonly ToolView[]): ToolGroup[] {
  const toolsByGroup = new Map<string, ToolView[]>();
  for (const tool of tools) {
    const category = removeHiddenCharacters(tool.category ?? '');
    const group = toolsByGroup.get(category);
    if (group) group.push(tool);
    else toolsByGroup.set(category, [tool]);
  }
  return [...toolsByGroup]
    .toSorted(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([category, categoryTools]) => ({
      toolCategory: category || (toolsByGroup.size > 1 ? 'Other' : ''),
      tools: categoryTools,
    }));
}

export function findPackageName(searchText: string): string {
  const name = searchText.trim().toLowerCase();
  return /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/.test(name) ? name : '';
}

export type PluginFilter = 'all' | 'review' | 'on' | 'off' | 'failed';

export const pluginFilters: readonly { readonly filter: PluginFilter; readonly title: string }[] = [
  { filter: 'all', title: 'All' },
  { filter: 'review', title: 'To review' },
  { filter: 'on', title: 'On' },
  { filter: 'off', title: 'Off' },
  { filter: 'failed', title: 'Failed' },
];

export function findPlugins(plugins: readonly PluginView[], searchText: string, filter: PluginFilter): PluginView[] {
  const query = searchText.trim().toLowerCase();
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

export function findFailedPlugins(
  failedPlugins: readonly FailedPluginView[],
  searchText: string,
  filter: PluginFilter,
): readonly FailedPluginView[] {
  const query = searchText.trim().toLowerCase();
  if (filter !== 'all' && filter !== 'failed') return [];
  return failedPlugins.filter(({ name = '', path }) => `${name} ${path}`.toLowerCase().includes(query));
}

export type PluginReadiness = 'closed' | 'unavailable' | 'ready';

export function findReadiness(name: string, tabs: readonly PanelTab[]): PluginReadiness {
  const tabPlugins = tabs.flatMap((tab) => tab.plugins.filter((plugin) => plugin.name === name));
  if (tabPlugins.some((plugin) => plugin.status === 'live' && plugin.ready === true)) return 'ready';
  return tabPlugins.length > 0 ? 'unavailable' : 'closed';
}

/** makeIconUrl converts an SVG icon to a data URL for an `<img>`, which runs no scripts and loads no resources. */
export function makeIconUrl(svgText: string | undefined): string | undefined {
  if (!svgText) return undefined;
  try {
    return `data:image/svg+xml,${encodeURIComponent(svgText)}`;
  } catch {
    return undefined; // the SVG contains half of a surrogate pair
  }
}
