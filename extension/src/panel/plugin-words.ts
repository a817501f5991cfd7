import type { PluginView, ToolView } from '../../../wire/wire.gen.ts';
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
