import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { definePlugin } from './plugin.ts';
import { makeContext } from './testing.ts';
import { defineTool } from './tool.ts';

const greetTool = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({ name: z.string(), times: z.number().default(1) }),
  output: z.object({ text: z.string() }),
  async handle({ name, times }, context) {
    context?.reportPercent(50);
    return { text: `hello ${name} `.repeat(times) };
  },
});

test('a handler runs without a context', async () => {
  assert.deepEqual(await greetTool.handle({ name: 'a', times: 1 }), { text: 'hello a ' });
});

test("a tool's handler receives a context", async () => {
  const context = makeContext();
  await greetTool.handle({ name: 'a', times: 1 }, context);
  assert.deepEqual(context.reports, [{ percent: 50, message: undefined }]);
});

test('defineTool infers types from the schemas', () => {
  const checkToolTypes = () => {
    // @ts-expect-error: times must be a number, the type after parsing
    void greetTool.handle({ name: 'a', times: 'x' });
    // @ts-expect-error: name is missing
    void greetTool.handle({ times: 1 });
    void greetTool.handle({ name: 'a', times: 1 }).then((result) => {
      result.text.toUpperCase();
      // @ts-expect-error: the result has no such field
      result.other;
    });
    defineTool({
      name: 'bad',
      description: 'Bad.',
      input: z.object({}),
      output: z.object({ n: z.number() }),
      // @ts-expect-error: the result must match the output schema
      async handle() {
        return { n: 'one' };
      },
    });
    defineTool({
      name: 'bad',
      description: 'Bad.',
      // @ts-expect-error: a JSON Pointer must begin with /input or /result
      undo: { tool: 'restore', input: { id: 'id' } },
      input: z.object({}),
      output: z.object({}),
      handle: async () => ({}),
    });
    // @ts-expect-error: the input must be an object
    defineTool({ name: 'bad', description: 'Bad.', input: z.string(), output: z.object({}), async handle() {} });
  };
  assert.equal(typeof checkToolTypes, 'function');
});

test('one plugin can contain tools with different input and output types', () => {
  const otherTool = defineTool({
    name: 'other',
    description: 'Other.',
    input: z.object({}),
    output: z.string(),
    annotations: { readOnlyHint: true },
    async handle() {
      return 'x';
    },
  });
  assert.equal(definePlugin({ tools: [greetTool, otherTool], isReady: () => true }).tools.length, 2);
});
