import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';

export const echoTool = defineTool({
  name: 'echo',
  description: 'Returns its input value.',
  icon: 'repeat',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.object({ value: z.unknown().describe('Any JSON value') }),
  output: z.object({ value: z.unknown() }),

  async handle({ value }) {
    return { value };
  },
});
