import { definePlugin, defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { clockAhead, preciseNow } from './clock.ts';

const readOnly = { readOnlyHint: true, openWorldHint: false };

const echo = defineTool({
  name: 'echo',
  description: 'Returns its text.',
  icon: 'repeat',
  annotations: readOnly,
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  async handle({ text }) {
    return { text };
  },
});

const ticks = defineTool({
  name: 'ticks',
  description: 'Reports the time again and again.',
  icon: 'clock',
  annotations: readOnly,
  input: z.object({ count: z.number().int(), everyMs: z.number() }),
  output: z.object({}),
  async handle({ count, everyMs }, context) {
    const ahead = clockAhead();
    for (let sent = 0; sent < count; sent++) {
      if (sent > 0) await sleep(everyMs, { signal: context?.signal });
      context?.reportProgress({ message: String(preciseNow(ahead)) });
    }
    return {};
  },
});

/** abortsMs are the times at which signals of wait fired, in milliseconds since 1970. */
const abortsMs: number[] = [];

const wait = defineTool({
  name: 'wait',
  description: 'Reports once, then waits until it is cancelled, and notes when that was.',
  icon: 'hourglass',
  annotations: readOnly,
  input: z.object({}),
  output: z.object({}),
  async handle(_, context) {
    const ahead = clockAhead();
    const { signal } = context ?? {};
    signal?.addEventListener('abort', () => abortsMs.push(preciseNow(ahead)), { once: true });
    context?.reportProgress({ message: 'waits' });
    await sleep(60_000, { signal });
    return {};
  },
});

const aborts = defineTool({
  name: 'aborts',
  description: 'Returns when the signals of wait fired, and forgets it.',
  icon: 'list',
  annotations: readOnly,
  input: z.object({}),
  output: z.object({ abortsMs: z.array(z.number()) }),
  async handle() {
    return { abortsMs: abortsMs.splice(0) };
  },
});

export default definePlugin({
  tools: [echo, ticks, wait, aborts],
  isReady: () => true,
});
