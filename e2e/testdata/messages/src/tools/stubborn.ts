import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { recordAbort } from '../record-abort.ts';

export const stubbornTool = defineTool({
  name: 'stubborn',
  description: 'Waits to the end even if the call is stopped.',
  icon: 'shield-alert',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ forMs: z.number().min(0).describe('How long to wait, in milliseconds') }),
  output: z.object({ waitedMs: z.number(), stopReceived: z.boolean() }),

  async handle({ forMs }, context) {
    recordAbort(context?.signal);
    await sleep(forMs, { signal: null });
    return { waitedMs: forMs, stopReceived: context?.signal.aborted ?? false };
  },
});
