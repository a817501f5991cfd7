import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { recordAbort } from '../record-abort.ts';

export const silentTool = defineTool({
  name: 'silent',
  description: 'Waits without a report, so that a long wait ends with an idle timeout.',
  icon: 'volume-x',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ forMs: z.number().min(0).describe('How long to wait, in milliseconds') }),
  output: z.object({ waitedMs: z.number() }),

  async handle({ forMs }, context) {
    recordAbort(context?.signal);
    await sleep(forMs, { signal: context?.signal });
    return { waitedMs: forMs };
  },
});
