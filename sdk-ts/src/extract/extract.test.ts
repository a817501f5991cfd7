import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { definePlugin } from '../plugin.ts';
import { defineTool } from '../tool.ts';
import { extract } from './extract.ts';

const minimal = defineTool({
  name: 'list_2_things',
  description: 'Lists.',
  input: z.object({}),
  output: z.object({}),
  async handle() {
    return {};
  },
});

test('what is absent of a tool is filled in', () => {
  const { tools, problems } = extract(definePlugin({ tools: [minimal], isReady: () => true }));
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

test('what is there of a tool is kept', () => {
  const whole = {
    ...minimal,
    displayName: 'Things',
    summary: 'All things',
    icon: 'list-checks',
    group: 'Reading',
    annotations: { readOnlyHint: true, openWorldHint: undefined },
  };
  const [tool] = extract(definePlugin({ tools: [whole], isReady: () => true })).tools;
  assert.deepEqual(
    [tool?.displayName, tool?.summary, tool?.icon, tool?.group, tool?.annotations],
    ['Things', 'All things', 'list-checks', 'Reading', { readOnlyHint: true }],
  );
});

test('the description of the plugin is told where it has one', () => {
  const configSchema = { url: { type: 'url', label: 'URL', required: true } } as const;
  const plugin = definePlugin({ displayName: 'A', tools: [minimal], configSchema, isReady: () => true });
  const { described, configSchema: found } = extract(plugin);
  assert.deepEqual(described, { displayName: 'A' });
  assert.deepEqual(found, configSchema);
});

test('problems are told all at once', () => {
  const { problems } = extract(
    definePlugin({
      tools: [{ ...minimal, name: 'Bad' }, minimal, minimal, { ...minimal, description: '' }],
      isReady: () => true,
    }),
  );
  assert.deepEqual(
    problems.map((problem) => problem.slice(0, problem.indexOf(';') + 1 || 40)),
    [
      'tool Bad: its name must be snake_case, s',
      'tool list_2_things: another tool has this name;',
      'tool list_2_things: another tool has this name;',
      'tool list_2_things: it has no description;',
    ],
  );
});
