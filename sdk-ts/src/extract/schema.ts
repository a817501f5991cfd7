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

export function convertSchema(schema: z.ZodType, side: SchemaSide): ConversionResult {
  const problems: string[] = [];
  const addProblem = ({ zodSchema, path, message }: Unrepresentable): 'any' => {
    const hint = replacementHints[zodSchema._zod.def.type] ?? 'use a type that JSON has';
    problems.push(`${side}${formatFieldPath(path)}: ${message}; ${hint}`);
    return 'any';
  };
  try {
    const jsonSchema = toJSONSchema(schema, {
      io: side,
      override: (node) => adjustNode(node, side),
      unrepresentable: addProblem,
    });
    if (problems.length > 0) return { problems };
    // Some versions of zod accept every type if `unrepresentable` is a function. The second conversion to JSON Schema,
    // without the option `unrepresentable`, throws for an unsupported type in every version of zod.
    toJSONSchema(schema, { io: side });
    const { $schema: _, ...json } = jsonSchema;
    return { schema: side === 'input' ? closeObjects(json) : json, problems };
  } catch (error) {
    return { problems: [...problems, `${side}: ${readMessage(error)}`] };
  }
}

interface Unrepresentable {
  zodSchema: { _zod: { def: { type: string } } };
  path: readonly (string | number)[];
  message: string;
}

function formatFieldPath(path: readonly (string | number)[]): string {
  let field = '';
  for (let i = 0; i < path.length; i++) {
    const step = path[i];
    if (step === 'properties') field += `.${path[++i]}`;
    else if (step === 'items' || step === 'prefixItems') field += '[]';
    else if (step === 'additionalProperties') field += '.*';
  }
  return field;
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
function adjustNode(node: { zodSchema: unknown; jsonSchema: Record<string, unknown> }, side: SchemaSide): void {
  if (removedFormats.has(node.jsonSchema.format)) delete node.jsonSchema.format;
  if (side !== 'output' || !isSchema(node.zodSchema)) return;
  const { def } = node.zodSchema._zod;
  const isOpen = def.type === 'intersection' || (def.type === 'object' && !('catchall' in def && def.catchall));
  if (isOpen) delete node.jsonSchema.additionalProperties;
}

/**
 * Zod drops unknown fields silently, so an agent would not notice that it misspelled an optional parameter. Object
 * schemas inside an `allOf` accept additional fields, because each of them describes only some of the fields.
 */
function closeObjects(json: Record<string, unknown>): Record<string, unknown> {
  const openObjects = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item);
      return;
    }
    if (!hasProperties(node)) return;
    if (Array.isArray(node.allOf)) for (const member of node.allOf) openObjects.add(resolveReference(json, member));
    for (const [key, child] of Object.entries(node)) if (!dataKeywords.has(key)) visit(child);
    if (hasProperties(node.properties) && node.additionalProperties === undefined) objects.push(node);
  };
  const objects: Record<PropertyKey, unknown>[] = [];
  visit(json);
  for (const object of objects) if (!openObjects.has(object)) object.additionalProperties = false;
  return json;
}

const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

function resolveReference(json: Record<string, unknown>, node: unknown): unknown {
  if (!hasProperties(node) || typeof node.$ref !== 'string' || !hasProperties(json.$defs)) return node;
  return json.$defs[node.$ref.replace('#/$defs/', '')];
}
