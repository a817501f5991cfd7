import { LUCIDE_ICON_NAMES } from '../lucide-icon-names.gen.ts';
import type { ManifestPrompt, ManifestTool } from '../manifest.ts';
import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import {
  type ReportProblem,
  readDescription,
  readLimits,
  readName,
  readParameters,
  readSchema,
  readText,
  toTitleCase,
} from './definition.ts';
import { readPrompts } from './prompts.ts';
import { checkUndos, readUndo } from './undo.ts';

// The extraction of tools and prompts runs in `opentabs plugin build`, never in a page.

export interface ExtractionResult {
  tools: ManifestTool[];
  prompts: ManifestPrompt[];
  configSchema?: Properties;
  described: Record<string, unknown>;
  problems: string[];
}

const annotationKeys = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** The function `extract` returns the mistakes of an invalid plugin instead of throwing. */
export function extract(exported: unknown): ExtractionResult {
  const result: ExtractionResult = { tools: [], prompts: [], described: {}, problems: [] };
  const plugin = readPlugin(exported, result.problems);
  if (!plugin) return result;
  for (const key of ['displayName', 'description', 'urlPatterns', 'excludePatterns', 'homepage']) {
    const value = plugin[key];
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
      result.described[key] = value;
  }
  if (hasProperties(plugin.configSchema)) result.configSchema = plugin.configSchema;
  else if (plugin.configSchema !== undefined) {
    result.problems.push(
      "configSchema is not an object; write `configSchema: { key: { type: 'string', label: 'Key' } }`",
    );
  }
  if (Array.isArray(plugin.resources) && plugin.resources.length > 0) {
    result.problems.push(
      'plugins have no resources; turn each resource into a tool whose handle returns the result of read',
    );
  }
  const usedNames = new Set<string>();
  readTools(plugin.tools, usedNames, result);
  result.prompts = readPrompts(plugin.prompts, usedNames, result.problems);
  return result;
}

const howToExport =
  'write `export default definePlugin({...})`, or export an instance of a class that extends OpenTabsPlugin';

function readPlugin(exported: unknown, problems: string[]): Properties | undefined {
  if (exported === undefined) {
    problems.push(`the module has no default export; ${howToExport}`);
  } else if (isMethod(exported)) {
    problems.push(
      `the default export is a class or a function; export an instance: \`export default new ${exported.name || 'MyPlugin'}()\``,
    );
  } else if (!hasProperties(exported) || exported instanceof Promise) {
    problems.push(`the default export is not a plugin; ${howToExport}`);
  } else if (!isMethod(exported.isReady)) {
    problems.push(
      `the plugin has no method isReady; add \`isReady() { return true }\` or a check that the user is logged in`,
    );
    return exported;
  } else if (!Object.isExtensible(exported)) {
    problems.push('the plugin is frozen; remove Object.freeze, because the build freezes plugins');
  } else {
    return exported;
  }
  return undefined;
}

function readTools(tools: unknown, usedNames: Set<string>, result: ExtractionResult): void {
  if (!Array.isArray(tools) || tools.length === 0) {
    result.problems.push('the plugin has no tools; give it at least one: `tools: [defineTool({...})]`');
    return;
  }
  tools.forEach((tool: unknown, index) => {
    const label =
      hasProperties(tool) && typeof tool.name === 'string' && tool.name ? `tool ${tool.name}` : `tools[${index}]`;
    const report = (problem: string) => result.problems.push(`${label}: ${problem}`);
    if (!hasProperties(tool)) {
      report('it is not a tool; make it with defineTool({...})');
      return;
    }
    const name = readName(tool, usedNames, report);
    const manifestTool = readTool(tool, name, report);
    if (manifestTool) result.tools.push(manifestTool);
  });
  checkUndos(result.tools, usedNames, result.problems);
}

function readTool(tool: Properties, name: string, report: ReportProblem): ManifestTool | undefined {
  const missingProblem =
    'it has no description; describe in one sentence what it does, because agents choose tools by their descriptions';
  const description = readDescription(tool, report, missingProblem);
  const displayName = readText(tool, 'displayName', report) ?? toTitleCase(name);
  const icon = readText(tool, 'icon', report) ?? 'wrench';
  if (!LUCIDE_ICON_NAMES.has(icon))
    report(`icon "${icon}" is not the name of a Lucide icon; use one such as list-checks (lucide.dev/icons)`);
  const summary = readText(tool, 'summary', report);
  const group = readText(tool, 'group', report);
  const annotations = readAnnotations(tool.annotations, report);
  const limits = readLimits(tool, report);
  const undo = readUndo(tool, report);
  if (!isMethod(tool.handle)) report('it has no handle; add `async handle(params, context) {...}`');
  const input_schema = readParameters(tool, 'input', report);
  const output_schema = readSchema(tool, 'output', report);
  if (!input_schema || !output_schema) return undefined;
  return {
    name,
    displayName,
    description,
    ...(summary !== undefined && { summary }),
    icon,
    ...(group !== undefined && { group }),
    ...(annotations && { annotations }),
    ...(limits && { limits }),
    ...(undo && { undo }),
    input_schema,
    output_schema,
  };
}

function readAnnotations(annotations: unknown, report: ReportProblem): Record<string, boolean> | undefined {
  if (annotations === undefined) return undefined;
  const knownKeys: ReadonlySet<string> = new Set(annotationKeys);
  const validAnnotations: Record<string, boolean> = {};
  for (const [key, value] of Object.entries(hasProperties(annotations) ? annotations : { annotations })) {
    if (value === undefined) continue;
    if (knownKeys.has(key) && typeof value === 'boolean') validAnnotations[key] = value;
    else report(`annotations.${key} is not known or not true or false; use ${annotationKeys.join(', ')}`);
  }
  return validAnnotations;
}
