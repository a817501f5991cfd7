import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { convertSchema, isSchema } from './schema.ts';

test('the schema of an input describes the arguments before defaults and transforms apply', () => {
  const schema = z.object({ n: z.number().default(1), s: z.string().transform(Number), o: z.boolean().optional() });
  assert.deepEqual(convertSchema(schema, 'input'), {
    schema: {
      type: 'object',
      properties: { n: { default: 1, type: 'number' }, s: { type: 'string' }, o: { type: 'boolean' } },
      required: ['s'],
      additionalProperties: false,
    },
    problems: [],
  });
});

test('objects in an input reject unknown fields at every depth, except loose objects and records', () => {
  const { schema } = convertSchema(
    z.object({
      list: z.array(z.object({ a: z.string() })),
      loose: z.looseObject({}),
      map: z.record(z.string(), z.any()),
    }),
    'input',
  );
  assert.deepEqual(schema?.properties, {
    list: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    },
    loose: { type: 'object', properties: {}, additionalProperties: {} },
    map: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
  });
});

test('an intersection in an input rejects unknown fields as a whole, not in each part', () => {
  const [schemaA, schemaB] = [z.object({ a: z.string() }), z.object({ b: z.string() })];
  const mergedProperties = convertSchema(z.object({ both: z.intersection(schemaA, schemaB) }), 'input').schema
    ?.properties;
  const properties = { a: { type: 'string' }, b: { type: 'string' } };
  assert.deepEqual(mergedProperties, {
    both: { type: 'object', properties, required: ['a', 'b'], additionalProperties: false },
  });
  assert.deepEqual(convertSchema(z.object({ both: z.intersection(schemaA, schemaB) }), 'output').schema?.properties, {
    both: { type: 'object', properties, required: ['a', 'b'] },
  });
  // In the JSON Schema, zod writes an `allOf` if it cannot merge the combined schemas.
  const node = z.object({
    name: z.string(),
    get children() {
      return z.array(node);
    },
  });
  const { schema } = convertSchema(z.object({ both: z.intersection(node, schemaB) }), 'input');
  const text = JSON.stringify(schema);
  assert.equal(text.includes('"allOf"'), true);
  assert.equal(text.split('additionalProperties').length - 1, 1, text);
  assert.equal(schema?.additionalProperties, false);
});

test('a default that looks like a schema stays unchanged', () => {
  const schema = z.object({ s: z.record(z.string(), z.any()).default({ properties: { a: 1 } }) });
  assert.deepEqual(convertSchema(schema, 'input').schema?.properties, {
    s: {
      default: { properties: { a: 1 } },
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: {},
    },
  });
});

test('an output accepts additional fields, unless it is a strict object', () => {
  const openSchema = convertSchema(z.object({ a: z.string().default('') }), 'output').schema;
  assert.deepEqual(openSchema, { type: 'object', properties: { a: { default: '', type: 'string' } }, required: ['a'] });
  assert.equal(convertSchema(z.strictObject({}), 'output').schema?.additionalProperties, false);
});

test('recursive zod schemas convert to JSON Schema', () => {
  const node = z.object({
    name: z.string(),
    get children() {
      return z.array(node);
    },
  });
  const { schema, problems: schemaProblems } = convertSchema(z.object({ node }), 'input');
  assert.deepEqual(schemaProblems, []);
  assert.equal(JSON.stringify(schema).includes('$ref'), true);
});

test('the problems name every field that JSON Schema cannot express', () => {
  const { schema, problems: schemaProblems } = convertSchema(
    z.object({ a: z.date(), b: z.tuple([z.bigint()]), c: z.union([z.string(), z.map(z.string(), z.string())]) }),
    'input',
  );
  assert.equal(schema, undefined);
  assert.deepEqual(schemaProblems, [
    'input.a: Date cannot be represented in JSON Schema; use z.iso.datetime(), or z.iso.date()',
    'input.b[]: BigInt cannot be represented in JSON Schema; use z.string(), or z.int()',
    'input.c: Map cannot be represented in JSON Schema; use z.record()',
  ]);
});

test('a schema from a library or version other than zod 4 is rejected', () => {
  assert.equal(isSchema(z.string()), true);
  for (const value of [undefined, null, {}, { _def: {} }, { _zod: 1 }, 'string']) assert.equal(isSchema(value), false);
});

// A strict MCP client would reject a tool whose JSON Schema contains the unknown format `starts_with`.
test('the schema of a text with startsWith has a pattern and no format', () => {
  const { schema } = convertSchema(
    z.object({ a: z.string().startsWith('ab'), b: z.string().endsWith('b').includes('c'), at: z.iso.datetime() }),
    'input',
  );
  const { a: schemaA, b: schemaB, at } = Object(schema?.properties);
  assert.deepEqual(schemaA, { type: 'string', pattern: '^ab.*' });
  assert.deepEqual(Object.keys(schemaB).sort(), ['allOf', 'type']);
  assert.deepEqual(Object.keys(at).sort(), ['format', 'pattern', 'type']);
});
