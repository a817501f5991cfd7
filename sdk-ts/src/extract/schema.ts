import { toJSONSchema, type z } from 'zod';
import { hasProperties, messageOf } from '../runtime/value.ts';

/** A JSON Schema, or the problems that prevent the conversion. */
export interface ConversionResult {
  schema?: Record<string, unknown>;
  problems: string[];
}

/** `input` is the schema of what an agent sends, and `output` is the schema of what a handler returns. */
type SchemaSide = 'input' | 'output';

/** Maps the zod name of each type that JSON does not have to its replacement. */
const advice: Readonly<Record<string, string>> = {
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

/** Reports whether `value` is a schema of zod 4. */
export function isSchema(value: unknown): value is z.ZodType {
  return hasProperties(value) && hasProperties(value._zod) && hasProperties(value._zod.def);
}

/** Converts a schema and names every field that JSON Schema cannot express. */
export function convertSchema(schema: z.ZodType, side: SchemaSide): ConversionResult {
  const problems: string[] = [];
  const addProblem = ({ zodSchema, path, message }: Unrepresentable): 'any' => {
    const hint = advice[zodSchema._zod.def.type] ?? 'use a type that JSON has';
    problems.push(`${side}${fieldPathOf(path)}: ${message}; ${hint}`);
    return 'any';
  };
  try {
    const converted = toJSONSchema(schema, {
      io: side,
      override: (one) => shapeObject(one, side),
      unrepresentable: addProblem,
    });
    if (problems.length > 0) return { problems };
    // If this function is set, zod before 4.6 accepts every type, so convert again without the function.
    toJSONSchema(schema, { io: side });
    const { $schema: _, ...json } = converted;
    return { schema: side === 'input' ? closeObjects(json) : json, problems };
  } catch (error) {
    return { problems: [...problems, `${side}: ${messageOf(error)}`] };
  }
}

interface Unrepresentable {
  zodSchema: { _zod: { def: { type: string } } };
  path: readonly (string | number)[];
  message: string;
}

/** Converts a path in a JSON Schema to a path in the value: properties/a/items becomes .a[]. */
function fieldPathOf(path: readonly (string | number)[]): string {
  let field = '';
  for (let i = 0; i < path.length; i++) {
    const step = path[i];
    if (step === 'properties') field += `.${path[++i]}`;
    else if (step === 'items' || step === 'prefixItems') field += '[]';
    else if (step === 'additionalProperties') field += '.*';
  }
  return field;
}

/** String formats of newer zod versions that only repeat `pattern`. Strict clients reject tools with such formats. */
const removedFormats: ReadonlySet<unknown> = new Set([
  'starts_with',
  'ends_with',
  'includes',
  'lowercase',
  'uppercase',
]);

/**
 * Removes unusable formats, and opens the objects of an output: a handler may return more fields than its schema has.
 * Only a z.strictObject still rejects additional fields.
 */
function shapeObject(one: { zodSchema: unknown; jsonSchema: Record<string, unknown> }, side: SchemaSide): void {
  if (removedFormats.has(one.jsonSchema.format)) delete one.jsonSchema.format;
  if (side !== 'output' || !isSchema(one.zodSchema)) return;
  const { def } = one.zodSchema._zod;
  const open = def.type === 'intersection' || (def.type === 'object' && !('catchall' in def && def.catchall));
  if (open) delete one.jsonSchema.additionalProperties;
}

/**
 * Closes objects to unknown fields. Zod drops such fields silently, so an agent would not notice a misspelled optional
 * parameter. The members of an `allOf` stay open, because each describes only some of the fields.
 */
function closeObjects(json: Record<string, unknown>): Record<string, unknown> {
  const open = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one);
      return;
    }
    if (!hasProperties(node)) return;
    if (Array.isArray(node.allOf)) for (const member of node.allOf) open.add(resolveReference(json, member));
    for (const [key, one] of Object.entries(node)) if (!dataKeywords.has(key)) visit(one);
    if (hasProperties(node.properties) && node.additionalProperties === undefined) objects.push(node);
  };
  const objects: Record<PropertyKey, unknown>[] = [];
  visit(json);
  for (const object of objects) if (!open.has(object)) object.additionalProperties = false;
  return json;
}

/** Keywords whose value is data and not a schema. */
const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

/** Follows a reference to the definitions of `json`. */
function resolveReference(json: Record<string, unknown>, node: unknown): unknown {
  if (!hasProperties(node) || typeof node.$ref !== 'string' || !hasProperties(json.$defs)) return node;
  return json.$defs[node.$ref.replace('#/$defs/', '')];
}
