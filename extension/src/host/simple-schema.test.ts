import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSync } from 'esbuild';
import { z } from 'zod';
import { makeAdapterCode, makeRealm } from '../../test/realm.ts';

/** simpleSchemas contains zod schemas that the host checks without running zod, if the arguments are valid. */
const simpleSchemas: Readonly<Record<string, string>> = {
  text: 'z.object({ text: z.string() })',
  limits: 'z.object({ text: z.string().min(2).max(4), exact: z.string().length(3).optional() })',
  numbers:
    'z.object({ n: z.number().min(1).lt(9.5), i: z.number().int().positive().optional(), j: z.int().optional() })',
  choices: 'z.object({ choice: z.enum(["a", "constructor"]), flag: z.boolean().nullable() })',
  lists: 'z.object({ list: z.array(z.string().min(1)).min(1).max(2), any: z.unknown().optional() })',
  nested: 'z.object({ inner: z.object({ b: z.number(), a: z.array(z.object({ x: z.any() })) }).optional() })',
  defaults: 'z.object({ limit: z.number().int().default(20), list: z.array(z.number()).default([1]) })',
  extended: 'z.object({ b: z.string() }).extend({ a: z.string().describe("A text.") }).partial()',
  empty: 'z.object({})',
};

/** nonSimpleSchemas contains the code of schemas that the host cannot apply without zod. */
const nonSimpleSchemas: Readonly<Record<string, string>> = {
  refined: 'z.object({ text: z.string() }).refine(({ text }) => text !== "ab")',
  trimmed: 'z.object({ text: z.string().trim().min(2) })',
  transformed: 'z.object({ text: z.string().transform((text) => text.length) })',
  coerced: 'z.object({ n: z.coerce.number() })',
  strict: 'z.strictObject({ text: z.string().optional() })',
  loose: 'z.looseObject({ text: z.string().optional() })',
  formats: 'z.object({ text: z.email(), n: z.number().optional() })',
  steps: 'z.object({ n: z.number().multipleOf(2) })',
  prefault: 'z.object({ text: z.string().trim().prefault(" ab ") })',
  caught: 'z.object({ n: z.number().catch(7) })',
  records: 'z.object({ inner: z.record(z.string(), z.number()) })',
  recursive: '(() => { const T = z.object({ get inner() { return T.optional(); } }); return T; })()',
  numeric: 'z.object({ choice: z.enum({ A: 0, B: "a" }) })',
};

const argumentValues: readonly unknown[] = [
  'a',
  'ab',
  'abc',
  '\u{1f600}a',
  'constructor',
  ' ab ',
  '7',
  'a@b.example',
  0,
  1,
  2,
  9.5,
  -1,
  2 ** 53 - 1,
  1e300,
  true,
  false,
  null,
  [],
  ['a'],
  ['a', 'b', 'c'],
  [1, 2],
  [''],
  {},
  { b: 1, a: [{ x: { deep: [1] }, more: 1 }] },
  { a: [], b: 1 },
  { inner: {} },
  { inner: { inner: 7 } },
];
const names = ['text', 'exact', 'n', 'i', 'j', 'choice', 'flag', 'list', 'any', 'inner', 'limit', 'a', 'b'];

function* makeArguments(schema: z.ZodType, nextRandomFraction: () => number): Generator<Record<string, unknown>> {
  const argumentNames = schema instanceof z.ZodObject ? Object.keys(schema.shape) : names;
  const pickRandom = <T>(candidates: readonly T[]): T | undefined =>
    candidates[Math.floor(nextRandomFraction() * candidates.length)];
  yield {};
  for (let i = 0; i < 300; i++) {
    const args: Record<string, unknown> = {};
    for (const key of argumentNames) if (nextRandomFraction() < 0.8) args[key] = pickRandom(argumentValues);
    if (nextRandomFraction() < 0.3) args[pickRandom(names) ?? 'extra'] = pickRandom(argumentValues);
    yield args;
  }
}

function makeRandomGenerator(randomSeed: number): () => number {
  let randomState = randomSeed;
  return () => {
    randomState = (randomState * 1103515245 + 12345) % 2 ** 31;
    return randomState / 2 ** 31;
  };
}

const makeZodSchema = (code: string): z.ZodType => new Function('z', `return ${code}`)(z);

async function startTools(schemaCodes: Readonly<Record<string, string>>) {
  const schemaBundle = buildSync({
    stdin: { contents: 'export * from "zod"', resolveDir: import.meta.dirname },
    bundle: true,
    format: 'iife',
    globalName: 'z',
    write: false,
  }).outputFiles[0]?.text;
  const tools = Object.entries(schemaCodes).map(
    ([name, code]) => `{ name: '${name}', input: counted(${code}), handle: (p) => JSON.stringify(p) ?? 'none' }`,
  );
  const zodSetupCode = `${schemaBundle}
    const counted = (schema) => {
      const { safeParse } = schema;
      return Object.assign(schema, { safeParse: (args) => { globalThis.__openTabs.count.parses++; return safeParse(args); } });
    };`;
  const realm = makeRealm();
  realm.run('count = { parses: 0 }');
  realm.start(
    'demo',
    'h',
    `globalThis.__openTabs.count = window.count;${zodSetupCode}${makeAdapterCode('demo', tools.join(), '() => true')}`,
  );
  const [port] = realm.bridge();
  await realm.waitUntilIdle();
  assert.ok(port);
  port.receivedTexts.splice(0);
  realm.addContent();
  let callNumber = 0;
  const call = async (tool: string, args: object): Promise<string> => {
    port.sendParts('call', ++callNumber, tool, 1 << 20, args);
    await realm.waitUntilIdle();
    return port.receivedTexts
      .splice(0)
      .join()
      .replace(`r ${callNumber} `, '')
      .replace(/^e \d+ /, 'e ');
  };
  return { realm, call, countZodParses: () => Number(realm.run('count.parses')) };
}

function parseWithZod(schema: z.ZodType, args: unknown): string | undefined {
  const parsed = schema.safeParse(args);
  return parsed.success ? JSON.stringify(JSON.stringify(parsed.data)) : undefined;
}

for (const [schemaKind, schemaCodes] of [
  ['simple', simpleSchemas],
  ['other', nonSimpleSchemas],
] as const) {
  test(`the arguments of ${schemaKind} schemas are parsed as zod parses them`, async () => {
    const { call } = await startTools(schemaCodes);
    for (const [name, code] of Object.entries(schemaCodes)) {
      const schema = makeZodSchema(code);
      let validCount = 0;
      for (const args of makeArguments(schema, makeRandomGenerator(7))) {
        const expectedOutcome = parseWithZod(schema, args);
        const callResult = await call(name, args);
        if (expectedOutcome === undefined)
          assert.match(callResult, /^e .*invalid_arguments/, `${code} of ${JSON.stringify(args)}`);
        else assert.equal(callResult, expectedOutcome, `${code} of ${JSON.stringify(args)}`);
        if (expectedOutcome !== undefined) validCount++;
      }
      assert.ok(validCount > 0, code);
    }
  });
}

test('for a simple schema, zod parses only the first arguments, and arguments that are invalid or need a default', async () => {
  const { call, countZodParses } = await startTools(simpleSchemas);
  const countParsesOfCall = async (tool: string, args: object) => {
    const parseCountBefore = countZodParses();
    await call(tool, args);
    return countZodParses() - parseCountBefore;
  };
  assert.equal(await countParsesOfCall('text', { text: 'a' }), 1);
  assert.equal(await countParsesOfCall('text', { text: 'a', more: 1 }), 0);
  assert.equal(await countParsesOfCall('text', { text: 1 }), 1);
  assert.equal(await countParsesOfCall('defaults', { limit: 1, list: [] }), 1);
  assert.equal(await countParsesOfCall('defaults', { limit: 1, list: [2] }), 0);
  assert.equal(await countParsesOfCall('defaults', { limit: 1 }), 1);
  for (const [tool, args] of [
    ['limits', { text: 'abc', exact: 'abc' }],
    ['numbers', { n: 1, i: 2, j: 3 }],
    ['choices', { choice: 'constructor', flag: null }],
    ['lists', { list: ['a'], any: { x: 1 } }],
    ['nested', { inner: { b: 1, a: [{ x: 1 }] } }],
    ['extended', { a: 'b' }],
    ['empty', { a: 'b' }],
  ] as const) {
    await call(tool, args);
    assert.equal(await countParsesOfCall(tool, args), 0, tool);
  }
});

test('if a schema is not simple, zod parses the arguments of each call', async () => {
  const { call, countZodParses } = await startTools(nonSimpleSchemas);
  for (const name of Object.keys(nonSimpleSchemas)) {
    for (let i = 0; i < 3; i++) await call(name, {});
  }
  assert.equal(countZodParses(), 3 * Object.keys(nonSimpleSchemas).length);
});

test('a page cannot observe or change the arguments of a simple schema', async () => {
  const { realm, call, countZodParses } = await startTools(simpleSchemas);
  await call('nested', { inner: { b: 1, a: [{ x: 1 }] } });
  realm.run(`touched = '';
    for (const on of [Object.prototype, Array.prototype, String.prototype, Number.prototype])
      for (const key of ['inner', 'b', 'a', 'x', '0', 'value', 'then', 'toJSON', '_zod', 'def', 'get', 'set'])
        if (!Object.hasOwn(on, key))
          Object.defineProperty(on, key, { __proto__: null, get() { touched += " " + key; return 'forged'; }, set() { touched += " " + key; }, configurable: true });
    for (const key of Object.getOwnPropertyNames(Array.prototype))
      if (typeof Array.prototype[key] === 'function') Array.prototype[key] = () => { touched += " " + key; };
    for (const key of ['get', 'set', 'has']) WeakMap.prototype[key] = () => { touched += " " + key; };
    touched = ''`);
  const parseCountBefore = countZodParses();
  assert.equal(
    await call('nested', { inner: { b: 1, a: [{ x: 's' }] } }),
    '"{\\"inner\\":{\\"b\\":1,\\"a\\":[{\\"x\\":\\"s\\"}]}}"',
  );
  assert.equal(countZodParses(), parseCountBefore);
  assert.equal(realm.run('touched'), '');
});
