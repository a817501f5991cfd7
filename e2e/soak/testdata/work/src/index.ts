import { definePlugin, defineTool, sleep, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

/**
 * runningKeys are the keys of the handlers that run in this document. The attribute data-running of <html> lists
 * runningKeys for the soak.
 */
const runningKeys = new Set<string>();

/** trackRun runs a handler, reports its start to the site, and keeps its key in the list of running handlers. */
async function trackRun<T>(key: string, callback: () => Promise<T>): Promise<T> {
  runningKeys.add(key);
  showRunningKeys();
  navigator.sendBeacon('/note', `begin ${key}`);
  try {
    return await callback();
  } finally {
    runningKeys.delete(key);
    showRunningKeys();
  }
}

function showRunningKeys(): void {
  document.documentElement.dataset.running = [...runningKeys].join(' ');
}

const keySchema = z.string().describe('A unique name of the call, for the test.');
const annotations = { readOnlyHint: true, openWorldHint: false };

const echoTool = defineTool({
  name: 'echo',
  description: 'Returns the argument value.',
  icon: 'repeat',
  annotations,
  input: z.object({ key: keySchema, value: z.unknown() }),
  output: z.object({ key: z.string(), value: z.unknown() }),
  handle: ({ key, value }) => trackRun(key, async () => ({ key, value })),
});

const stepsTool = defineTool({
  name: 'steps',
  description: 'Reports count progress steps, then returns.',
  icon: 'list-ordered',
  annotations,
  input: z.object({ key: keySchema, count: z.number().int().min(1), everyMs: z.number().min(0) }),
  output: z.object({ key: z.string(), count: z.number() }),
  handle: ({ key, count, everyMs }, context) =>
    trackRun(key, async () => {
      for (let step = 1; step <= count; step++) {
        await sleep(everyMs, { signal: context?.signal });
        context?.reportCount(step, count, `step ${step}`);
      }
      return { key, count };
    }),
});

const beatTool = defineTool({
  name: 'beat',
  description: 'Reports progress without numbers every everyMs, for forMs or without end (0).',
  icon: 'heart-pulse',
  annotations,
  input: z.object({ key: keySchema, everyMs: z.number().min(1), forMs: z.number().min(0) }),
  output: z.object({ key: z.string() }),
  handle: ({ key, everyMs, forMs }, context) =>
    trackRun(key, async () => {
      const endMs = forMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + forMs;
      while (performance.now() < endMs) {
        await sleep(Math.min(everyMs, endMs - performance.now()), { signal: context?.signal });
        context?.reportProgress({ message: `alive at ${Math.round(performance.now())}` });
      }
      return { key };
    }),
});

const silentTool = defineTool({
  name: 'silent',
  description: 'Waits for forMs without progress. With ignoreAbort it ignores the abort signal.',
  icon: 'moon',
  annotations,
  input: z.object({ key: keySchema, forMs: z.number().min(0), ignoreAbort: z.boolean().default(false) }),
  output: z.object({ key: z.string() }),
  handle: ({ key, forMs, ignoreAbort }, context) =>
    trackRun(key, async () => {
      await sleep(forMs, { signal: ignoreAbort ? null : context?.signal });
      return { key };
    }),
});

const bigTool = defineTool({
  name: 'big',
  description: 'Returns a text of the given size. Each kilobyte starts with its offset.',
  icon: 'maximize',
  annotations,
  input: z.object({ key: keySchema, bytes: z.number().int().min(0) }),
  output: z.object({ key: z.string(), text: z.string() }),
  handle: ({ key, bytes }) =>
    trackRun(key, async () => {
      const lines: string[] = [];
      for (let offset = 0; offset < bytes; offset += 1024) lines.push(`${offset} `.padEnd(1024, 'x').slice(0, bytes - offset));
      return { key, text: lines.join('') };
    }),
});

const failTool = defineTool({
  name: 'fail',
  description: 'Throws a ToolError, or an Error if plain is true.',
  icon: 'x',
  annotations,
  input: z.object({ key: keySchema, plain: z.boolean().default(false) }),
  output: z.object({}),
  handle: ({ key, plain: isPlainError }) =>
    trackRun(key, async () => {
      if (isPlainError) throw new Error('a plain error');
      throw ToolError.notFound('not found', 'NOT_THERE');
    }),
});

export default definePlugin({
  tools: [echoTool, stepsTool, beatTool, silentTool, bigTool, failTool],
  isReady: () => true,
});
