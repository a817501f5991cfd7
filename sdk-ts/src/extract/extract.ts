import { LUCIDE_ICON_NAMES } from '../lucide-icon-names.gen.ts';
import type { ManifestPrompt, ManifestTool } from '../manifest.ts';
import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import {
  readDescription,
  readLimits,
  readName,
  readParameters,
  readSchema,
  readText,
  type Say,
  titleCase,
} from './definition.ts';
import { readPrompts } from './prompts.ts';

// Runs where the plugin is built, not in a page: reads what a plugin says of itself.

export interface Extracted {
  tools: ManifestTool[];
  prompts: ManifestPrompt[];
  configSchema?: Bag;
  /** What the plugin says of itself; to be compared with package.json. */
  described: Record<string, unknown>;
  /** All that is wrong, one sentence each. */
  problems: string[];
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Reads a module's default export. It never throws for what the plugin is, it tells the problems. */
export function extract(exported: unknown): Extracted {
  const result: Extracted = { tools: [], prompts: [], described: {}, problems: [] };
  const plugin = pluginOf(exported, result.problems);
  if (!plugin) return result;
  for (const key of ['displayName', 'description', 'urlPatterns', 'excludePatterns', 'homepage']) {
    const value = plugin[key];
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
      result.described[key] = value;
  }
  if (isBag(plugin.configSchema)) result.configSchema = plugin.configSchema;
  else if (plugin.configSchema !== undefined) {
    result.problems.push(
      "configSchema is not an object; write `configSchema: { key: { type: 'string', label: 'Key' } }`",
    );
  }
  if (Array.isArray(plugin.resources) && plugin.resources.length > 0) {
    result.problems.push(
      'plugins have no resources, agents read what tools return; make each a tool, whose handle returns what read returned',
    );
  }
  const seen = new Set<string>();
  readTools(plugin.tools, seen, result);
  result.prompts = readPrompts(plugin.prompts, seen, result.problems);
  return result;
}

const howToExport =
  'write `export default definePlugin({...})`, or export an instance of a class that extends OpenTabsPlugin';

function pluginOf(exported: unknown, problems: string[]): Bag | undefined {
  if (exported === undefined) {
    problems.push(`the module has no default export; ${howToExport}`);
  } else if (isMethod(exported)) {
    problems.push(
      `the default export is a class or a function; export an instance: \`export default new ${exported.name || 'MyPlugin'}()\``,
    );
  } else if (!isBag(exported) || exported instanceof Promise) {
    problems.push(`the default export is not a plugin; ${howToExport}`);
  } else if (!isMethod(exported.isReady)) {
    problems.push(
      `the plugin has no method isReady; add \`isReady() { return true }\` or a check that the person is logged in`,
    );
    return exported;
  } else if (!Object.isExtensible(exported)) {
    problems.push('the plugin is frozen; leave that to the build');
  } else {
    return exported;
  }
  return undefined;
}

function readTools(tools: unknown, seen: Set<string>, result: Extracted): void {
  if (!Array.isArray(tools) || tools.length === 0) {
    result.problems.push('the plugin has no tools; give it at least one: `tools: [defineTool({...})]`');
    return;
  }
  tools.forEach((tool: unknown, index) => {
    const label = isBag(tool) && typeof tool.name === 'string' && tool.name ? `tool ${tool.name}` : `tools[${index}]`;
    const say = (problem: string) => result.problems.push(`${label}: ${problem}`);
    if (!isBag(tool)) {
      say('it is not a tool; make it with defineTool({...})');
      return;
    }
    const name = readName(tool, seen, say);
    const read = readTool(tool, name, say);
    if (read) result.tools.push(read);
  });
}

function readTool(tool: Bag, name: string, say: Say): ManifestTool | undefined {
  const missing = 'it has no description; say in a sentence what it does, because an agent chooses tools by that';
  const description = readDescription(tool, say, missing);
  const displayName = readText(tool, 'displayName', say) ?? titleCase(name);
  const icon = readText(tool, 'icon', say) ?? 'wrench';
  if (!LUCIDE_ICON_NAMES.has(icon))
    say(`icon "${icon}" is not the name of a Lucide icon; use one such as list-checks (lucide.dev/icons)`);
  const summary = readText(tool, 'summary', say);
  const group = readText(tool, 'group', say);
  const annotations = readAnnotations(tool.annotations, say);
  const limits = readLimits(tool, say);
  if (!isMethod(tool.handle)) say('it has no handle; add `async handle(params, context) {...}`');
  const input_schema = readParameters(tool, 'input', say);
  const output_schema = readSchema(tool, 'output', say);
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
    input_schema,
    output_schema,
  };
}

function readAnnotations(annotations: unknown, say: Say): Record<string, boolean> | undefined {
  if (annotations === undefined) return undefined;
  const known: ReadonlySet<string> = new Set(hints);
  const read: Record<string, boolean> = {};
  for (const [key, value] of Object.entries(isBag(annotations) ? annotations : { annotations })) {
    if (value === undefined) continue;
    if (known.has(key) && typeof value === 'boolean') read[key] = value;
    else say(`annotations.${key} is not known or not true or false; use ${hints.join(', ')}`);
  }
  return read;
}
