// Contains the texts of the review of a plugin.

import type {
  InspectedToolView,
  LastReviewView,
  Permission,
  PluginInspectResult,
  PluginInstallResult,
  PluginSource,
  PluginUpdateResult,
  PowerView,
  SectionView,
  ToolPermission,
  ToolView,
} from '../../../wire/wire.gen.ts';
import { removeHidden } from './wording.ts';

/** permissionEffects describes what each permission of a plugin means. */
export const permissionEffects: Readonly<Record<Permission, string>> = {
  off: 'Off: no tool runs, and pages get no code of the plugin.',
  ask: 'Ask: each call waits for your approval.',
  auto: 'Auto: tools run without approval.',
};

/** sourceText returns how a plugin was installed. */
export function sourceText(source: PluginSource): string {
  switch (source) {
    case 'npm':
      return 'Package from a registry or a file';
    case 'global':
      return 'Installed with npm';
    default:
      return 'Folder that you added';
  }
}

/** PowerGroup is the browser features with one meaning that the code mentions. */
export interface PowerGroup {
  readonly names: string;
  readonly meaning: string;
}

/**
 * powerGroups groups browser features by their meaning. own are the features that the author's code or the pre-script
 * mentions, and libraryNames the features that only libraries mention.
 */
export function powerGroups(powers: readonly PowerView[]): { own: PowerGroup[]; libraryNames: string } {
  const isOwn = (power: PowerView) => (power.sections ?? []).some((section) => section !== 'libraries');
  const names = new Map<string, string[]>();
  for (const { name, meaning } of powers.filter(isOwn)) {
    const group = names.get(meaning);
    if (group) group.push(name);
    else names.set(meaning, [name]);
  }
  return {
    own: [...names].map(([meaning, group]) => ({ names: group.join(', '), meaning })),
    libraryNames: powers
      .filter((power) => !isOwn(power))
      .map((power) => power.name)
      .join(', '),
  };
}

/** toolCounts returns how many tools only read, as their author declares, and how many may write. */
export function toolCounts(tools: readonly ToolView[]): string {
  const readCount = tools.filter((tool) => tool.readOnly).length;
  const writeCount = tools.length - readCount;
  const total = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
  if (readCount === 0 || writeCount === 0) return `${total}, ${readCount === 0 ? 'may write' : 'read-only'}`;
  return `${total}: ${readCount} read-only, ${writeCount} may write`;
}

/** sectionTitle returns the title of a text of a plugin, with its size. */
export function sectionTitle({ name, lines, added, removed }: SectionView, lastReview?: LastReviewView): string {
  const size = lines === 1 ? '1 line' : `${lines.toLocaleString('en')} lines`;
  switch (name) {
    case 'changes': {
      const version = removeHidden(lastReview?.version ?? '');
      return `Changes since ${version ? `version ${version}` : 'your last review'}: +${added ?? 0} −${removed ?? 0} lines`;
    }
    case 'pre-script':
      return `Pre-script, ${size}`;
    case 'libraries':
      return `Library code, ${size}`;
    default:
      return `Author’s code, ${size}`;
  }
}

/** lastReviewText returns which version the user reviewed last, and when. */
export function lastReviewText(review: LastReviewView): string {
  const version = removeHidden(review.version ?? '');
  const day = review.atMs === undefined ? '' : ` on ${new Date(review.atMs).toLocaleDateString()}`;
  const permission = review.permission ? `; the permission was ${review.permission}` : '';
  return `${version ? `Version ${version}` : 'Another version'}${day}${permission}`;
}

/** splitLines splits a text at its line ends. A line end at the end of the text does not begin another line. */
export function splitLines(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** descriptionsOf returns the descriptions of tools by name. */
export function descriptionsOf(inspection: PluginInspectResult | undefined): ReadonlyMap<string, InspectedToolView> {
  return new Map((inspection?.tools ?? []).map((tool) => [tool.name, tool]));
}

/** ToolDrafts are the permissions of tools that the user has chosen in a review, by name; "" means the default. */
export type ToolDrafts = ReadonlyMap<string, Permission | ''>;

/**
 * changedTools returns the permissions that a review changes. A review of changed content removes the permission "auto"
 * of a tool, so that an untouched "auto" is not sent.
 */
export function changedTools(tools: readonly ToolView[], drafts: ToolDrafts): ToolPermission[] {
  return tools.flatMap((tool): ToolPermission[] => {
    const draft = drafts.get(tool.name);
    if (draft === undefined || draft === keptPermission(tool)) return [];
    return [{ tool: tool.name, ...(draft === '' ? {} : { permission: draft }) }];
  });
}

/** keptPermission returns the permission that a tool keeps in a review; "" means the default. */
export function keptPermission({ permission }: ToolView): Permission | '' {
  return permission === undefined || permission === 'auto' ? '' : permission;
}

/** installedText returns the result of an installation in the panel. */
export function installedText(installed: PluginInstallResult): string {
  const { plugin, version, previousVersion, registry, warnings = [] } = installed;
  const name = `${removeHidden(plugin)} ${removeHidden(version)}`;
  const source = registry === undefined ? '' : ` from ${removeHidden(registry)}`;
  const result =
    previousVersion === undefined
      ? `Installed ${name}${source}.`
      : `Replaced version ${removeHidden(previousVersion)} by ${name}${source}.`;
  return [result, ...warnings.map((warning) => `Warning: ${removeHidden(warning)}`)].join('\n');
}

/** updatedText returns the result of an update in the panel. */
export function updatedText(updated: PluginUpdateResult): string {
  const { version, previousVersion, latestVersion, warnings = [] } = updated;
  const result =
    previousVersion === undefined
      ? `Version ${removeHidden(version)} is the newest in its range.`
      : `Updated from ${removeHidden(previousVersion)} to ${removeHidden(version)}. Review the new version.`;
  const latest = latestVersion === undefined ? [] : [`Version ${removeHidden(latestVersion)} is outside of its range.`];
  return [result, ...latest, ...warnings.map((warning) => `Warning: ${removeHidden(warning)}`)].join('\n');
}
