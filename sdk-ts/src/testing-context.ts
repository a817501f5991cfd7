import type {
  Decision,
  NestedCallOptions,
  PatchOperation,
  ProgressAudience,
  ProgressOptions,
  ToolHandlerContext,
  UserRequest,
} from './context.ts';
import { applyPatch } from './json-patch.ts';
import { isBag, isMethod, messageOf } from './runtime/value.ts';
import { ToolError } from './tool-error.ts';

/** How the call that a test makes goes on. Whatever is absent goes well. */
export interface ContextScript {
  /**
   * What `context.call` gets, by the tool's name as the handler writes it: the result itself, or a function of the input
   * that returns it or throws. A tool that is absent rejects with `unknown_tool`.
   */
  tools?: Readonly<Record<string, unknown>> | undefined;
  /** What the person does whom `context.waitForUser` asks: `done` if absent, or a function that does it or throws. */
  user?: 'done' | 'deny' | 'timeout' | ((request: UserRequest) => void | Promise<void>) | undefined;
  /** What `context.decision` is. */
  decision?: Decision | undefined;
  /** Stops the call as soon as this many reports were made, activities among them. */
  stopAtReport?: number | undefined;
}

/** One change of an activity. Exactly one of `content` and `patch` is there. */
export interface RecordedActivity {
  type: string;
  content?: unknown;
  patch?: readonly PatchOperation[];
  audience?: ProgressAudience | undefined;
}

/** One `context.call`. */
export interface RecordedCall {
  tool: string;
  input: unknown;
  tabId?: number | undefined;
}

/** A context for tests: it keeps what a handler does with it, and answers by a script. */
export interface TestContext extends ToolHandlerContext {
  /** The progress reports, in order and as they were made. */
  readonly reports: readonly ProgressOptions[];
  /** The changes of activities, in order. */
  readonly activities: readonly RecordedActivity[];
  readonly calls: readonly RecordedCall[];
  readonly userRequests: readonly UserRequest[];
  /** What a browser would have dropped without a word, such as a patch that does not apply: a sentence each. */
  readonly dropped: readonly string[];
  /** Who the end of the call is for. */
  readonly endedFor: ProgressAudience;
  /** Returns what an activity shows now, with all patches applied; undefined if there is none of this type. */
  activity(type: string): unknown;
  /** Stops the call, as a person or a timeout would. */
  stop(reason?: string): void;
}

/** The limits of the browser and the server. */
const maxActivityBytes = 256 * 1024;
const maxActivityTypes = 16;

/**
 * Makes a context for one call of a handler or of a prompt's `render`. `told` is called after each report.
 *
 * @example
 * const context = makeContext({ tools: { list_channels: { channels: [] } }, stopAtReport: 3 });
 * await assert.rejects(exportAll.handle({}, context), { code: 'aborted' });
 */
export function makeContext(script: ContextScript = {}, told: () => void = () => undefined): TestContext {
  const controller = new AbortController();
  const { signal } = controller;
  const reports: ProgressOptions[] = [];
  const calls: RecordedCall[] = [];
  const userRequests: UserRequest[] = [];
  let endedFor: ProgressAudience = 'internal';
  const stop = (reason = 'stopped by the test') => controller.abort(new DOMException(reason, 'AbortError'));
  const shown = makeActivities();
  const reported = () => {
    told();
    if (reports.length + shown.changes.length === script.stopAtReport) stop();
  };
  const report = (options: ProgressOptions) => {
    reports.push(options);
    reported();
  };
  return {
    signal,
    decision: script.decision,
    reports,
    activities: shown.changes,
    calls,
    userRequests,
    dropped: shown.dropped,
    get endedFor() {
      return endedFor;
    },
    activity: (type) => shown.contents.get(type),
    stop,
    reportProgress: report,
    reportPercent: (percent, message, options) => report({ percent, message, ...options }),
    reportCount: (done, total, message, options) => report({ progress: done, total, message, ...options }),
    reportActivity: (type, content, options) => {
      shown.replace(type, content, options?.audience);
      reported();
    },
    reportActivityDelta: (type, patch, options) => {
      shown.change(type, patch, options?.audience);
      reported();
    },
    endAudience: (audience) => {
      endedFor = audience;
    },
    call: async (tool, input = {}, options = {}) => {
      const call = recordedCall(tool, input, options);
      return await unlessStopped([signal, options.signal], () => {
        calls.push(call);
        return answerOf(script.tools, call);
      });
    },
    waitForUser: async (request) => {
      if (typeof request?.reason !== 'string' || request.reason === '') {
        throw new ToolError('waitForUser: reason must say what the person should do', 'invalid_arguments');
      }
      await unlessStopped([signal], () => {
        userRequests.push(request);
        return userDoes(script.user, request);
      });
    },
  };
}

/** The activities of one call, as a browser and the server keep them. */
function makeActivities() {
  const changes: RecordedActivity[] = [];
  const contents = new Map<string, unknown>();
  const dropped: string[] = [];

  /** Shows what `make` returns, and keeps the change; or keeps what is wrong with it. */
  const show = (type: string, make: () => { content: unknown; change: RecordedActivity }) => {
    try {
      if (!contents.has(type) && contents.size === maxActivityTypes) {
        throw new Error(`a call has up to ${maxActivityTypes} activities`);
      }
      const { content, change } = make();
      contents.set(type, asJson(content));
      changes.push(change);
    } catch (error) {
      dropped.push(`activity ${type}: ${messageOf(error)}`);
    }
  };
  const replace = (type: string, given: unknown, audience: ProgressAudience | undefined) =>
    show(type, () => {
      const content = asJson(given);
      return { content, change: { type, content, audience } };
    });
  const change = (type: string, given: PatchOperation | readonly PatchOperation[], audience?: ProgressAudience) =>
    show(type, () => {
      if (!contents.has(type)) throw new Error('there is nothing to patch yet; call reportActivity first');
      const patch = structuredClone(Array.isArray(given) ? given : [given]);
      asJson(patch);
      return { content: applyPatch(contents.get(type), patch), change: { type, patch, audience } };
    });
  return { changes, contents, dropped, replace, change };
}

/** Returns `value` as it is once it has been JSON. It throws for what JSON can't hold and for too much of it. */
function asJson(value: unknown): unknown {
  const text = jsonText(value);
  if (text === undefined) throw new Error('JSON can not hold it');
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > maxActivityBytes) throw new Error(`it has ${bytes} bytes; the limit is ${maxActivityBytes}`);
  return JSON.parse(text);
}

/** Writes `value` as a browser does, a bigint as a number; undefined for what JSON leaves out. */
function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
}

function recordedCall(tool: string, input: unknown, { tabId }: NestedCallOptions): RecordedCall {
  if (!isBag(input) || Array.isArray(input)) {
    throw new ToolError(`call: the input of ${tool} must be an object`, 'invalid_arguments');
  }
  return { tool, input: JSON.parse(jsonText(input) ?? '{}'), ...(tabId !== undefined && { tabId }) };
}

/** Returns what the script says of a tool, as it comes back from another page. */
async function answerOf(tools: ContextScript['tools'], { tool, input }: RecordedCall): Promise<unknown> {
  if (!tools || !Object.hasOwn(tools, tool)) {
    throw new ToolError(`the script has no tool ${tool}; add it to makeContext({ tools: {...} })`, 'unknown_tool');
  }
  const answer = tools[tool];
  try {
    const result = isMethod(answer) ? await answer(input) : answer;
    const text = jsonText(result);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError(messageOf(error), 'tool_error');
  }
}

async function userDoes(user: ContextScript['user'], request: UserRequest): Promise<void> {
  if (user === 'deny') throw new ToolError('the person refused', 'user_denied');
  if (user === 'timeout') throw new ToolError('nobody answered', 'user_timeout');
  if (typeof user === 'function') await user(request);
}

/** Runs `work`, or rejects as soon as the first of the signals aborts. */
function unlessStopped<T>(signals: readonly (AbortSignal | undefined)[], work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    for (const signal of signals) {
      if (signal?.aborted) {
        reject(ToolError.aborted(signal.reason));
        over.abort();
        return;
      }
      signal?.addEventListener('abort', () => reject(ToolError.aborted(signal.reason)), {
        once: true,
        signal: over.signal,
      });
    }
    work()
      .then(resolve, reject)
      .finally(() => over.abort());
  });
}
