import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { definePlugin, type PluginDefinition } from '../plugin.ts';
import { definePrompt } from '../prompt.ts';
import { defineTool } from '../tool.ts';
import { extract } from './extract.ts';

const minimalTool = defineTool({
  name: 'list_2_things',
  description: 'Lists.',
  input: z.object({}),
  output: z.object({}),
  async handle() {
    return {};
  },
});

test('absent fields of a tool get defaults', () => {
  const { tools, problems } = extract(definePlugin({ tools: [minimalTool], isReady: () => true }));
  assert.deepEqual(problems, []);
  assert.deepEqual(tools, [
    {
      name: 'list_2_things',
      displayName: 'List 2 Things',
      description: 'Lists.',
      icon: 'wrench',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      output_schema: { type: 'object', properties: {} },
    },
  ]);
});

test('present fields of a tool are kept', () => {
  const toolWithAllFields = {
    ...minimalTool,
    displayName: 'Things',
    summary: 'All things',
    icon: 'list-checks' as const,
    group: 'Reading',
    annotations: { readOnlyHint: true, openWorldHint: undefined },
    limits: { idleTimeoutMs: 60_000, hardTimeoutMs: undefined },
  };
  const [tool] = extract(definePlugin({ tools: [toolWithAllFields], isReady: () => true })).tools;
  assert.deepEqual(
    [tool?.displayName, tool?.summary, tool?.icon, tool?.group, tool?.annotations, tool?.limits],
    ['Things', 'All things', 'list-checks', 'Reading', { readOnlyHint: true }, { idleTimeoutMs: 60_000 }],
  );
});

test('the field `undo` of a tool is kept, and must name a tool of the plugin', () => {
  const restoreTool = { ...minimalTool, name: 'restore_thing', input: z.object({ id: z.string() }) };
  const makeUndoPlugin = (undoDefinition: unknown) => ({
    tools: [{ ...minimalTool, undo: undoDefinition }, restoreTool],
    isReady: () => true,
  });
  const undoDefinition = { tool: 'restore_thing', input: { id: '/result/items/0/id' } };
  assert.deepEqual(extract(makeUndoPlugin(undoDefinition)).tools[0]?.undo, undoDefinition);
  assert.deepEqual(extract(makeUndoPlugin({ tool: 'restore_thing' })).tools[0]?.undo, { tool: 'restore_thing' });
  const invalidUndos: [unknown, RegExp][] = [
    ['restore_thing', /: undo names no tool; write `undo:/],
    [{ tool: '' }, /: undo names no tool/],
    [{ tool: 'gone' }, /: undo.tool is "gone", but the plugin has no such tool; name/],
    [{ tool: minimalTool.name }, /: undo.tool is the tool itself; name another/],
    [{ tool: 'restore_thing', input: { id: 'result/id' } }, /: undo.input.id is not a JSON Pointer that begins/],
    [{ tool: 'restore_thing', input: { id: '/results/id' } }, /: undo.input.id is not a JSON Pointer/],
    [{ tool: 'restore_thing', input: { id: '/result/~2' } }, /: undo.input.id is not a JSON Pointer/],
    [{ tool: 'restore_thing', input: 5 }, /: undo.input.input is not a JSON Pointer/],
  ];
  for (const [undoDefinition, message] of invalidUndos) {
    const { problems } = extract(makeUndoPlugin(undoDefinition));
    assert.equal(problems.length, 1, String(message));
    assert.match(problems[0] ?? '', message);
  }
});

test('the description of the plugin is returned if present', () => {
  const configSchema = { url: { type: 'url', label: 'URL', required: true } } as const;
  const plugin = definePlugin({ displayName: 'A', tools: [minimalTool], configSchema, isReady: () => true });
  const { described, configSchema: extractedSchema } = extract(plugin);
  assert.deepEqual(described, { displayName: 'A' });
  assert.deepEqual(extractedSchema, configSchema);
});

test('all problems of a plugin are reported at once', () => {
  const { problems } = extract(
    definePlugin({
      tools: [{ ...minimalTool, name: 'Bad' }, minimalTool, minimalTool, { ...minimalTool, description: '' }],
      isReady: () => true,
    }),
  );
  assert.deepEqual(
    problems.map((problem) => problem.slice(0, problem.indexOf(';') + 1 || 40)),
    [
      'tool Bad: its name must be snake_case, s',
      'tool list_2_things: another tool or prompt has this name;',
      'tool list_2_things: another tool or prompt has this name;',
      'tool list_2_things: it has no description;',
    ],
  );
});

function listExtractionProblems(changedFields: Record<string, unknown>): string[] {
  const name = typeof changedFields.name === 'string' ? changedFields.name : minimalTool.name;
  const { problems } = extract({ isReady() {}, tools: [{ ...minimalTool, ...changedFields }] });
  return problems.map((problem) => problem.replace(`tool ${name}: `, ''));
}

test('each problem of a tool is reported with advice for the author', () => {
  assert.deepEqual(listExtractionProblems({}), []);
  const invalidFields: [Record<string, unknown>, RegExp][] = [
    [{ name: 'sendMessage' }, /^its name must be snake_case, such as send_message/],
    [{ name: 'a__b' }, /^its name must be snake_case/],
    [{ name: '1a' }, /^its name must be snake_case/],
    [{ name: undefined }, /^tools\[0\]: its name must be snake_case/],
    [{ description: ' ' }, /^it has no description; describe/],
    [{ description: 'x'.repeat(1001) }, /^its description has 1001 characters; shorten it to 1000/],
    [{ displayName: '' }, /^its displayName must be a text that is not empty; remove/],
    [{ summary: 5 }, /^its summary must be a text/],
    [{ icon: 'Not An Icon' }, /^icon "Not An Icon" is not the name of a Lucide icon; use/],
    [{ icon: 'no-such-icon' }, /^icon "no-such-icon" is not the name of a Lucide icon; use/],
    [{ handle: undefined }, /^it has no handle; add/],
    [{ input: undefined }, /^its input is not a schema of zod 4; write `z.object\(\{\}\)`/],
    [{ output: {} }, /^its output is not a schema of zod 4; write/],
    [{ input: z.string() }, /^its input must be a z.object\(\{...\}\)/],
    [{ input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }, /^its input must be a z.object/],
    [{ input: z.object({ when: z.date() }) }, /^input.when: Date cannot be represented in JSON Schema; use/],
    [{ annotations: { readonly: true } }, /^annotations.readonly is not known or not true or false; use readOnlyHint/],
    [{ annotations: { readOnlyHint: 'yes' } }, /^annotations.readOnlyHint is not known or not true/],
    [
      { limits: { idleTimeoutMs: 999 } },
      /^limits.idleTimeoutMs is not known or not a whole number of milliseconds from 1000/,
    ],
    [{ limits: { hardTimeoutMs: 300_001 } }, /^limits.hardTimeoutMs is not known or not a whole number/],
    [{ limits: { idleTimeoutMs: '5000' } }, /^limits.idleTimeoutMs is not known/],
    [{ limits: { idle: 5000 } }, /^limits.idle is not known .*; use idleTimeoutMs, hardTimeoutMs/],
    [{ limits: 5000 }, /^limits.limits is not known/],
    [{ annotations: true }, /^annotations.annotations is not known/],
  ];
  for (const [changedFields, message] of invalidFields) {
    const extractionProblems = listExtractionProblems(changedFields);
    assert.equal(extractionProblems.length, 1, String(message));
    assert.match(extractionProblems[0] ?? '', message);
  }
});

test('an invalid default export is reported with advice for the author', () => {
  class Shop {}
  const extractProblemText = (exportedValue: unknown) => extract(exportedValue).problems.join('\n');
  assert.match(extractProblemText(undefined), /^the module has no default export; write `export default definePlugin/);
  assert.match(extractProblemText(Shop), /export an instance: `export default new Shop\(\)`/);
  for (const value of [null, 42, 'x', Promise.resolve({})]) {
    assert.match(extractProblemText(value), /^the default export is not a plugin; write/);
  }
  assert.match(
    extractProblemText(Object.freeze({ isReady() {}, tools: [] })),
    /^the plugin is frozen; remove Object.freeze/,
  );
  assert.match(
    extractProblemText({ tools: [] }),
    /^the plugin has no method isReady; add .*\nthe plugin has no tools; give it/,
  );
  assert.match(extractProblemText({ isReady() {}, tools: 5 }), /^the plugin has no tools/);
  // `opentabs plugin build` does not check types, so the extraction must also report type errors.
  const untypedPlugin: PluginDefinition = JSON.parse('{"tools": []}');
  assert.match(extractProblemText(definePlugin(untypedPlugin)), /^the plugin has no method isReady; add /);
  assert.match(
    extractProblemText({ isReady() {}, tools: [7] }),
    /^tools\[0\]: it is not a tool; make it with defineTool/,
  );
});

test('settings are read unchanged, and resources are rejected', () => {
  const configSchema = { key: { type: 'string', label: 'Key', required: true } };
  const extractPlugin = (fields: object) => extract({ isReady() {}, tools: [minimalTool], ...fields });
  assert.deepEqual(extractPlugin({ configSchema }).configSchema, configSchema);
  assert.match(extractPlugin({ configSchema: [] }).problems.join() || 'none', /^none$/);
  assert.match(extractPlugin({ configSchema: 'key' }).problems.join(), /^configSchema is not an object; write/);
  assert.deepEqual(extractPlugin({ resources: [] }).problems, []);
  assert.match(
    extractPlugin({ resources: [{ uri: 'a://b' }] }).problems.join(),
    /^plugins have no resources; turn each resource into a tool/,
  );
});

const textSchema = { type: 'string' };

function extractPrompts(...prompts: unknown[]) {
  const { prompts: extractedPrompts, problems } = extract({ isReady() {}, tools: [minimalTool], prompts });
  return { extractedPrompts, problems };
}

test('a prompt is read with the schema of its arguments', () => {
  const summarisePrompt = definePrompt({
    name: 'sum_up',
    description: 'Sums up.',
    args: z.object({ channelId: z.string().describe('Which'), max: z.coerce.number().int().default(20) }),
    render: () => '',
  });
  const callLimits = { hardTimeoutMs: 10_000 };
  const minimalPrompt = definePrompt({ name: 'bare', displayName: 'Nothing', limits: callLimits, render: () => '' });
  const { prompts, problems } = extract(
    definePlugin({ tools: [minimalTool], prompts: [summarisePrompt, minimalPrompt], isReady: () => true }),
  );
  assert.deepEqual(problems, []);
  assert.equal(prompts[0]?.input_schema.additionalProperties, false);
  assert.deepEqual(prompts[0]?.input_schema.required, ['channelId']);
  assert.deepEqual(
    prompts.map(({ input_schema: { properties }, ...otherFields }) => [otherFields, properties]),
    [
      [
        { name: 'sum_up', displayName: 'Sum Up', description: 'Sums up.' },
        {
          channelId: { ...textSchema, description: 'Which' },
          max: { type: 'integer', default: 20, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
      ],
      [{ name: 'bare', displayName: 'Nothing', limits: callLimits }, {}],
    ],
  );
  assert.deepEqual(extract(definePlugin({ tools: [minimalTool], isReady: () => true })).prompts, []);
});

test('the arguments of a prompt are a list, or a schema with descriptions from a list', () => {
  const renderNothing = () => '';
  const argumentList = [{ name: 'to', description: 'Whom', required: true }, { name: 'how' }];
  const args = z.object({ to: z.string(), how: z.string().describe('Own').optional() });
  const { extractedPrompts, problems: extractionProblems } = extractPrompts(
    { name: 'a', arguments: argumentList, render: renderNothing },
    {
      name: 'b',
      args,
      arguments: [
        { name: 'to', description: 'Whom' },
        { name: 'how', description: 'No' },
      ],
      render: renderNothing,
    },
  );
  assert.deepEqual(extractionProblems, []);
  assert.deepEqual(extractedPrompts[0]?.input_schema, {
    type: 'object',
    properties: { to: { ...textSchema, description: 'Whom' }, how: textSchema },
    required: ['to'],
    additionalProperties: false,
  });
  assert.deepEqual(extractedPrompts[1]?.input_schema.properties, {
    to: { ...textSchema, description: 'Whom' },
    how: { ...textSchema, description: 'Own' },
  });
});

test('each problem of a prompt is reported with advice for the author', () => {
  const validPrompt = { name: 'good', render: () => '' };
  const extractProblemText = (changedFields: Record<string, unknown>) =>
    extractPrompts({ ...validPrompt, ...changedFields }).problems.join('\n');
  assert.equal(extractProblemText({}), '');
  const invalidFields: [Record<string, unknown>, RegExp][] = [
    [{ name: 'sumUp' }, /^prompt sumUp: its name must be snake_case/],
    [{ name: 'list_2_things' }, /^prompt list_2_things: another tool or prompt has this name/],
    [{ description: 5 }, /^prompt good: its description must be a text/],
    [{ description: 'x'.repeat(1001) }, /^prompt good: its description has 1001 characters/],
    [{ limits: { hardTimeoutMs: 1 } }, /^prompt good: limits.hardTimeoutMs is not known/],
    [{ displayName: '' }, /^prompt good: its displayName must be a text/],
    [{ render: undefined }, /^prompt good: it has no render; add/],
    [{ args: {} }, /^prompt good: its args is not a schema of zod 4; write `z.object/],
    [{ args: z.string() }, /^prompt good: its args must be a z.object/],
    [{ args: z.object({ when: z.date() }) }, /^prompt good: args.when: Date cannot be represented/],
    [{ arguments: {} }, /^prompt good: its arguments are not an array; write/],
    [{ arguments: [{}] }, /^prompt good: arguments\[0\] has no name; write/],
    [{ arguments: [{ name: 'a' }, { name: 'a' }] }, /^prompt good: two arguments have the name a/],
    [{ arguments: [{ name: 'a', description: 1 }] }, /^prompt good: argument a: its description must be a text/],
    [{ args: z.object({}), arguments: [{ name: 'a' }] }, /^prompt good: args has no a, but arguments lists it/],
  ];
  for (const [changedFields, message] of invalidFields) assert.match(extractProblemText(changedFields), message);
  assert.match(extractPrompts(7).problems.join(), /^prompts\[0\]: it is not a prompt; make it with definePrompt/);
  const { problems } = extract({ isReady() {}, tools: [minimalTool], prompts: {} });
  assert.match(problems.join(), /^the prompts are not an array; write/);
});
