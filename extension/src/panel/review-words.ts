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

export function describePluginSource(pluginSource: PluginSource): string {
  switch (pluginSource) {
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
  readonly featureMeaning: string;
}

/**
 * ownFeatures contains the features that the author's code or the pre-script mentions, and libraryNames those that only
 * libraries mention.
 */
export function groupFeatures(powerViews: readonly PowerView[]): { ownFeatures: FeatureGroup[]; libraryNames: string } {
  const isUsedByOwnCode = (powerView: PowerView) =>
    (powerView.sections ?? []).some((section) => section !== 'libraries');
  const names = new Map<string, string[]>();
  for (const { name, meaning } of powerViews.filter(isUsedByOwnCode)) {
    const featureGroup = names.get(meaning);
    if (featureGroup) featureGroup.push(name);
    else names.set(meaning, [name]);
  }
  return {
    ownFeatures: [...names].map(([meaning, featureGroup]) => ({
      names: featureGroup.join(', '),
      featureMeaning: meaning,
    })),
    libraryNames: powerViews
      .filter((powerView) => !isUsedByOwnCode(powerView))
      .map((powerView) => powerView.name)
      .join(', '),
  };
}

/**
 * describeToolCounts describes how many of a plugin's tools only read and how many can change data, as declared by the
 * author.
 */
export function describeToolCounts(tools: readonly ToolView[]): string {
  const readToolCount = tools.filter((tool) => tool.readOnly).length;
  const writeToolCount = tools.length - readToolCount;
  const toolCountText = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
  if (readToolCount === 0 || writeToolCount === 0)
    return `${toolCountText}, ${readToolCount === 0 ? 'may write' : 'read-only'}`;
  return `${toolCountText}: ${readToolCount} read-only, ${writeToolCount} may write`;
}

export function makeSectionTitle(
  { name, lines: lineCount, added: addedLines, removed: removedLines }: SectionView,
  lastReview?: LastReviewView,
): string {
  const sizeText = lineCount === 1 ? '1 line' : `${lineCount.toLocaleString('en')} lines`;
  switch (name) {
    case 'changes': {
      const version = removeHiddenCharacters(lastReview?.version ?? '');
      return `Changes since ${version ? `version ${version}` : 'your last review'}: +${addedLines ?? 0} −${removedLines ?? 0} lines`;
    }
    case 'pre-script':
      return `Pre-script, ${sizeText}`;
    case 'libraries':
      return `Library code, ${sizeText}`;
    default:
      return `Author’s code, ${sizeText}`;
  }
}

export function describeLastReview(lastReview: LastReviewView): string {
  const version = removeHiddenCharacters(lastReview.version ?? '');
  const day = lastReview.atMs === undefined ? '' : ` on ${new Date(lastReview.atMs).toLocaleDateString()}`;
  const permission = lastReview.permission ? `; the permission was ${lastReview.permission}` : '';
  return `${version ? `Version ${version}` : 'Another version'}${day}${permission}`;
}

export function splitLines(sectionText: string): string[] {
  return sectionText.replace(/\n$/, '').split('\n');
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
export function listChangedPermissions(tools: readonly ToolView[], toolDrafts: ToolDrafts): ToolPermission[] {
  return tools.flatMap((tool): ToolPermission[] => {
    const draft = toolDrafts.get(tool.name);
    if (draft === undefined || draft === choosePermissionAfterReview(tool)) return [];
    return [{ tool: tool.name, ...(draft === '' ? {} : { permission: draft }) }];
  });
}

export function choosePermissionAfterReview({ permission }: ToolView): Permission | '' {
  return permission === undefined || permission === 'auto' ? '' : permission;
}

export function describeInstallation(installResult: PluginInstallResult): string {
  const { plugin, version, previousVersion, registry, warnings: installWarnings = [] } = installResult;
  const name = `${removeHiddenCharacters(plugin)} ${removeHiddenCharacters(version)}`;
  const registryText = registry === undefined ? '' : ` from ${removeHiddenCharacters(registry)}`;
  const resultText =
    previousVersion === undefined
      ? `Installed ${name}${registryText}.`
      : `Replaced version ${removeHiddenCharacters(previousVersion)} with ${name}${registryText}.`;
  return [resultText, ...installWarnings.map((warning) => `Warning: ${removeHiddenCharacters(warning)}`)].join('\n');
}

export function describeUpdate(updateResult: PluginUpdateResult): string {
  const { version, previousVersion, latestVersion, warnings: installWarnings = [] } = updateResult;
  const resultText =
    previousVersion === undefined
      ? `Version ${removeHiddenCharacters(version)} is the newest in its range.`
      : `Updated from ${removeHiddenCharacters(previousVersion)} to ${removeHiddenCharacters(version)}. Review the new version.`;
  const latestVersionText =
    latestVersion === undefined ? [] : [`Version ${removeHiddenCharacters(latestVersion)} is outside of its range.`];
  return [
    resultText,
    ...latestVersionText,
    ...installWarnings.map((warning) => `Warning: ${removeHiddenCharacters(warning)}`),
  ].join('\n');
}
