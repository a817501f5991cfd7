import type { ManifestPrompt } from '../manifest.ts';
import { type Bag, isBag, isMethod } from '../runtime/value.ts';
import {
  type JsonSchema,
  readDescription,
  readLimits,
  readName,
  readParameters,
  readText,
  type Say,
  titleCase,
} from './definition.ts';

/** Reads a plugin's prompts, which may be absent; `seen` are the names of its tools. */
export function readPrompts(prompts: unknown, seen: Set<string>, problems: string[]): ManifestPrompt[] {
  if (prompts === undefined) return [];
  if (!Array.isArray(prompts)) {
    problems.push('the prompts are not an array; write `prompts: [definePrompt({...})]`');
    return [];
  }
  return prompts.flatMap((prompt: unknown, index) => {
    const label =
      isBag(prompt) && typeof prompt.name === 'string' && prompt.name ? `prompt ${prompt.name}` : `prompts[${index}]`;
    const say = (problem: string) => problems.push(`${label}: ${problem}`);
    if (!isBag(prompt)) {
      say('it is not a prompt; make it with definePrompt({...})');
      return [];
    }
    return readPrompt(prompt, readName(prompt, seen, say), say) ?? [];
  });
}

function readPrompt(prompt: Bag, name: string, say: Say): ManifestPrompt | undefined {
  const displayName = readText(prompt, 'displayName', say) ?? titleCase(name);
  const description = readDescription(prompt, say);
  const limits = readLimits(prompt, say);
  if (!isMethod(prompt.render)) say('it has no render; add `render(args, context) {...}`');
  const listed = readArguments(prompt.arguments, say);
  const input_schema = prompt.args === undefined ? schemaOf(listed) : readParameters(prompt, 'args', say);
  if (!input_schema) return undefined;
  if (prompt.args !== undefined) describeBy(listed, input_schema, say);
  return { name, displayName, ...(description && { description }), ...(limits && { limits }), input_schema };
}

interface Argument {
  name: string;
  description?: string;
  required: boolean;
}

/** Reads the list of arguments that a prompt may have in place of a schema. */
function readArguments(list: unknown, say: Say): Argument[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    say('its arguments are not an array; write `arguments: [{ name, description, required }]`, or give it `args`');
    return [];
  }
  const read: Argument[] = [];
  list.forEach((one: unknown, index) => {
    if (!isBag(one) || typeof one.name !== 'string' || one.name === '') {
      say(`arguments[${index}] has no name; write \`{ name: 'topic' }\``);
      return;
    }
    if (read.some(({ name }) => name === one.name)) say(`two arguments have the name ${one.name}; rename one of them`);
    const description = readText(one, 'description', (problem) => say(`argument ${one.name}: ${problem}`));
    read.push({ name: one.name, ...(description && { description }), required: one.required === true });
  });
  return read;
}

/** Returns the schema of arguments that are texts. */
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

/** Adds to a schema what only the list says of an argument. */
function describeBy(list: readonly Argument[], schema: JsonSchema, say: Say): void {
  const properties = isBag(schema.properties) ? schema.properties : {};
  for (const { name, description } of list) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isBag(property)) say(`args has no ${name}, but arguments lists it; add it there or take it out here`);
    else if (description !== undefined) property.description ??= description;
  }
}
