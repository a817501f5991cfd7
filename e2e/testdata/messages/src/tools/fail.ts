import { defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

export const failTool = defineTool({
  name: 'fail',
  description: 'Fails with the given error. For tests.',
  icon: 'bug',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    message: z.string().describe("The error's message"),
    code: z.string().optional().describe('The code of a ToolError; without it a plain Error is thrown'),
    category: z.enum(['auth', 'rate_limit', 'not_found', 'validation', 'internal', 'timeout']).optional(),
    retryable: z.boolean().optional(),
    retryAfterMs: z.number().min(0).optional(),
  }),
  output: z.object({}),

  async handle({ message, code, ...options }) {
    throw code === undefined ? new Error(message) : new ToolError(message, code, options);
  },
});
