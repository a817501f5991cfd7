import { definePlugin, defineTool, sleep, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

/** What runs in this document, by the caller's key: the attribute data-running of <html> lists it for the soak. */
const running = new Set<string>();

/** kept reports to the site that a handler has started or ended, and updates the list of running handlers. */
async function kept<T>(key: string, work: () => Promise<T>): Promise<T> {
  running.add(key);
  show();
  navigator.sendBeacon('/note', `begin ${key}`);
  try {
    return await work();
  } finally {
    running.delete(key);
    show();
  }
}

function show(): void {
  document.documentElement.dataset.running = [...running].join(' ');
}

const key = z.string().describe('Names the call in the books');
const annotations = { readOnlyHint: true, openWorldHint: false };

const echo = defineTool({
  name: 'echo',
  description: 'Returns what it is given.',
  icon: 'repeat',
  annotations,
  input: z.object({ key, value: z.unknown() }),
  output: z.object({ key: z.string(), value: z.unknown() }),
  handle: ({ key, value }) => kept(key, async () => ({ key, value })),
});

const steps = defineTool({
  name: 'steps',
  description: 'Reports progress step by step, then returns.',
  icon: 'list-ordered',
  annotations,
  input: z.object({ key, count: z.number().int().min(1), everyMs: z.number().min(0) }),
  output: z.object({ key: z.string(), count: z.number() }),
  handle: ({ key, count, everyMs }, context) =>
    kept(key, async () => {
      for (let done = 1; done <= count; done++) {
        await sleep(everyMs, { signal: context?.signal });
        context?.reportCount(done, count, `step ${done}`);
      }
      return { key, count };
    }),
});

const beat = defineTool({
  name: 'beat',
  description: 'Reports that it is alive, for a time or for ever (0).',
  icon: 'heart-pulse',
  annotations,
  input: z.object({ key, everyMs: z.number().min(1), forMs: z.number().min(0) }),
  output: z.object({ key: z.string() }),
  handle: ({ key, everyMs, forMs }, context) =>
    kept(key, async () => {
      const end = forMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + forMs;
      while (performance.now() < end) {
        await sleep(Math.min(everyMs, end - performance.now()), { signal: context?.signal });
        context?.reportProgress({ message: `alive at ${Math.round(performance.now())}` });
      }
      return { key };
    }),
});

const silent = defineTool({
  name: 'silent',
  description: 'Waits without a word; deaf also ignores the stop.',
  icon: 'moon',
  annotations,
  input: z.object({ key, forMs: z.number().min(0), deaf: z.boolean().default(false) }),
  output: z.object({ key: z.string() }),
  handle: ({ key, forMs, deaf }, context) =>
    kept(key, async () => {
      await sleep(forMs, { signal: deaf ? null : context?.signal });
      return { key };
    }),
});

const big = defineTool({
  name: 'big',
  description: 'Returns a text of the given size, each kilobyte beginning with its number.',
  icon: 'maximize',
  annotations,
  input: z.object({ key, bytes: z.number().int().min(0) }),
  output: z.object({ key: z.string(), text: z.string() }),
  handle: ({ key, bytes }) =>
    kept(key, async () => {
      const lines: string[] = [];
      for (let at = 0; at < bytes; at += 1024) lines.push(`${at} `.padEnd(1024, 'x').slice(0, bytes - at));
      return { key, text: lines.join('') };
    }),
});

const fail = defineTool({
  name: 'fail',
  description: 'Throws.',
  icon: 'x',
  annotations,
  input: z.object({ key, plain: z.boolean().default(false) }),
  output: z.object({}),
  handle: ({ key, plain }) =>
    kept(key, async () => {
      if (plain) throw new Error('plain trouble');
      throw ToolError.notFound('nothing there', 'NOT_THERE');
    }),
});

export default definePlugin({
  tools: [echo, steps, beat, silent, big, fail],
  isReady: () => true,
});
