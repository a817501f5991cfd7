import { definePlugin, defineTool } from '@opentabs/sdk';
import { z } from 'zod';

const spinTool = defineTool({
  name: 'spin',
  description: 'Blocks the thread of the page for ms milliseconds.',
  input: z.object({ ms: z.number() }),
  output: z.object({ spun: z.boolean() }),
  handle: async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    // A synchronous request blocks the thread without using CPU time. The test site answers this request after `ms`
    // milliseconds.
    const request = new XMLHttpRequest();
    request.open('GET', `/api/channels/slow-1-${ms}/messages`, false);
    request.send();
    return { spun: true };
  },
});

const waitTool = defineTool({
  name: 'wait',
  description: 'Waits for ms milliseconds and reports progress every 100 ms.',
  input: z.object({ ms: z.number() }),
  output: z.object({ path: z.string() }),
  handle: async ({ ms }, context) => {
    const endMs = Date.now() + ms;
    while (Date.now() < endMs) {
      context?.reportProgress({ message: 'waiting' });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { path: location.pathname };
  },
});

const startCountsByKey: Record<string, number> = {};

const countStartsTool = defineTool({
  name: 'count_starts',
  description: 'Counts its starts by key, and returns the counts of all keys.',
  input: z.object({ key: z.string() }),
  output: z.object({ startCountsByKey: z.record(z.string(), z.number()) }),
  handle: async ({ key }) => {
    startCountsByKey[key] = (startCountsByKey[key] ?? 0) + 1;
    return { startCountsByKey };
  },
});

export default definePlugin({
  tools: [spinTool, waitTool, countStartsTool],
  isReady: () => true,
});
