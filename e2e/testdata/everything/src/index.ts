import { definePlugin, definePrompt, defineTool, sleep, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

/** sendNote sends a text to the site, where the test reads it. */
function sendNote(text: string): void {
  navigator.sendBeacon('/note', text);
}

/**
 * runWithNotes runs work and sends notes to the site: "begin KEY" at the start, and "end KEY", "stop KEY" or "fail
 * KEY".
 */
async function runWithNotes<T>(key: string, signal: AbortSignal | undefined, callback: () => Promise<T>): Promise<T> {
  if (key === '') return await callback();
  sendNote(`begin ${key}`);
  try {
    const value = await callback();
    sendNote(`end ${key}`);
    return value;
  } catch (error) {
    sendNote(`${signal?.aborted ? 'stop' : 'fail'} ${key}`);
    throw error;
  }
}

/** describeError returns the fields of a caught error. */
function describeError(error: unknown): { code: string; message: string; retryable: boolean } {
  const readField = (name: string): unknown => (typeof error === 'object' && error !== null ? Reflect.get(error, name) : '');
  return { code: String(readField('code')), message: String(readField('message')), retryable: readField('retryable') === true };
}

const audienceSchema = z.string().optional();
const keySchema = z.string().default('');
const annotations = { readOnlyHint: true };

const echoTool = defineTool({
  name: 'echo',
  description: 'Returns the argument value and the path of its page.',
  annotations,
  input: z.object({ value: z.unknown().optional() }),
  output: z.object({ value: z.unknown(), path: z.string() }),
  handle: async ({ value }) => ({ value: value ?? null, path: location.pathname }),
});

const changeTool = defineTool({
  name: 'change',
  description: 'Sends a note with the key to the site. It is not read-only.',
  input: z.object({ key: keySchema }),
  output: z.object({ changed: z.boolean() }),
  handle: async ({ key }) => {
    sendNote(`change ${key}`);
    return { changed: true };
  },
});

const stepsTool = defineTool({
  name: 'steps',
  description: 'Reports count steps, one every everyMs. Every userEvery-th step is for the audience "user".',
  annotations,
  input: z.object({
    count: z.number().int().min(0),
    everyMs: z.number().min(0),
    userEvery: z.number().int().min(0).default(0),
    endAudience: audienceSchema,
    key: keySchema,
  }),
  output: z.object({ steps: z.number() }),
  handle: async ({ count, everyMs, userEvery, endAudience, key }, context) =>
    await runWithNotes(key, context?.signal, async () => {
      if (endAudience !== undefined) context?.endAudience(endAudience);
      for (let stepNumber = 1; stepNumber <= count; stepNumber++) {
        await sleep(everyMs);
        const forUser = userEvery > 0 && stepNumber % userEvery === 0;
        context?.reportProgress({
          progress: stepNumber,
          total: count,
          message: `${forUser ? 'user' : 'internal'} step ${stepNumber}`,
          ...(forUser ? { audience: 'user' } : {}),
        });
      }
      return { steps: count };
    }),
});

const silentTool = defineTool({
  name: 'silent',
  description: 'Reports nothing for forMs, then returns.',
  annotations,
  input: z.object({ forMs: z.number().min(0), key: keySchema }),
  output: z.object({ key: z.string() }),
  handle: async ({ forMs, key }, context) =>
    await runWithNotes(key, context?.signal, async () => {
      await sleep(forMs);
      return { key };
    }),
});

const failTool = defineTool({
  name: 'fail',
  description: 'Throws a ToolError.',
  annotations,
  input: z.object({ code: z.string(), message: z.string(), retryable: z.boolean().default(false) }),
  output: z.object({}),
  handle: async ({ code, message, retryable }): Promise<Record<string, never>> => {
    throw new ToolError(message, code, { retryable });
  },
});

const showActivityTool = defineTool({
  name: 'show_activity',
  description: 'Reports one activity and returns after forMs.',
  annotations,
  input: z.object({ type: z.string(), content: z.unknown(), audience: audienceSchema, forMs: z.number().default(0) }),
  output: z.object({ shown: z.boolean() }),
  handle: async ({ type, content, audience, forMs }, context) => {
    context?.reportActivity(type, content, { audience });
    await sleep(forMs);
    return { shown: true };
  },
});

const deltasTool = defineTool({
  name: 'deltas',
  description: 'Reports a table and adds count rows in one loop. addInvalidPatch adds a patch that cannot be applied.',
  annotations,
  input: z.object({
    count: z.number().int(),
    addInvalidPatch: z.boolean().default(false),
    audience: audienceSchema,
    afterMs: z.number().default(0),
    forMs: z.number().default(0),
  }),
  output: z.object({ loopMs: z.number() }),
  handle: async ({ count, addInvalidPatch, audience, afterMs, forMs }, context) => {
    context?.reportActivity('table', { columns: ['n'], rows: [] }, { audience });
    await sleep(afterMs);
    const startMs = performance.now();
    for (let callNumber = 1; callNumber <= count; callNumber++) {
      context?.reportActivityDelta('table', { op: 'add', path: '/rows/-', value: [callNumber] }, { audience });
      if (addInvalidPatch && callNumber === Math.ceil(count / 2)) {
        context?.reportActivityDelta('table', [
          { op: 'remove', path: '/rows/0' },
          { op: 'test', path: '/columns/0', value: 'never' },
        ]);
      }
    }
    const loopMs = performance.now() - startMs;
    await sleep(forMs);
    return { loopMs };
  },
});

const loginTool = defineTool({
  name: 'login',
  description: 'Waits until the user presses Done, and reports before and after the wait.',
  annotations,
  input: z.object({ reason: z.string().default('Log in, then press Done.'), title: z.string().optional(), key: keySchema }),
  output: z.object({ loggedIn: z.boolean() }),
  handle: async ({ reason, title, key }, context) =>
    await runWithNotes(key, context?.signal, async () => {
      context?.reportProgress({ message: 'not logged in', audience: 'user' });
      await context?.waitForUser({ reason, title });
      context?.reportProgress({ message: 'logged in', audience: 'user' });
      return { loggedIn: true };
    }),
});

const waitForUserTool = defineTool({
  name: 'wait_for_user',
  description: 'Waits for the user and returns "done" or the error of the wait.',
  annotations,
  input: z.object({ reason: z.string() }),
  output: z.object({ ended: z.unknown() }),
  handle: async ({ reason }, context) => {
    try {
      await context?.waitForUser({ reason });
      return { ended: 'done' };
    } catch (error) {
      return { ended: describeError(error) };
    }
  },
});

const inputSchema = z.record(z.string(), z.unknown()).default({});

const callTool = defineTool({
  name: 'call',
  description: 'Calls another tool and returns its output. catchError returns its error, and abortAfterMs aborts the call.',
  annotations,
  input: z.object({
    tool: z.string(),
    input: inputSchema,
    catchError: z.boolean().default(false),
    abortAfterMs: z.number().optional(),
    tabId: z.number().int().optional(),
    key: keySchema,
  }),
  output: z.object({ output: z.unknown().optional(), error: z.unknown().optional() }),
  handle: async ({ tool, input, catchError, abortAfterMs, tabId, key }, context) =>
    await runWithNotes(key, context?.signal, async () => {
      const stopController = new AbortController();
      if (abortAfterMs !== undefined) setTimeout(() => stopController.abort(new Error('given up')), abortAfterMs);
      try {
        return { output: await context?.call(tool, input, { signal: stopController.signal, tabId }) };
      } catch (error) {
        if (!catchError) throw error;
        return { error: describeError(error) };
      }
    }),
});

const callManyTool = defineTool({
  name: 'call_many',
  description: 'Makes count concurrent calls of a tool, each with its number as the argument value.',
  annotations,
  input: z.object({ tool: z.string(), input: inputSchema, count: z.number().int() }),
  output: z.object({ outputs: z.array(z.unknown()) }),
  handle: async ({ tool, input, count }, context) => {
    const calls = Array.from({ length: count }, (_, callNumber) => context?.call(tool, { ...input, value: callNumber }).catch(describeError));
    return { outputs: await Promise.all(calls) };
  },
});

const callItselfTool = defineTool({
  name: 'call_itself',
  description: 'Calls itself until levels is 0, then reports and returns. With sameInput it calls itself with the same input.',
  annotations,
  input: z.object({ levels: z.number().int(), sameInput: z.boolean().default(false), forMs: z.number().default(0), key: keySchema }),
  output: z.object({ depth: z.number() }),
  handle: async ({ levels, sameInput, forMs, key }, context) =>
    await runWithNotes(key === '' ? '' : `${key}${levels}`, context?.signal, async () => {
      if (levels === 0) {
        context?.reportProgress({ message: 'no more levels' });
        await sleep(forMs);
        return { depth: 0 };
      }
      const nestedResult = await context?.call('call_itself', { levels: sameInput ? levels : levels - 1, sameInput, forMs, key });
      return { depth: 1 + Number(typeof nestedResult === 'object' && nestedResult !== null ? Reflect.get(nestedResult, 'depth') : 0) };
    }),
});

const readDecisionTool = defineTool({
  name: 'read_decision',
  description: 'Returns the decision of the user that allowed this call, or null.',
  annotations,
  input: z.object({}),
  output: z.object({ decision: z.unknown() }),
  handle: async (_, context) => ({ decision: context?.decision ?? null }),
});

const bigTool = defineTool({
  name: 'big',
  description: 'Returns a text of this many bytes.',
  annotations,
  input: z.object({ bytes: z.number().int() }),
  output: z.object({ text: z.string() }),
  handle: async ({ bytes }) => ({ text: 'x'.repeat(bytes) }),
});

const summaryPrompt = definePrompt({
  name: 'summary',
  displayName: 'Summary',
  description: 'Reports one line every everyMs and returns the number of lines.',
  args: z.object({ lines: z.number().int().describe('The number of lines.'), everyMs: z.number().default(0), key: keySchema }),
  render: async ({ lines: lineCount, everyMs, key }, context) =>
    await runWithNotes(key, context?.signal, async () => {
      for (let line = 1; line <= lineCount; line++) {
        await sleep(everyMs);
        context?.reportCount(line, lineCount, `line ${line}`);
      }
      return `Read ${lineCount} lines of ${document.title}.`;
    }),
});

export default definePlugin({
  tools: [echoTool, changeTool, stepsTool, silentTool, failTool, showActivityTool, deltasTool, loginTool, waitForUserTool, callTool, callManyTool, callItselfTool, readDecisionTool, bigTool],
  prompts: [summaryPrompt],
  isReady: () => true,
});
