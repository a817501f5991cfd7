import { hasProperties, type Properties } from '../runtime/value.ts';
import { convertSchema, isSchema } from './schema.ts';

// Reads the fields that the definitions of tools and prompts have in common, such as name and description.

export type JsonSchema = Record<string, unknown>;

const definitionName = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const maxDescriptionChars = 1000;

export type ReportProblem = (problem: string) => void;

export function readName(toolDefinition: Properties, usedNames: Set<string>, report: ReportProblem): string {
  const { name } = toolDefinition;
  if (typeof name !== 'string' || !definitionName.test(name)) {
    report(
      'its name must be snake_case, such as send_message: lower-case letters and digits, words joined by single underscores',
    );
    return '';
  }
  if (usedNames.has(name)) report('another tool or prompt has this name; rename one of them');
  usedNames.add(name);
  return name;
}

export function readDescription(
  toolDefinition: Properties,
  report: ReportProblem,
  missingDescriptionProblem?: string,
): string {
  const { description } = toolDefinition;
  if (missingDescriptionProblem === undefined && description === undefined) return '';
  if (typeof description !== 'string' || description.trim() === '') {
    report(missingDescriptionProblem ?? 'its description must be a text that is not empty; remove it or fill it in');
    return '';
  }
  if (description.length > maxDescriptionChars) {
    report(`its description has ${description.length} characters; shorten it to ${maxDescriptionChars}`);
  }
  return description;
}

export function readText(toolDefinition: Properties, key: string, report: ReportProblem): string | undefined {
  const value = toolDefinition[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.trim() !== '') return value;
  report(`its ${key} must be a text that is not empty; remove it or fill it in`);
  return undefined;
}

const [minTimeoutMs, maxTimeoutMs] = [1000, 300_000];
const limitNames = ['idleTimeoutMs', 'hardTimeoutMs'] as const;

export function readLimits(toolDefinition: Properties, report: ReportProblem): Record<string, number> | undefined {
  const { limits: callLimits } = toolDefinition;
  if (callLimits === undefined) return undefined;
  const knownKeys: ReadonlySet<string> = new Set(limitNames);
  const validLimits: Record<string, number> = {};
  for (const [key, value] of Object.entries(hasProperties(callLimits) ? callLimits : { limits: callLimits })) {
    if (value === undefined) continue;
    const isValidTimeout = Number.isInteger(value) && Number(value) >= minTimeoutMs && Number(value) <= maxTimeoutMs;
    if (knownKeys.has(key) && isValidTimeout) validLimits[key] = Number(value);
    else
      report(
        `limits.${key} is not known or not a whole number of milliseconds from ${minTimeoutMs} to ${maxTimeoutMs}; use ${limitNames.join(', ')}`,
      );
  }
  return Object.keys(validLimits).length > 0 ? validLimits : undefined;
}

export function readSchema(
  toolDefinition: Properties,
  key: 'input' | 'output' | 'args',
  report: ReportProblem,
): JsonSchema | undefined {
  const schema = toolDefinition[key];
  if (!isSchema(schema)) {
    const example = key === 'output' ? '`z.object({...})`' : '`z.object({})` if it takes nothing';
    report(`its ${key} is not a schema of zod 4; write ${example}`);
    return undefined;
  }
  const side = key === 'output' ? 'output' : 'input';
  const { schema: json, problems } = convertSchema(schema, side);
  for (const problem of problems) report(problem.replace(side, key));
  return json;
}

export function readParameters(
  toolDefinition: Properties,
  key: 'input' | 'args',
  report: ReportProblem,
): JsonSchema | undefined {
  const schema = readSchema(toolDefinition, key, report);
  if (!schema || schema.type === 'object') return schema;
  report(
    `its ${key} must be a z.object({...}), because MCP passes named parameters; make the schema a field of an object`,
  );
  return undefined;
}

export function toTitleCase(name: string): string {
  return name.replace(
    /(^|_)([a-z0-9])/g,
    (_, separator: string, letter: string) => (separator ? ' ' : '') + letter.toUpperCase(),
  );
}
