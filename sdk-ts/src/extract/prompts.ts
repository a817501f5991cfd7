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
  const callLimits = readLimits(prompt, report);
  if (!isMethod(prompt.render)) report('it has no render; add `render(args, context) {...}`');
  const listedArguments = readArguments(prompt.arguments, report);
  const input_schema =
    prompt.args === undefined ? makeArgumentsSchema(listedArguments) : readParameters(prompt, 'args', report);
  if (!input_schema) return undefined;
  if (prompt.args !== undefined) addDescriptions(listedArguments, input_schema, report);
  return {
    name,
    displayName,
    ...(description && { description }),
    ...(callLimits && { limits: callLimits }),
    input_schema,
  };
}

interface ExtractedArgument {
  name: string;
  description?: string;
  required: boolean;
}

function readArguments(argumentList: unknown, report: ReportProblem): ExtractedArgument[] {
  if (argumentList === undefined) return [];
  if (!Array.isArray(argumentList)) {
    report('its arguments are not an array; write `arguments: [{ name, description, required }]`, or give it `args`');
    return [];
  }
  const promptArguments: ExtractedArgument[] = [];
  argumentList.forEach((promptArgument: unknown, index) => {
    if (!hasProperties(promptArgument) || typeof promptArgument.name !== 'string' || promptArgument.name === '') {
      report(`arguments[${index}] has no name; write \`{ name: 'topic' }\``);
      return;
    }
    if (promptArguments.some(({ name }) => name === promptArgument.name))
      report(`two arguments have the name ${promptArgument.name}; rename one of them`);
    const description = readText(promptArgument, 'description', (problem) =>
      report(`argument ${promptArgument.name}: ${problem}`),
    );
    promptArguments.push({
      name: promptArgument.name,
      ...(description && { description }),
      required: promptArgument.required === true,
    });
  });
  return promptArguments;
}

function makeArgumentsSchema(argumentList: readonly ExtractedArgument[]): JsonSchema {
  const requiredNames = argumentList.filter((promptArgument) => promptArgument.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      argumentList.map(({ name, description }) => [name, { type: 'string', ...(description && { description }) }]),
    ),
    ...(requiredNames.length > 0 && { required: requiredNames }),
    additionalProperties: false,
  };
}

function addDescriptions(argumentList: readonly ExtractedArgument[], schema: JsonSchema, report: ReportProblem): void {
  const properties = hasProperties(schema.properties) ? schema.properties : {};
  for (const { name, description } of argumentList) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!hasProperties(property))
      report(`args has no ${name}, but arguments lists it; add it to args or remove it from arguments`);
    else if (description !== undefined) property.description ??= description;
  }
}
