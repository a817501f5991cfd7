import { definePlugin, defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { measureClockLead, readPreciseTimeMs } from './clock.ts';

const readOnlyHints = { readOnlyHint: true, openWorldHint: false };

const echoTool = defineTool({
  name: 'echo',
  description: 'Returns its text.',
  icon: 'repeat',
  annotations: readOnlyHints,
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  async handle({ text: echoedText }) {
    return { text: echoedText };
  },
});

const reportTicksTool = defineTool({
  name: 'ticks',
  description: 'Reports the current time several times.',
  icon: 'clock',
  annotations: readOnlyHints,
  input: z.object({ count: z.number().int(), everyMs: z.number() }),
  output: z.object({}),
  async handle({ count, everyMs }, context) {
    const clockLeadMs = measureClockLead();
    for (let sentReportCount = 0; sentReportCount < count; sentReportCount++) {
      if (sentReportCount > 0) await sleep(everyMs, { signal: context?.signal });
      context?.reportProgress({ message: String(readPreciseTimeMs(clockLeadMs)) });
    }
    return {};
  },
});

/** abortTimes lists when calls of the tool "wait" were aborted, in milliseconds since 1970. */
const abortTimes: number[] = [];

const waitTool = defineTool({
  name: 'wait',
  description: 'Reports once, waits until the call is cancelled, and records the time.',
  icon: 'hourglass',
  annotations: readOnlyHints,
  input: z.object({}),
  output: z.object({}),
  async handle(_, context) {
    const clockLeadMs = measureClockLead();
    const { signal } = context ?? {};
    signal?.addEventListener('abort', () => abortTimes.push(readPreciseTimeMs(clockLeadMs)), { once: true });
    context?.reportProgress({ message: 'waits' });
    await sleep(60_000, { signal });
    return {};
  },
});

const listAbortsTool = defineTool({
  name: 'aborts',
  description: 'Returns and clears the times at which calls of the tool "wait" were cancelled.',
  icon: 'list',
  annotations: readOnlyHints,
  input: z.object({}),
  output: z.object({ abortsMs: z.array(z.number()) }),
  async handle() {
    return { abortsMs: abortTimes.splice(0) };
  },
});

export default definePlugin({
  tools: [echoTool, reportTicksTool, waitTool, listAbortsTool],
  isReady: () => true,
});
