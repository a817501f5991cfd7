import type { PluginView, ToolView } from '../../../wire/wire.gen.ts';
import type { PanelTab } from '../panel-message.ts';
import { plain } from './wording.ts';

/** MaxSites is how many sites of a plugin are named in the list. */
const MaxSites = 3;

/** sitesOf names the hosts of match patterns. */
export function sitesOf(patterns: readonly string[]): string {
  const hosts = [...new Set(patterns.map(hostOfPattern))];
  const more = hosts.length - MaxSites;
  return hosts.slice(0, MaxSites).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function hostOfPattern(pattern: string): string {
  const host = /^[^:]+:\/\/([^/]*)/.exec(pattern)?.[1];
  if (pattern === '<all_urls>' || host === '*') return 'all sites';
  return plain(host || pattern);
}

/** hashGroups writes a hash in groups of eight, so that it can be compared. */
export function hashGroups(hash: string): string {
  return (hash.match(/.{1,8}/g) ?? []).join(' ');
}

/** ownCount counts the tools that have a permission of their own. */
export function ownCount(tools: readonly ToolView[]): number {
  return tools.filter((tool) => tool.permission !== undefined).length;
}

/** ToolGroup is the tools of one category; the name is empty for tools without one. */
export interface ToolGroup {
  readonly category: string;
  readonly tools: readonly ToolView[];
}

/** toolGroups puts tools of one category together, in the order in which the categories come; those without one are last, as "Other". */
export function toolGroups(tools: readonly ToolView[]): ToolGroup[] {
  const groups = new Map<string, ToolView[]>();
  for (const tool of tools) {
    const category = plain(tool.category ?? '');
    const group = groups.get(category);
    if (group) group.push(tool);
    else groups.set(category, [tool]);
  }
  return [...groups]
    .toSorted(([a], [b]) => Number(a === '') - Number(b === ''))
    .map(([category, grouped]) => ({ category: category || (groups.size > 1 ? 'Other' : ''), tools: grouped }));
}

/** matching returns the plugins whose names, or whose tools' names, hold the text; those that need a review come first. */
export function matching(plugins: readonly PluginView[], text: string): PluginView[] {
  const sought = text.trim().toLowerCase();
  const holds = (name: string) => name.toLowerCase().includes(sought);
  return plugins
    .filter(
      (plugin) =>
        holds(plugin.name) ||
        holds(plugin.displayName) ||
        (plugin.tools ?? []).some((tool) => holds(tool.name) || holds(tool.displayName)),
    )
    .toSorted((a, b) => Number(a.reviewed) - Number(b.reviewed));
}

/** Readiness is whether a plugin's tools can run in a tab: closed without one, unavailable while none is ready. */
export type Readiness = 'closed' | 'unavailable' | 'ready';

/** readinessOf says how a plugin stands in the tabs of this browser. */
export function readinessOf(name: string, tabs: readonly PanelTab[]): Readiness {
  const here = tabs.flatMap((tab) => tab.plugins.filter((plugin) => plugin.name === name));
  if (here.some((plugin) => plugin.status === 'live' && plugin.ready === true)) return 'ready';
  return here.length > 0 ? 'unavailable' : 'closed';
}

/** iconUrl is an icon as an image's address; an image runs no scripts and loads nothing. It is absent if the text can't be one. */
export function iconUrl(svg: string | undefined): string | undefined {
  if (!svg) return undefined;
  try {
    return `data:image/svg+xml,${encodeURIComponent(svg)}`;
  } catch {
    return undefined; // half of a surrogate pair
  }
}
