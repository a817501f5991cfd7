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

const annotationFieldNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** extract returns the mistakes of an invalid plugin instead of throwing. */
export function extract(moduleExport: unknown): ExtractionResult {
  const extraction: ExtractionResult = { tools: [], prompts: [], described: {}, problems: [] };
  const plugin = readPlugin(moduleExport, extraction.problems);
  if (!plugin) return extraction;
  for (const key of ['displayName', 'description', 'urlPatterns', 'excludePatterns', 'homepage']) {
    const value = plugin[key];
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
      extraction.described[key] = value;
  }
  if (hasProperties(plugin.configSchema)) extraction.configSchema = plugin.configSchema;
  else if (plugin.configSchema !== undefined) {
    extraction.problems.push(
      "configSchema is not an object; write `configSchema: { key: { type: 'string', label: 'Key' } }`",
    );
  }
  if (Array.isArray(plugin.resources) && plugin.resources.length > 0) {
    extraction.problems.push(
      'plugins have no resources; turn each resource into a tool whose handle returns the result of read',
    );
  }
  const usedNames = new Set<string>();
  readTools(plugin.tools, usedNames, extraction);
  extraction.prompts = readPrompts(plugin.prompts, usedNames, extraction.problems);
  return extraction;
}

const exportHint =
  'write `export default definePlugin({...})`, or export an instance of a class that extends OpenTabsPlugin';

function readPlugin(moduleExport: unknown, extractionProblems: string[]): Properties | undefined {
  if (moduleExport === undefined) {
    extractionProblems.push(`the module has no default export; ${exportHint}`);
  } else if (isMethod(moduleExport)) {
    extractionProblems.push(
      `the default export is a class or a function; export an instance: \`export default new ${moduleExport.name || 'MyPlugin'}()\``,
    );
  } else if (!hasProperties(moduleExport) || moduleExport instanceof Promise) {
    extractionProblems.push(`the default export is not a plugin; ${exportHint}`);
  } else if (!isMethod(moduleExport.isReady)) {
    extractionProblems.push(
      `the plugin has no method isReady; add \`isReady() { return true }\` or a check that the user is logged in`,
    );
    return moduleExport;
  } else if (!Object.isExtensible(moduleExport)) {
    extractionProblems.push('the plugin is frozen; remove Object.freeze, because the build freezes plugins');
  } else {
    return moduleExport;
  }
  return undefined;
}

function readTools(tools: unknown, usedNames: Set<string>, extraction: ExtractionResult): void {
  if (!Array.isArray(tools) || tools.length === 0) {
    extraction.problems.push('the plugin has no tools; give it at least one: `tools: [defineTool({...})]`');
    return;
  }
  tools.forEach((tool: unknown, index) => {
    const label =
      hasProperties(tool) && typeof tool.name === 'string' && tool.name ? `tool ${tool.name}` : `tools[${index}]`;
    const report = (problem: string) => extraction.problems.push(`${label}: ${problem}`);
    if (!hasProperties(tool)) {
      report('it is not a tool; make it with defineTool({...})');
      return;
    }
    const name = readName(tool, usedNames, report);
    const manifestTool = readTool(tool, name, report);
    if (manifestTool) extraction.tools.push(manifestTool);
  });
  checkUndos(extraction.tools, usedNames, extraction.problems);
}

function readTool(tool: Properties, name: string, report: ReportProblem): ManifestTool | undefined {
  const missingDescriptionProblem =
    'it has no description; describe in one sentence what it does, because agents choose tools by their descriptions';
  const description = readDescription(tool, report, missingDescriptionProblem);
  const displayName = readText(tool, 'displayName', report) ?? toTitleCase(name);
  const icon = readText(tool, 'icon', report) ?? 'wrench';
  if (!LUCIDE_ICON_NAMES.has(icon))
    report(`icon "${icon}" is not the name of a Lucide icon; use one such as list-checks (lucide.dev/icons)`);
  const toolSummary = readText(tool, 'summary', report);
  const toolGroup = readText(tool, 'group', report);
  const annotations = readAnnotations(tool.annotations, report);
  const callLimits = readLimits(tool, report);
  const toolUndo = readUndo(tool, report);
  if (!isMethod(tool.handle)) report('it has no handle; add `async handle(params, context) {...}`');
  const input_schema = readParameters(tool, 'input', report);
  const output_schema = readSchema(tool, 'output', report);
  if (!input_schema || !output_schema) return undefined;
  return {
    name,
    displayName,
    description,
    ...(toolSummary !== undefined && { summary: toolSummary }),
    icon,
    ...(toolGroup !== undefined && { group: toolGroup }),
    ...(annotations && { annotations }),
    ...(callLimits && { limits: callLimits }),
    ...(toolUndo && { undo: toolUndo }),
    input_schema,
    output_schema,
  };
}

function readAnnotations(annotations: unknown, report: ReportProblem): Record<string, boolean> | undefined {
  if (annotations === undefined) return undefined;
  const knownKeys: ReadonlySet<string> = new Set(annotationFieldNames);
  const validAnnotations: Record<string, boolean> = {};
  for (const [key, value] of Object.entries(hasProperties(annotations) ? annotations : { annotations })) {
    if (value === undefined) continue;
    if (knownKeys.has(key) && typeof value === 'boolean') validAnnotations[key] = value;
    else report(`annotations.${key} is not known or not true or false; use ${annotationFieldNames.join(', ')}`);
  }
  return validAnnotations;
}
