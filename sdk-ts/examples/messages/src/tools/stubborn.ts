import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { recordAbort } from '../record-abort.ts';

export const stubborn = defineTool({
  name: 'stubborn',
  description: 'Waits to the end even if it is told to stop.',
  icon: 'shield-alert',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ forMs: z.number().min(0).describe('How long to wait, in milliseconds') }),
  output: z.object({ waitedMs: z.number(), toldToStop: z.boolean() }),

  async handle({ forMs }, context) {
    recordAbort(context?.signal);
    await sleep(forMs, { signal: null });
    return { waitedMs: forMs, toldToStop: context?.signal.aborted ?? false };
  },
});
