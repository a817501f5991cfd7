import type { ManifestPrompt } from '../manifest.ts';
import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import {
  type JsonSchema,
  type Report,
  readDescription,
  readLimits,
  readName,
  readParameters,
  readText,
  titleCase,
} from './definition.ts';

/** Reads the optional prompts of a plugin. `seen` contains the names of its tools. */
export function readPrompts(prompts: unknown, seen: Set<string>, problems: string[]): ManifestPrompt[] {
  if (prompts === undefined) return [];
  if (!Array.isArray(prompts)) {
    problems.push('the prompts are not an array; write `prompts: [definePrompt({...})]`');
    return [];
  }
  return prompts.flatMap((prompt: unknown, index) => {
    const label =
      isBag(prompt) && typeof prompt.name === 'string' && prompt.name ? `prompt ${prompt.name}` : `prompts[${index}]`;
    const report = (problem: string) => problems.push(`${label}: ${problem}`);
    if (!isBag(prompt)) {
      report('it is not a prompt; make it with definePrompt({...})');
      return [];
    }
    return readPrompt(prompt, readName(prompt, seen, report), report) ?? [];
  });
}

function readPrompt(prompt: Bag, name: string, report: Report): ManifestPrompt | undefined {
  const displayName = readText(prompt, 'displayName', report) ?? titleCase(name);
  const description = readDescription(prompt, report);
  const limits = readLimits(prompt, report);
  if (!isMethod(prompt.render)) report('it has no render; add `render(args, context) {...}`');
  const listed = readArguments(prompt.arguments, report);
  const input_schema = prompt.args === undefined ? schemaOf(listed) : readParameters(prompt, 'args', report);
  if (!input_schema) return undefined;
  if (prompt.args !== undefined) describeBy(listed, input_schema, report);
  return { name, displayName, ...(description && { description }), ...(limits && { limits }), input_schema };
}

interface Argument {
  name: string;
  description?: string;
  required: boolean;
}

/** Reads the list of arguments of a prompt. */
function readArguments(list: unknown, report: Report): Argument[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    report('its arguments are not an array; write `arguments: [{ name, description, required }]`, or give it `args`');
    return [];
  }
  const read: Argument[] = [];
  list.forEach((one: unknown, index) => {
    if (!isBag(one) || typeof one.name !== 'string' || one.name === '') {
      report(`arguments[${index}] has no name; write \`{ name: 'topic' }\``);
      return;
    }
    if (read.some(({ name }) => name === one.name))
      report(`two arguments have the name ${one.name}; rename one of them`);
    const description = readText(one, 'description', (problem) => report(`argument ${one.name}: ${problem}`));
    read.push({ name: one.name, ...(description && { description }), required: one.required === true });
  });
  return read;
}

/** Returns the schema of listed arguments, which are all texts. */
function schemaOf(list: readonly Argument[]): JsonSchema {
  const required = list.filter((one) => one.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      list.map(({ name, description }) => [name, { type: 'string', ...(description && { description }) }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Adds the descriptions of the list to arguments of the schema that have none. */
function describeBy(list: readonly Argument[], schema: JsonSchema, report: Report): void {
  const properties = isBag(schema.properties) ? schema.properties : {};
  for (const { name, description } of list) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isBag(property)) report(`args has no ${name}, but arguments lists it; add it there or take it out here`);
    else if (description !== undefined) property.description ??= description;
  }
}
