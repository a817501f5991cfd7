import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';

export const echo = defineTool({
  name: 'echo',
  description: 'Returns the value that it is given.',
  icon: 'repeat',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.object({ value: z.unknown().describe('Any JSON value') }),
  output: z.object({ value: z.unknown() }),

  async handle({ value }) {
    return { value };
  },
});
