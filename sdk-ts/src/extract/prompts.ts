import type { ManifestPrompt } from '../manifest.ts';
import { hasProperties, isMethod, type Properties } from '../runtime/value.ts';
import {
  type JsonSchema,
  type ReportProblem,
  readDescription,
  readLimits,
  readName,
  readParameters,
  readText,
  toTitleCase,
} from './definition.ts';

/** No prompt can have the name of a tool; `usedNames` contains the names of the tools. */
export function readPrompts(prompts: unknown, usedNames: Set<string>, extractionProblems: string[]): ManifestPrompt[] {
  if (prompts === undefined) return [];
  if (!Array.isArray(prompts)) {
    extractionProblems.push('the prompts are not an array; write `prompts: [definePrompt({...})]`');
    return [];
  }
  return prompts.flatMap((prompt: unknown, index) => {
    const label =
      hasProperties(prompt) && typeof prompt.name === 'string' && prompt.name
        ? `prompt ${prompt.name}`
        : `prompts[${index}]`;
    const report = (problem: string) => extractionProblems.push(`${label}: ${problem}`);
    if (!hasProperties(prompt)) {
      report('it is not a prompt; make it with definePrompt({...})');
      return [];
    }
    return readPrompt(prompt, readName(prompt, usedNames, report), report) ?? [];
  });
}

function readPrompt(prompt: Properties, name: string, report: ReportProblem): ManifestPrompt | undefined {
  const displayName = readText(prompt, 'displayName', report) ?? toTitleCase(name);
  const description = readDescription(prompt, report);
  const limits = readLimits(prompt, report);
  if (!isMethod(prompt.render)) report('it has no render; add `render(args, context) {...}`');
  const listedArguments = readArguments(prompt.arguments, report);
  const input_schema =
    prompt.args === undefined ? makeArgumentsSchema(listedArguments) : readParameters(prompt, 'args', report);
  if (!input_schema) return undefined;
  if (prompt.args !== undefined) addDescriptions(listedArguments, input_schema, report);
  return { name, displayName, ...(description && { description }), ...(limits && { limits }), input_schema };
}

interface Argument {
  name: string;
  description?: string;
  required: boolean;
}

function readArguments(list: unknown, report: ReportProblem): Argument[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    report('its arguments are not an array; write `arguments: [{ name, description, required }]`, or give it `args`');
    return [];
  }
  const promptArguments: Argument[] = [];
  list.forEach((argument: unknown, index) => {
    if (!hasProperties(argument) || typeof argument.name !== 'string' || argument.name === '') {
      report(`arguments[${index}] has no name; write \`{ name: 'topic' }\``);
      return;
    }
    if (promptArguments.some(({ name }) => name === argument.name))
      report(`two arguments have the name ${argument.name}; rename one of them`);
    const description = readText(argument, 'description', (problem) => report(`argument ${argument.name}: ${problem}`));
    promptArguments.push({
      name: argument.name,
      ...(description && { description }),
      required: argument.required === true,
    });
  });
  return promptArguments;
}

function makeArgumentsSchema(list: readonly Argument[]): JsonSchema {
  const required = list.filter((argument) => argument.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      list.map(({ name, description }) => [name, { type: 'string', ...(description && { description }) }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function addDescriptions(list: readonly Argument[], schema: JsonSchema, report: ReportProblem): void {
  const properties = hasProperties(schema.properties) ? schema.properties : {};
  for (const { name, description } of list) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!hasProperties(property))
      report(`args has no ${name}, but arguments lists it; add it to args or remove it from arguments`);
    else if (description !== undefined) property.description ??= description;
  }
}
