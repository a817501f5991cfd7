import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { recordAbort } from '../record-abort.ts';

export const heartbeatTool = defineTool({
  name: 'heartbeat',
  description: 'Sends reports without numbers at a fixed interval.',
  icon: 'heart-pulse',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    everyMs: z.number().min(1).describe('The time between two reports, in milliseconds'),
    forMs: z
      .number()
      .min(0)
      .default(0)
      .describe('How long to continue, in milliseconds; 0 means until the call is stopped'),
  }),
  output: z.object({ beats: z.number().int() }),

  async handle({ everyMs, forMs }, context) {
    recordAbort(context?.signal);
    const startedAt = performance.now();
    const remainingMs = () => (forMs === 0 ? Number.POSITIVE_INFINITY : forMs - (performance.now() - startedAt));
    let beatCount = 0;
    while (remainingMs() > 0) {
      await sleep(Math.min(everyMs, remainingMs()), { signal: context?.signal });
      beatCount++;
      context?.reportProgress({ message: `beat ${beatCount}` });
    }
    return { beats: beatCount };
  },
});
