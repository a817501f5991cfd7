import { definePlugin, definePrompt, defineTool, sleep, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

/** note tells the site something; the test reads it there. */
function note(text: string): void {
  navigator.sendBeacon('/note', text);
}

/** kept notes when work with a key begins, and how it ended: "begin k", then "end k" or "stop k". */
async function kept<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (key === '') return await work();
  note(`begin ${key}`);
  try {
    const value = await work();
    note(`end ${key}`);
    return value;
  } catch (error) {
    note(`${signal?.aborted ? 'stop' : 'fail'} ${key}`);
    throw error;
  }
}

/** codeOf says what a handler can tell of an error that it caught. */
function codeOf(error: unknown): { code: string; message: string; retryable: boolean } {
  const of = (name: string): unknown => (typeof error === 'object' && error !== null ? Reflect.get(error, name) : '');
  return { code: String(of('code')), message: String(of('message')), retryable: of('retryable') === true };
}

const audience = z.string().optional();
const key = z.string().default('');
const annotations = { readOnlyHint: true };

const echo = defineTool({
  name: 'echo',
  description: 'Returns what it is given, and where it ran.',
  annotations,
  input: z.object({ value: z.unknown().optional() }),
  output: z.object({ value: z.unknown(), path: z.string() }),
  handle: async ({ value }) => ({ value: value ?? null, path: location.pathname }),
});

const change = defineTool({
  name: 'change',
  description: 'Changes something: adds a line to the site, with the key.',
  input: z.object({ key }),
  output: z.object({ changed: z.boolean() }),
  handle: async ({ key }) => {
    note(`change ${key}`);
    return { changed: true };
  },
});

const steps = defineTool({
  name: 'steps',
  description: 'Reports steps, each after some milliseconds. every marks each so-many-th step for the audience "user".',
  annotations,
  input: z.object({
    count: z.number().int().min(0),
    everyMs: z.number().min(0),
    every: z.number().int().min(0).default(0),
    endAudience: audience,
    key,
  }),
  output: z.object({ steps: z.number() }),
  handle: async ({ count, everyMs, every, endAudience, key }, context) =>
    await kept(key, context?.signal, async () => {
      if (endAudience !== undefined) context?.endAudience(endAudience);
      for (let step = 1; step <= count; step++) {
        await sleep(everyMs);
        const forUser = every > 0 && step % every === 0;
        context?.reportProgress({
          progress: step,
          total: count,
          message: `${forUser ? 'user' : 'internal'} step ${step}`,
          ...(forUser ? { audience: 'user' } : {}),
        });
      }
      return { steps: count };
    }),
});

const silent = defineTool({
  name: 'silent',
  description: 'Says nothing for some milliseconds.',
  annotations,
  input: z.object({ forMs: z.number().min(0), key }),
  output: z.object({ key: z.string() }),
  handle: async ({ forMs, key }, context) =>
    await kept(key, context?.signal, async () => {
      await sleep(forMs);
      return { key };
    }),
});

const fail = defineTool({
  name: 'fail',
  description: 'Throws a ToolError.',
  annotations,
  input: z.object({ code: z.string(), message: z.string(), retryable: z.boolean().default(false) }),
  output: z.object({}),
  handle: async ({ code, message, retryable }): Promise<Record<string, never>> => {
    throw new ToolError(message, code, { retryable });
  },
});

const show = defineTool({
  name: 'show',
  description: 'Shows one activity for some milliseconds.',
  annotations,
  input: z.object({ type: z.string(), content: z.unknown(), audience, forMs: z.number().default(0) }),
  output: z.object({ shown: z.boolean() }),
  handle: async ({ type, content, audience, forMs }, context) => {
    context?.reportActivity(type, content, { audience });
    await sleep(forMs);
    return { shown: true };
  },
});

const deltas = defineTool({
  name: 'deltas',
  description: 'Shows a table and adds rows to it in one loop, without ending the task; bad adds a patch that never fits.',
  annotations,
  input: z.object({
    count: z.number().int(),
    bad: z.boolean().default(false),
    audience,
    afterMs: z.number().default(0),
    forMs: z.number().default(0),
  }),
  output: z.object({ tookMs: z.number() }),
  handle: async ({ count, bad, audience, afterMs, forMs }, context) => {
    context?.reportActivity('table', { columns: ['n'], rows: [] }, { audience });
    await sleep(afterMs);
    const began = performance.now();
    for (let n = 1; n <= count; n++) {
      context?.reportActivityDelta('table', { op: 'add', path: '/rows/-', value: [n] }, { audience });
      if (bad && n === Math.ceil(count / 2)) {
        context?.reportActivityDelta('table', [
          { op: 'remove', path: '/rows/0' },
          { op: 'test', path: '/columns/0', value: 'never' },
        ]);
      }
    }
    const tookMs = performance.now() - began;
    await sleep(forMs);
    return { tookMs };
  },
});

const login = defineTool({
  name: 'login',
  description: 'Waits for a person to log in; the person does so by the button of the page, if there is one.',
  annotations,
  input: z.object({ reason: z.string().default('Log in, then press Done.'), title: z.string().optional(), key }),
  output: z.object({ loggedIn: z.boolean() }),
  handle: async ({ reason, title, key }, context) =>
    await kept(key, context?.signal, async () => {
      context?.reportProgress({ message: 'not logged in', audience: 'user' });
      await context?.waitForUser({ reason, title });
      context?.reportProgress({ message: 'logged in', audience: 'user' });
      return { loggedIn: true };
    }),
});

const ask = defineTool({
  name: 'ask',
  description: 'Waits for a person and returns how that ended.',
  annotations,
  input: z.object({ reason: z.string() }),
  output: z.object({ ended: z.unknown() }),
  handle: async ({ reason }, context) => {
    try {
      await context?.waitForUser({ reason });
      return { ended: 'done' };
    } catch (error) {
      return { ended: codeOf(error) };
    }
  },
});

const input = z.record(z.string(), z.unknown()).default({});

const call = defineTool({
  name: 'call',
  description: 'Calls another tool and returns what that returned; caught returns why it failed; giveUpMs withdraws it.',
  annotations,
  input: z.object({
    tool: z.string(),
    input,
    caught: z.boolean().default(false),
    giveUpMs: z.number().optional(),
    tabId: z.number().int().optional(),
    key,
  }),
  output: z.object({ output: z.unknown().optional(), error: z.unknown().optional() }),
  handle: async ({ tool, input, caught, giveUpMs, tabId, key }, context) =>
    await kept(key, context?.signal, async () => {
      const stop = new AbortController();
      if (giveUpMs !== undefined) setTimeout(() => stop.abort(new Error('given up')), giveUpMs);
      try {
        return { output: await context?.call(tool, input, { signal: stop.signal, tabId }) };
      } catch (error) {
        if (!caught) throw error;
        return { error: codeOf(error) };
      }
    }),
});

const callMany = defineTool({
  name: 'call_many',
  description: 'Calls a tool several times at once; each input gets its number as value.',
  annotations,
  input: z.object({ tool: z.string(), input, count: z.number().int() }),
  output: z.object({ outputs: z.array(z.unknown()) }),
  handle: async ({ tool, input, count }, context) => {
    const all = Array.from({ length: count }, (_, n) => context?.call(tool, { ...input, value: n }).catch(codeOf));
    return { outputs: await Promise.all(all) };
  },
});

const deep = defineTool({
  name: 'deep',
  description: 'Calls itself until levels is 0, then reports and returns; same calls itself with the same input for ever.',
  annotations,
  input: z.object({ levels: z.number().int(), same: z.boolean().default(false), forMs: z.number().default(0), key }),
  output: z.object({ depth: z.number() }),
  handle: async ({ levels, same, forMs, key }, context) =>
    await kept(key === '' ? '' : `${key}${levels}`, context?.signal, async () => {
      if (levels === 0) {
        context?.reportProgress({ message: 'at the bottom' });
        await sleep(forMs);
        return { depth: 0 };
      }
      const below = await context?.call('deep', { levels: same ? levels : levels - 1, same, forMs, key });
      return { depth: 1 + Number(typeof below === 'object' && below !== null ? Reflect.get(below, 'depth') : 0) };
    }),
});

const decided = defineTool({
  name: 'decided',
  description: 'Returns what a person decided before it ran.',
  annotations,
  input: z.object({}),
  output: z.object({ decision: z.unknown() }),
  handle: async (_, context) => ({ decision: context?.decision ?? null }),
});

const big = defineTool({
  name: 'big',
  description: 'Returns a text of so many bytes.',
  annotations,
  input: z.object({ bytes: z.number().int() }),
  output: z.object({ text: z.string() }),
  handle: async ({ bytes }) => ({ text: 'x'.repeat(bytes) }),
});

const summary = definePrompt({
  name: 'summary',
  displayName: 'Summary',
  description: 'A text with so many lines, each made in some milliseconds.',
  args: z.object({ lines: z.number().int().describe('How many lines'), everyMs: z.number().default(0), key }),
  render: async ({ lines, everyMs, key }, context) =>
    await kept(key, context?.signal, async () => {
      for (let line = 1; line <= lines; line++) {
        await sleep(everyMs);
        context?.reportCount(line, lines, `line ${line}`);
      }
      return `Read ${lines} lines of ${document.title}.`;
    }),
});

export default definePlugin({
  tools: [echo, change, steps, silent, fail, show, deltas, login, ask, call, callMany, deep, decided, big],
  prompts: [summary],
  isReady: () => true,
});
