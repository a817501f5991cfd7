import { toJSONSchema, type z } from 'zod';
import { hasProperties, readMessage } from '../runtime/value.ts';

export interface ConversionResult {
  schema?: Record<string, unknown>;
  problems: string[];
}

type SchemaSide = 'input' | 'output';

/** Maps zod's name of a type that JSON cannot represent, such as `date`, to advice for the plugin's author. */
const replacementHints: Readonly<Record<string, string>> = {
  date: 'use z.iso.datetime(), or z.iso.date()',
  bigint: 'use z.string(), or z.int()',
  map: 'use z.record()',
  set: 'use z.array()',
  transform: 'describe what the handler returns and do the conversion in the handler',
  custom: 'use a type that JSON has, and .refine() for what it must fulfil',
  function: 'leave it out: a function cannot be sent',
  undefined: 'use .optional()',
  void: 'use z.object({})',
  nan: 'use z.number() or z.null()',
  symbol: 'use z.string() or z.enum()',
};

export function isSchema(value: unknown): value is z.ZodType {
  return hasProperties(value) && hasProperties(value._zod) && hasProperties(value._zod.def);
}

export function convertSchema(schema: z.ZodType, schemaSide: SchemaSide): ConversionResult {
  const schemaProblems: string[] = [];
  const addProblem = ({ zodSchema, path, message }: UnrepresentableType): 'any' => {
    const hint = replacementHints[zodSchema._zod.def.type] ?? 'use a type that JSON has';
    schemaProblems.push(`${schemaSide}${formatFieldPath(path)}: ${message}; ${hint}`);
    return 'any';
  };
  try {
    const jsonSchema = toJSONSchema(schema, {
      io: schemaSide,
      override: (node) => adjustSchemaNode(node, schemaSide),
      unrepresentable: addProblem,
    });
    if (schemaProblems.length > 0) return { problems: schemaProblems };
    // Some versions of zod accept every type if `unrepresentable` is a function. This second conversion, without the
    // option `unrepresentable`, throws for an unsupported type in every version of zod.
    toJSONSchema(schema, { io: schemaSide });
    const { $schema: _, ...json } = jsonSchema;
    return { schema: schemaSide === 'input' ? closeObjectSchemas(json) : json, problems: schemaProblems };
  } catch (error) {
    return { problems: [...schemaProblems, `${schemaSide}: ${readMessage(error)}`] };
  }
}

interface UnrepresentableType {
  zodSchema: { _zod: { def: { type: string } } };
  path: readonly (string | number)[];
  message: string;
}

function formatFieldPath(path: readonly (string | number)[]): string {
  let fieldPath = '';
  for (let i = 0; i < path.length; i++) {
    const step = path[i];
    if (step === 'properties') fieldPath += `.${path[++i]}`;
    else if (step === 'items' || step === 'prefixItems') fieldPath += '[]';
    else if (step === 'additionalProperties') fieldPath += '.*';
  }
  return fieldPath;
}

/** Strict MCP clients reject tools whose schemas have unknown string formats. */
const removedFormats: ReadonlySet<unknown> = new Set([
  'starts_with',
  'ends_with',
  'includes',
  'lowercase',
  'uppercase',
]);

/** A handler can return fields that its output schema does not list. */
function adjustSchemaNode(
  node: { zodSchema: unknown; jsonSchema: Record<string, unknown> },
  schemaSide: SchemaSide,
): void {
  if (removedFormats.has(node.jsonSchema.format)) delete node.jsonSchema.format;
  if (schemaSide !== 'output' || !isSchema(node.zodSchema)) return;
  const { def } = node.zodSchema._zod;
  const isOpen = def.type === 'intersection' || (def.type === 'object' && !('catchall' in def && def.catchall));
  if (isOpen) delete node.jsonSchema.additionalProperties;
}

/**
 * Zod drops unknown fields silently, so an agent would not notice that it misspelled an optional parameter. Object
 * schemas inside an `allOf` accept additional fields, because each of them describes only some of the fields.
 */
function closeObjectSchemas(json: Record<string, unknown>): Record<string, unknown> {
  const openObjectSchemas = new Set<unknown>();
  const visitNode = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const item of node) visitNode(item);
      return;
    }
    if (!hasProperties(node)) return;
    if (Array.isArray(node.allOf))
      for (const member of node.allOf) openObjectSchemas.add(resolveReference(json, member));
    for (const [key, child] of Object.entries(node)) if (!dataKeywords.has(key)) visitNode(child);
    if (hasProperties(node.properties) && node.additionalProperties === undefined) objectSchemas.push(node);
  };
  const objectSchemas: Record<PropertyKey, unknown>[] = [];
  visitNode(json);
  for (const object of objectSchemas) if (!openObjectSchemas.has(object)) object.additionalProperties = false;
  return json;
}

const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

function resolveReference(json: Record<string, unknown>, node: unknown): unknown {
  if (!hasProperties(node) || typeof node.$ref !== 'string' || !hasProperties(json.$defs)) return node;
  return json.$defs[node.$ref.replace('#/$defs/', '')];
}
