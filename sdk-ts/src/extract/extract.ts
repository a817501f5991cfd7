import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import { convert, isSchema } from './schema.ts';

// Runs where the plugin is built, not in a page: reads what a plugin says of itself.

/** One tool as dist/tools.json has it. */
export interface ExtractedTool {
  name: string;
  displayName: string;
  description: string;
  summary?: string;
  icon: string;
  group?: string;
  annotations?: Record<string, boolean>;
  input_schema: Record<string, unknown>;
  output_schema: Record<string, unknown>;
}

export interface Extracted {
  tools: ExtractedTool[];
  configSchema?: Bag;
  /** What the plugin says of itself; to be compared with package.json. */
  described: Record<string, unknown>;
  /** All that is wrong, one sentence each. */
  problems: string[];
}

const toolName = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const iconName = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const maxDescriptionChars = 1000;
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Reads a module's default export. It never throws for what the plugin is, it tells the problems. */
export function extract(exported: unknown): Extracted {
  const result: Extracted = { tools: [], described: {}, problems: [] };
  const plugin = pluginOf(exported, result.problems);
  if (!plugin) return result;
  for (const key of ['displayName', 'description', 'urlPatterns', 'excludePatterns', 'homepage']) {
    const value = plugin[key];
    if (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
      result.described[key] = value;
  }
  if (isBag(plugin.configSchema)) result.configSchema = plugin.configSchema;
  readTools(plugin.tools, result);
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

function readTools(tools: unknown, result: Extracted): void {
  if (!Array.isArray(tools) || tools.length === 0) {
    result.problems.push('the plugin has no tools; give it at least one: `tools: [defineTool({...})]`');
    return;
  }
  const seen = new Set<string>();
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

type Say = (problem: string) => void;

function readName(tool: Bag, seen: Set<string>, say: Say): string {
  const { name } = tool;
  if (typeof name !== 'string' || !toolName.test(name)) {
    say(
      'its name must be snake_case, such as send_message: lower-case letters and digits, words joined by single underscores',
    );
    return '';
  }
  if (seen.has(name)) say('another tool has this name; rename one of them');
  seen.add(name);
  return name;
}

function readTool(tool: Bag, name: string, say: Say): ExtractedTool | undefined {
  const description = readDescription(tool.description, say);
  const displayName = readText(tool, 'displayName', say) ?? titleCase(name);
  const icon = readText(tool, 'icon', say) ?? 'wrench';
  if (!iconName.test(icon))
    say(`icon "${icon}" is not the name of a Lucide icon; use one such as list-checks (lucide.dev/icons)`);
  const summary = readText(tool, 'summary', say);
  const group = readText(tool, 'group', say);
  const annotations = readAnnotations(tool.annotations, say);
  if (!isMethod(tool.handle)) say('it has no handle; add `async handle(params, context) {...}`');
  const input_schema = readInput(tool.input, say);
  const output_schema = readSchema(tool.output, 'output', say);
  if (!input_schema || !output_schema) return undefined;
  return {
    name,
    displayName,
    description,
    ...(summary !== undefined && { summary }),
    icon,
    ...(group !== undefined && { group }),
    ...(annotations && { annotations }),
    input_schema,
    output_schema,
  };
}

function readDescription(description: unknown, say: Say): string {
  if (typeof description !== 'string' || description.trim() === '') {
    say('it has no description; say in a sentence what it does, because an agent chooses tools by that');
    return '';
  }
  if (description.length > maxDescriptionChars) {
    say(`its description has ${description.length} characters; shorten it to ${maxDescriptionChars}`);
  }
  return description;
}

function readText(tool: Bag, key: string, say: Say): string | undefined {
  const value = tool[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.trim() !== '') return value;
  say(`its ${key} must be a text that is not empty; remove it or fill it in`);
  return undefined;
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

function readInput(input: unknown, say: Say): Record<string, unknown> | undefined {
  const schema = readSchema(input, 'input', say);
  if (schema && schema.type !== 'object') {
    say(
      'its input must be a z.object({...}), because MCP passes named parameters; put what you have in a field of one',
    );
    return undefined;
  }
  return schema;
}

function readSchema(schema: unknown, side: 'input' | 'output', say: Say): Record<string, unknown> | undefined {
  if (!isSchema(schema)) {
    const example = side === 'input' ? '`z.object({})` if it takes nothing' : '`z.object({...})`';
    say(`its ${side} is not a schema of zod 4; write ${example}`);
    return undefined;
  }
  const { schema: json, problems } = convert(schema, side);
  for (const problem of problems) say(problem);
  return json;
}

/** Turns send_message into Send Message. */
function titleCase(name: string): string {
  return name.replace(
    /(^|_)([a-z0-9])/g,
    (_, before: string, first: string) => (before ? ' ' : '') + first.toUpperCase(),
  );
}
