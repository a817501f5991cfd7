/** Provides the tools and prompts that the official MCP conformance suite calls, as far as a plugin can define them. */
import { audio, definePlugin, definePrompt, defineTool, image, log, resource, sleep, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

const pixelPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silenceWav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

function makeFixedResultTool(name: string, description: string, handle: () => Promise<unknown>) {
  return defineTool({ name, description, input: z.object({}), output: z.unknown(), handle });
}

function makeWaitingTool(name: string, waitCount = 1) {
  return defineTool({
    name,
    description: 'Waits for the user.',
    input: z.object({}),
    output: z.string(),
    async handle(_, context) {
      for (let i = 0; i < waitCount; i++) await context?.waitForUser({ reason: 'Please confirm.' });
      return 'confirmed, state-ok';
    },
  });
}

const tools = [
  makeFixedResultTool('test_simple_text', 'Returns a text.', async () => 'This is a simple text response for testing.'),
  makeFixedResultTool('test_image_content', 'Returns a picture.', () => image(pixelPng, 'image/png')),
  makeFixedResultTool('test_audio_content', 'Returns a sound.', () => audio(silenceWav, 'audio/wav')),
  makeFixedResultTool('test_embedded_resource', 'Returns a file.', () =>
    resource('test://embedded-resource', 'This is an embedded resource content.', 'text/plain'),
  ),
  makeFixedResultTool('test_multiple_content_types', 'Returns a text, a picture and a file.', async () => [
    { type: 'text', text: 'Multiple content types test:' },
    await image(pixelPng, 'image/png'),
    await resource('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json'),
  ]),
  makeFixedResultTool('test_error_handling', 'Fails.', () => {
    throw ToolError.internal('This tool intentionally returns an error for testing');
  }),
  makeFixedResultTool('test_tool_with_logging', 'Logs three times.', async () => {
    for (const logMessage of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      log.info(logMessage);
      await sleep(150); // log entries and results take different routes; the pause lets the log entry arrive first
    }
    return 'three things were logged';
  }),
  makeFixedResultTool('test_logging_tool', 'Returns a text and logs nothing.', async () => 'nothing was logged'),
  defineTool({
    name: 'test_streaming_elicitation',
    description: 'Reports progress, so that its answer is a stream.',
    input: z.object({}),
    output: z.string(),
    async handle(_, context) {
      context?.reportCount(1, 2, 'half');
      return 'done';
    },
  }),
  defineTool({
    name: 'test_elicitation',
    description: 'Waits for an answer of the user.',
    input: z.object({ message: z.string() }),
    output: z.string(),
    async handle({ message: logMessage }, context) {
      await context?.waitForUser({ reason: logMessage });
      return 'The user has answered.';
    },
  }),
  // The conformance suite expects field names in elicitation forms that opentabs does not use.
  makeWaitingTool('test_input_required_result_elicitation'),
  makeWaitingTool('test_input_required_result_request_state'),
  makeWaitingTool('test_input_required_result_tampered_state'),
  makeWaitingTool('test_input_required_result_multi_round', 2),
  defineTool({
    name: 'test_tool_with_progress',
    description: 'Reports 0, 50 and 100 of 100.',
    input: z.object({}),
    output: z.string(),
    async handle(_, context) {
      // The daemon would merge more frequent progress reports, because it sends at most ten progress notifications per
      // second.
      for (const doneCount of [0, 50, 100]) {
        context?.reportCount(doneCount, 100);
        await sleep(150);
      }
      return 'Progress was reported.';
    },
  }),
  defineTool({
    name: 'test_headers',
    description: 'Has a parameter that clients repeat in a header.',
    input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    output: z.string(),
    async handle({ region }) {
      return region;
    },
  }),
  // setToolSchema in run.ts adds the input schema of the tool json_schema_2020_12_tool.
  makeFixedResultTool('json_schema_2020_12_tool', 'Tool with JSON Schema 2020-12 features', async () => 'ok'),
];

const prompts = [
  definePrompt({
    name: 'test_input_required_result_prompt',
    description: 'Waits for the user.',
    async render(_, context) {
      await context?.waitForUser({ reason: 'Please give some context.' });
      return 'The user has given context.';
    },
  }),
  definePrompt({
    name: 'test_simple_prompt',
    description: 'Has no arguments.',
    render: () => 'This is a simple prompt for testing.',
  }),
  definePrompt({
    name: 'test_prompt_with_arguments',
    description: 'Has two arguments.',
    args: z.object({ arg1: z.string(), arg2: z.string() }),
    render: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  definePrompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'Has a file in a message.',
    args: z.object({ resourceUri: z.string() }),
    render: async ({ resourceUri }) => [
      {
        role: 'user',
        content: await resource(resourceUri, 'Embedded resource content for testing.', 'text/plain'),
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ],
  }),
  definePrompt({
    name: 'test_prompt_with_image',
    description: 'Has a picture in a message.',
    render: async () => [
      { role: 'user', content: await image(pixelPng, 'image/png') },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }),
];

export default definePlugin({ tools, prompts, isReady: () => true });
