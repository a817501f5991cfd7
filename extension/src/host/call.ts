import { makeMissingResultHint } from '../../../sdk-ts/src/runtime/hints.ts';
import { CancelTimeoutMs } from '../../../wire/wire.gen.ts';
import { type Activities, makeActivities } from './activity.ts';
import { type Cancellation, makeCancellation } from './cancellation.ts';
import { makeContext } from './context.ts';
import { makeAbortedError, makeFailureText, makeSimpleToolError, makeThrownText } from './failure.ts';
import { type LoggedFailure, makeThrownFailure } from './failure-log.ts';
import { makeObjectText } from './json.ts';
import { parseArguments } from './parse.ts';
import {
  apply,
  construct,
  hasOwn,
  isArray,
  isFn,
  isFrozen,
  isObject,
  lookup,
  makeBareObject,
  NativeDOMException,
  nativePerformance,
  nativeSetTimeout,
  performanceNow,
  toJson,
  whenSettled,
} from './primordials.ts';
import { makeReadiness } from './ready.ts';
import { truncateMessage } from './report.ts';
import { makeOutcome, type Outcome } from './result.ts';
import { makeToolRequests, type ToolRequests } from './tool-requests.ts';

/** The bridge assigns a number to each request, because the page must not see the ID of the call. */
export interface CallRequest {
  readonly call: number;
  readonly tool: string;
  readonly maxBytes: number;
  readonly args: unknown;
  readonly prompt: boolean;
  /** The field `decision` is the user's decision about the call; undefined if no approval was required. */
  readonly decision: unknown;
  readonly isTraced?: boolean;
}

/** CallEvents are the callbacks by which a ToolRunner reports the progress and the end of calls. */
export interface CallEvents {
  /**
   * The callback `report` is called for each batch of a call's progress reports, in the order of the batches. `reports`
   * is the JSON text of `count` wire.Reports, joined by commas.
   */
  report(call: number, reports: string, count: number): void;
  /**
   * The callback `ask` is called for each request of a tool to the server. `body` is the JSON text of a
   * wire.ToolAskParams without its call and number.
   */
  ask(call: number, ask: number, body: string): void;
  /** The callback `end` is called once for each tool call that ends without being cancelled. */
  end(call: number, outcome: Outcome): void;
  /**
   * If the host must report the times of a call, the host calls `traced` before `end`. `times` contains up to three
   * times: when isReady returned, when the handler started, and when the call ended.
   */
  traced(call: number, times: string): void;
  /** The callback `aborted` is called when the handler of a cancelled call has finished. */
  aborted(call: number): void;
  /** The callback `ready` is called when the adapter first reports whether it is ready, and again after each change. */
  ready(ready: boolean): void;
}

/** ToolRunner runs the tools of one adapter. */
export interface ToolRunner {
  run(request: CallRequest): void;
  /** The method `cancel` aborts the signal of a running call, and returns false if the call is not running. */
  cancel(call: number, reason: string): boolean;
  /** `value` is the output of the tool request, or a wire.CallError if `ok` is false. */
  answer(call: number, ask: number, ok: boolean, value: unknown): void;
  /** The method `resync` sends a call's stored activity reports to the bridge again. */
  resync(call: number, type: string): void;
  /** useAdapter returns why the host cannot use the registered adapter, or an empty string on success. */
  useAdapter(): string;
  /** The method `probe` calls isReady() of the adapter, and reports the readiness if it has changed. */
  probe(): void;
  /** After a call of the method `drop`, new tool calls fail until another adapter is used. */
  drop(): object | undefined;
}

interface RunningCall {
  readonly call: number;
  readonly cancellation: Cancellation;
  readonly toolRequests: ToolRequests;
  readonly activities: Activities;
  /** endAudience is the audience of the call's final message, or an empty string. */
  endAudience: string;
  isLive: boolean;
  timesText: string | undefined;
  /** Only the first call of `end` has an effect. */
  end(outcome: Outcome): void;
}

interface RunningCalls {
  find(call: number): RunningCall | undefined;
  add(request: CallRequest): RunningCall;
  cancel(entry: RunningCall, reason: string): void;
}

function makeRunningCalls(events: CallEvents): RunningCalls {
  const table = makeBareObject();
  const finish = (entry: RunningCall): boolean => {
    if (!entry.isLive) return false;
    entry.isLive = false;
    delete table[entry.call];
    entry.toolRequests.close(() => makeSimpleToolError('the call has ended', 'call_ended'));
    return true;
  };
  const endCall = (entry: RunningCall, outcome: Outcome) => {
    if (!finish(entry)) return;
    if (entry.cancellation.isCancelled()) {
      events.aborted(entry.call);
      return;
    }
    // The last progress report of the call contains endAudience, because a full buffer drops the oldest reports first.
    if (entry.endAudience !== '' && outcome.kind !== 'error') {
      events.report(entry.call, makeObjectText<'Report'>({ endAudience: toJson(entry.endAudience) }), 1);
    }
    if (entry.timesText !== undefined) events.traced(entry.call, entry.timesText);
    events.end(entry.call, outcome);
  };
  return {
    find: (call) => {
      const entry = table[call];
      return isRunning(entry) ? entry : undefined;
    },
    add: ({ call, isTraced }) => {
      const entry: RunningCall = {
        call,
        cancellation: makeCancellation(),
        toolRequests: makeToolRequests((ask, body) => events.ask(call, ask, body)),
        activities: makeActivities(),
        endAudience: '',
        isLive: true,
        timesText: isTraced === true ? '' : undefined,
        end: (outcome) => endCall(entry, outcome),
      };
      table[call] = entry;
      return entry;
    },
    cancel: (entry, reason) => {
      // A cancelled call is removed from the table if its handler has not settled within CancelTimeoutMs.
      nativeSetTimeout(() => finish(entry), CancelTimeoutMs);
      const error = entry.cancellation.cancel(construct(NativeDOMException, [reason, 'AbortError']));
      entry.toolRequests.close(() => makeAbortedError(error));
    },
  };
}

/** makeToolRunner returns a ToolRunner, which runs the tools of one plugin's adapter. */
export function makeToolRunner(
  plugin: string,
  readContainer: () => unknown,
  events: CallEvents,
  logFailure: LogFailure,
): ToolRunner {
  const calls = makeRunningCalls(events);
  // useAdapter runs in the task that starts the adapter, and stores the adapter before this task ends. A page that
  // obtains the adapter's container after the start cannot replace the adapter.
  let registered: object | undefined;
  const readiness = makeReadiness(plugin, readContainer, (ready) => events.ready(ready));

  const run = (request: CallRequest) => {
    const entry = calls.add(request);
    const adapter = registered;
    const failWith = (text: string) => endWithError(entry, text);
    if (!adapter) {
      failWith(makeFailureText('internal', `the adapter did not register as ${plugin}`));
      return;
    }
    const context = makeCallContext(entry, request.decision, (report) => {
      if (entry.isLive) events.report(entry.call, report, 1);
    });
    readiness.check(adapter, (problem) => {
      if (problem !== undefined) {
        failWith(makeFailureText('not_ready', `the plugin ${plugin} is not ready in this tab: ${problem}`));
      } else if (!endIfCancelled(entry)) startHandler(plugin, adapter, request, entry, context, logFailure);
    });
  };
  const cancel = (call: number, reason: string): boolean => {
    const entry = calls.find(call);
    if (entry) calls.cancel(entry, reason);
    return entry !== undefined;
  };
  const answer = (call: number, ask: number, ok: boolean, value: unknown) =>
    calls.find(call)?.toolRequests.answer(ask, ok, value);
  const resync = (call: number, type: string) =>
    calls.find(call)?.activities.resend(type, (reports, count) => events.report(call, reports, count));

  const useAdapter = (): string => {
    const adapter = findAdapter(plugin, readContainer());
    if (typeof adapter === 'string') return adapter;
    registered = adapter;
    readiness.watch(adapter);
    return '';
  };
  const drop = () => {
    const adapter = registered;
    registered = undefined;
    readiness.watch(undefined);
    return adapter;
  };
  return { run, cancel, answer, resync, useAdapter, probe: readiness.probe, drop };
}

function isRunning(value: unknown): value is RunningCall {
  return isObject(value);
}

function endIfCancelled(entry: RunningCall): boolean {
  if (entry.cancellation.isCancelled()) entry.end({ kind: 'nothing' });
  return !entry.isLive;
}

function recordTime(entry: RunningCall): void {
  if (entry.timesText !== undefined) entry.timesText += ` ${apply(performanceNow, nativePerformance, [])}`;
}

function endWithError(entry: RunningCall, text: string): void {
  recordTime(entry);
  entry.end({ kind: 'error', text });
}

export type LogFailure = (failure: LoggedFailure) => void;

const MaxConversionHints = 3;

function startHandler(
  plugin: string,
  adapter: object,
  request: CallRequest,
  entry: RunningCall,
  context: object,
  logFailure: LogFailure,
): void {
  const warn = (what: string) => logFailure({ level: 'warning', message: `${request.tool}: ${what}`, stack: '' });
  let output: unknown;
  const done = (value: unknown) => {
    recordTime(entry);
    let lossCount = 0;
    const onLoss = (path: string, hint: string) => {
      if (lossCount < MaxConversionHints) warn(`${path} ${hint}`);
      lossCount++;
    };
    const hint = value === undefined ? makeMissingResultHint(output) : '';
    if (hint !== '') warn(`the handler ${hint}`);
    entry.end(makeOutcome(request.tool, value, request.maxBytes, onLoss));
  };
  const failWith = (text: string) => endWithError(entry, text);
  const failWithThrown = (error: unknown) => {
    if (!entry.cancellation.isCancelled()) logFailure(makeThrownFailure(request.tool, error));
    failWith(makeThrownText(error));
  };
  recordTime(entry);
  try {
    const tool = findTool(lookup(adapter, request.prompt ? 'prompts' : 'tools'), request.tool);
    const handler = tool && findHandler(tool, request.prompt);
    if (!tool || !isFn(handler)) {
      failWith(makeUnknownToolText(plugin, request));
      return;
    }
    output = request.prompt ? undefined : lookup(tool, 'output');
    const callHandler = (params: unknown) => {
      if (endIfCancelled(entry)) return;
      recordTime(entry);
      try {
        whenSettled(apply(handler, tool, [params, context]), done, failWithThrown);
      } catch (error) {
        failWithThrown(error);
      }
    };
    parseArguments(lookup(tool, request.prompt ? 'args' : 'input'), request.args, {
      onValid: callHandler,
      onInvalid: (issues) =>
        failWith(makeFailureText('invalid_arguments', `the arguments of ${request.tool} are not valid:\n${issues}`)),
      onUnsafe: (reason) => failWith(makeFailureText('unsafe_page', reason)),
    });
  } catch (error) {
    failWithThrown(error);
  }
}

function findAdapter(plugin: string, container: unknown): object | string {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  if (!isObject(adapter)) return `the adapter did not register as ${plugin}`;
  if (!isFrozen(adapter)) return `the adapter ${plugin} did not lock itself, as the plugin format requires`;
  if (!isFn(lookup(adapter, 'isReady'))) return `the adapter ${plugin} has no isReady function`;
  if (!isArray(lookup(adapter, 'tools'))) return `the adapter ${plugin} has no list of tools`;
  return adapter;
}

function findTool(tools: unknown, name: string): object | undefined {
  if (!isObject(tools) || !isArray(tools)) return undefined;
  for (let i = 0; i < tools.length; i++) {
    const tool: unknown = hasOwn(tools, i) ? tools[i] : undefined;
    if (isObject(tool) && lookup(tool, 'name') === name) return tool;
  }
  return undefined;
}

function findHandler(tool: object, prompt: boolean): unknown {
  return (prompt ? lookup(tool, 'render') : undefined) ?? lookup(tool, 'handle');
}

function makeUnknownToolText(plugin: string, { tool, prompt }: CallRequest): string {
  const message = `the plugin ${plugin} has no ${prompt ? 'prompt' : 'tool'} ${tool} in this tab`;
  return makeFailureText(prompt ? 'unknown_prompt' : 'unknown_tool', message);
}

function makeCallContext(entry: RunningCall, decision: unknown, sendReport: (report: string) => void): object {
  const { activities, toolRequests } = entry;
  const endAudience = (audience: unknown) => {
    if (typeof audience === 'string') entry.endAudience = truncateMessage(audience);
  };
  const readSignal = () => entry.cancellation.getSignal();
  return makeContext({ readSignal, decision, activities, toolRequests, sendReport, setEndAudience: endAudience });
}
