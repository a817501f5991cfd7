// Texts that the panel shows in a plugin review.

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
import { removeHiddenCharacters } from './wording.ts';

export const permissionEffects: Readonly<Record<Permission, string>> = {
  off: 'Off: no tool runs, and pages get no code of the plugin.',
  ask: 'Ask: each call waits for your approval.',
  auto: 'Auto: tools run without approval.',
};

export function describeSource(source: PluginSource): string {
  switch (source) {
    case 'npm':
      return 'Package from a registry or a file';
    case 'global':
      return 'Installed with npm';
    default:
      return 'Folder that you added';
  }
}

export interface FeatureGroup {
  readonly names: string;
  readonly meaning: string;
}

/**
 * The field `own` contains features that the author's code or the pre-script mentions, and `libraryNames` contains
 * features that only libraries mention.
 */
export function groupFeatures(powers: readonly PowerView[]): { own: FeatureGroup[]; libraryNames: string } {
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

/**
 * describeToolCounts describes how many of a plugin's tools only read and how many can change data, as declared by the
 * author.
 */
export function describeToolCounts(tools: readonly ToolView[]): string {
  const readCount = tools.filter((tool) => tool.readOnly).length;
  const writeCount = tools.length - readCount;
  const total = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
  if (readCount === 0 || writeCount === 0) return `${total}, ${readCount === 0 ? 'may write' : 'read-only'}`;
  return `${total}: ${readCount} read-only, ${writeCount} may write`;
}

export function makeSectionTitle({ name, lines, added, removed }: SectionView, lastReview?: LastReviewView): string {
  const size = lines === 1 ? '1 line' : `${lines.toLocaleString('en')} lines`;
  switch (name) {
    case 'changes': {
      const version = removeHiddenCharacters(lastReview?.version ?? '');
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

export function describeLastReview(review: LastReviewView): string {
  const version = removeHiddenCharacters(review.version ?? '');
  const day = review.atMs === undefined ? '' : ` on ${new Date(review.atMs).toLocaleDateString()}`;
  const permission = review.permission ? `; the permission was ${review.permission}` : '';
  return `${version ? `Version ${version}` : 'Another version'}${day}${permission}`;
}

export function splitLines(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

export function mapToolDescriptions(
  inspection: PluginInspectResult | undefined,
): ReadonlyMap<string, InspectedToolView> {
  return new Map((inspection?.tools ?? []).map((tool) => [tool.name, tool]));
}

/**
 * ToolDrafts maps the name of a tool to the permission that the user has chosen in a review; "" means the default.
 */
export type ToolDrafts = ReadonlyMap<string, Permission | ''>;

/** An unchanged "auto" is not listed, because the server resets "auto" when the plugin's content changes. */
export function listChangedPermissions(tools: readonly ToolView[], drafts: ToolDrafts): ToolPermission[] {
  return tools.flatMap((tool): ToolPermission[] => {
    const draft = drafts.get(tool.name);
    if (draft === undefined || draft === choosePermissionAfterReview(tool)) return [];
    return [{ tool: tool.name, ...(draft === '' ? {} : { permission: draft }) }];
  });
}

export function choosePermissionAfterReview({ permission }: ToolView): Permission | '' {
  return permission === undefined || permission === 'auto' ? '' : permission;
}

export function describeInstallation(installed: PluginInstallResult): string {
  const { plugin, version, previousVersion, registry, warnings = [] } = installed;
  const name = `${removeHiddenCharacters(plugin)} ${removeHiddenCharacters(version)}`;
  const source = registry === undefined ? '' : ` from ${removeHiddenCharacters(registry)}`;
  const result =
    previousVersion === undefined
      ? `Installed ${name}${source}.`
      : `Replaced version ${removeHiddenCharacters(previousVersion)} by ${name}${source}.`;
  return [result, ...warnings.map((warning) => `Warning: ${removeHiddenCharacters(warning)}`)].join('\n');
}

export function describeUpdate(updated: PluginUpdateResult): string {
  const { version, previousVersion, latestVersion, warnings = [] } = updated;
  const result =
    previousVersion === undefined
      ? `Version ${removeHiddenCharacters(version)} is the newest in its range.`
      : `Updated from ${removeHiddenCharacters(previousVersion)} to ${removeHiddenCharacters(version)}. Review the new version.`;
  const latest =
    latestVersion === undefined ? [] : [`Version ${removeHiddenCharacters(latestVersion)} is outside of its range.`];
  return [result, ...latest, ...warnings.map((warning) => `Warning: ${removeHiddenCharacters(warning)}`)].join('\n');
}
