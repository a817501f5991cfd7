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
import { hasProperties, isMethod, readMessage } from './runtime/value.ts';
import { ToolError } from './tool-error.ts';

/**
 * How other tools and the user behave while a test calls a tool's handler. By default, the user confirms every request,
 * and calls of other tools fail.
 */
export interface ContextScript {
  /**
   * The results of `context.call`, keyed by the tool name that the handler passes to `context.call`. The value for a
   * tool is its result, or a function that receives the tool's input and returns a result or throws. Calls of any other
   * tool reject with `unknown_tool`.
   */
  tools?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The user's answer to `context.waitForUser`; the default is `done`. A function as the answer simulates the user's
   * actions in the page. If the function throws an error, `waitForUser` rejects with that error.
   */
  user?: 'done' | 'deny' | 'timeout' | ((request: UserRequest) => void | Promise<void>) | undefined;
  /** The value of `context.decision` in the handler. */
  decision?: Decision | undefined;
  /**
   * Cancels the call after `stopAtReport` progress reports. For `stopAtReport`, each change of an activity also counts
   * as a progress report.
   */
  stopAtReport?: number | undefined;
}

/** One recorded change of an activity: `content` for a replacement, or `patch` for a JSON Patch. */
export interface RecordedActivity {
  type: string;
  content?: unknown;
  patch?: readonly PatchOperation[];
  audience?: ProgressAudience | undefined;
}

/** One recorded call of `context.call`. */
export interface RecordedCall {
  tool: string;
  input: unknown;
  tabId?: number | undefined;
}

/**
 * A handler's context for tests, which records what the handler does, and answers as the test's {@link ContextScript}
 * specifies.
 */
export interface TestContext extends ToolHandlerContext {
  /** All progress reports of the handler, unchanged and in order. */
  readonly reports: readonly ProgressOptions[];
  /** All changes that the handler made to activities, in order. */
  readonly activities: readonly RecordedActivity[];
  readonly calls: readonly RecordedCall[];
  readonly userRequests: readonly UserRequest[];
  /**
   * One sentence for each progress report or activity that the extension would drop silently, such as a patch that does
   * not apply.
   */
  readonly dropped: readonly string[];
  /** The audience that the handler passed to `endAudience`; `internal` by default. */
  readonly endedFor: ProgressAudience;
  /**
   * Returns the content of the activity `type` with all patches applied, or undefined if the handler reported no such
   * activity.
   */
  activity(type: string): unknown;
  /** Aborts the context's signal, as when the user cancels the call or the call times out. */
  stop(reason?: string): void;
}

/** The extension and the server limit the activities of a call in the same way. */
const maxActivityBytes = 256 * 1024;
const maxActivityTypes = 16;

/**
 * Creates a context for one test of a tool's handler or a prompt's `render`. Calls `onReport` after each progress
 * report.
 *
 * @example
 * const context = makeContext({ tools: { list_channels: { channels: [] } }, stopAtReport: 3 });
 * await assert.rejects(exportAll.handle({}, context), { code: 'aborted' });
 */
export function makeContext(script: ContextScript = {}, onReport: () => void = () => undefined): TestContext {
  const controller = new AbortController();
  const { signal } = controller;
  const reports: ProgressOptions[] = [];
  const calls: RecordedCall[] = [];
  const userRequests: UserRequest[] = [];
  let endedFor: ProgressAudience = 'internal';
  const stopCall = (reason = 'stopped by the test') => controller.abort(new DOMException(reason, 'AbortError'));
  const activities = makeActivityStore();
  const recordReport = () => {
    onReport();
    if (reports.length + activities.changes.length === script.stopAtReport) stopCall();
  };
  const report = (options: ProgressOptions) => {
    reports.push(options);
    recordReport();
  };
  return {
    signal,
    decision: script.decision,
    reports,
    activities: activities.changes,
    calls,
    userRequests,
    dropped: activities.dropped,
    get endedFor() {
      return endedFor;
    },
    activity: (type) => activities.contents.get(type),
    stop: stopCall,
    reportProgress: report,
    reportPercent: (percent, message, options) => report({ percent, message, ...options }),
    reportCount: (done, total, message, options) => report({ progress: done, total, message, ...options }),
    reportActivity: (type, content, options) => {
      activities.replace(type, content, options?.audience);
      recordReport();
    },
    reportActivityDelta: (type, patch, options) => {
      activities.change(type, patch, options?.audience);
      recordReport();
    },
    endAudience: (audience) => {
      endedFor = audience;
    },
    call: async (tool, input = {}, options = {}) => {
      const recordedCall = makeRecordedCall(tool, input, options);
      return await runUnlessStopped([signal, options.signal], () => {
        calls.push(recordedCall);
        return resolveToolResult(script.tools, recordedCall);
      });
    },
    waitForUser: async (request) => {
      if (typeof request?.reason !== 'string' || request.reason === '') {
        throw new ToolError('waitForUser: reason must describe what the user should do', 'invalid_arguments');
      }
      await runUnlessStopped([signal], () => {
        userRequests.push(request);
        return answerUserRequest(script.user, request);
      });
    },
  };
}

function makeActivityStore() {
  const recordedChanges: RecordedActivity[] = [];
  const contentByType = new Map<string, unknown>();
  const droppedReports: string[] = [];

  const applyChange = (type: string, makeChange: () => { content: unknown; change: RecordedActivity }) => {
    try {
      if (!contentByType.has(type) && contentByType.size === maxActivityTypes) {
        throw new Error(`a call has up to ${maxActivityTypes} activities`);
      }
      const { content, change: recordedChange } = makeChange();
      contentByType.set(type, toJsonValue(content));
      recordedChanges.push(recordedChange);
    } catch (error) {
      droppedReports.push(`activity ${type}: ${readMessage(error)}`);
    }
  };
  const replaceActivity = (type: string, value: unknown, audience: ProgressAudience | undefined) =>
    applyChange(type, () => {
      const content = toJsonValue(value);
      return { content, change: { type, content, audience } };
    });
  const recordedChange = (
    type: string,
    patchOrOperation: PatchOperation | readonly PatchOperation[],
    audience?: ProgressAudience,
  ) =>
    applyChange(type, () => {
      if (!contentByType.has(type)) throw new Error('there is no content to patch; call reportActivity first');
      const patch = structuredClone(Array.isArray(patchOrOperation) ? patchOrOperation : [patchOrOperation]);
      toJsonValue(patch);
      return { content: applyPatch(contentByType.get(type), patch), change: { type, patch, audience } };
    });
  return {
    changes: recordedChanges,
    contents: contentByType,
    dropped: droppedReports,
    replace: replaceActivity,
    change: recordedChange,
  };
}

/** toJsonValue throws if JSON cannot represent the value, or if the JSON is larger than 256 KiB. */
function toJsonValue(value: unknown): unknown {
  const json = toJsonText(value);
  if (json === undefined) throw new Error('the content is not JSON');
  const bytes = new TextEncoder().encode(json).length;
  if (bytes > maxActivityBytes) throw new Error(`the content has ${bytes} bytes; the limit is ${maxActivityBytes}`);
  return JSON.parse(json);
}

function toJsonText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
}

function makeRecordedCall(tool: string, input: unknown, { tabId }: NestedCallOptions): RecordedCall {
  if (!hasProperties(input) || Array.isArray(input)) {
    throw new ToolError(`call: the input of ${tool} must be an object`, 'invalid_arguments');
  }
  return { tool, input: JSON.parse(toJsonText(input) ?? '{}'), ...(tabId !== undefined && { tabId }) };
}

/** resolveToolResult converts the result to JSON and back, as the extension does with a result from another page. */
async function resolveToolResult(tools: ContextScript['tools'], { tool, input }: RecordedCall): Promise<unknown> {
  if (!tools || !Object.hasOwn(tools, tool)) {
    throw new ToolError(`the script has no tool ${tool}; add it to makeContext({ tools: {...} })`, 'unknown_tool');
  }
  const mockedTool = tools[tool];
  try {
    const result = isMethod(mockedTool) ? await mockedTool(input) : mockedTool;
    const text = toJsonText(result);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError(readMessage(error), 'tool_error');
  }
}

async function answerUserRequest(userBehavior: ContextScript['user'], request: UserRequest): Promise<void> {
  if (userBehavior === 'deny') throw new ToolError('the user declined', 'user_denied');
  if (userBehavior === 'timeout') throw new ToolError('the user did not answer', 'user_timeout');
  if (typeof userBehavior === 'function') await userBehavior(request);
}

function runUnlessStopped<T>(
  abortSignals: readonly (AbortSignal | undefined)[],
  callback: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settledController = new AbortController();
    for (const signal of abortSignals) {
      if (signal?.aborted) {
        reject(ToolError.aborted(signal.reason));
        settledController.abort();
        return;
      }
      signal?.addEventListener('abort', () => reject(ToolError.aborted(signal.reason)), {
        once: true,
        signal: settledController.signal,
      });
    }
    callback()
      .then(resolve, reject)
      .finally(() => settledController.abort());
  });
}
