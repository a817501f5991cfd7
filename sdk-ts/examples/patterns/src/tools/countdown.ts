import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';

export const countdownTool = defineTool({
  name: 'countdown',
  description: 'Counts down to zero and reports each step.',
  icon: 'timer',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    from: z.number().int().min(0).max(100_000).describe('The number to start at'),
    intervalMs: z.number().min(0).max(600_000).default(1000).describe('The time between two steps, in milliseconds'),
  }),
  output: z.object({ counted: z.number().int() }),

  async handle({ from, intervalMs }, context) {
    for (let step = 1; step <= from; step++) {
      await sleep(intervalMs, { signal: context?.signal });
      context?.reportCount(step, from, `${from - step} to go`, { audience: 'user' });
    }
    context?.endAudience('user');
    return { counted: from };
  },
});
