import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';

export const bigTool = defineTool({
  name: 'big',
  description: 'Returns a text of the given size.',
  icon: 'maximize',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.object({ bytes: z.number().int().min(0).max(400_000_000).describe('The length of the text, in bytes') }),
  output: z.object({ text: z.string() }),

  async handle({ bytes }) {
    return { text: 'x'.repeat(bytes) };
  },
});
