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
import { type CallOutcome, makeResultOutcome } from './result.ts';
import { makeToolRequests, type ToolRequests } from './tool-requests.ts';

/** The bridge assigns a number to each request, because the page must not see the ID of the call. */
export interface CallRequest {
  readonly call: number;
  readonly tool: string;
  readonly maxBytes: number;
  readonly args: unknown;
  readonly prompt: boolean;
  /** The field `decision` is the user's decision about the call, or undefined if no approval was required. */
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
  end(call: number, callOutcome: CallOutcome): void;
  /**
   * If the host must report the times of a call, the host calls `reportStepTimes` before `end`. `times` contains up to
   * three times: when isReady returned, when the handler started, and when the call ended.
   */
  reportStepTimes(call: number, times: string): void;
  /** The callback `aborted` is called when the handler of a cancelled call has finished. */
  aborted(call: number): void;
  /**
   * The callback `ready` is called when the adapter first reports its readiness, and after each change of the
   * readiness.
   */
  ready(isReady: boolean): void;
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
  /** The method `drop` removes the adapter; new tool calls fail until another adapter is used. */
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
  stepTimesText: string | undefined;
  /** Only the first call of `end` has an effect. */
  end(callOutcome: CallOutcome): void;
}

interface RunningCalls {
  find(call: number): RunningCall | undefined;
  add(request: CallRequest): RunningCall;
  cancel(runningCall: RunningCall, reason: string): void;
}

function makeRunningCalls(events: CallEvents): RunningCalls {
  const table = makeBareObject();
  const finishCall = (runningCall: RunningCall): boolean => {
    if (!runningCall.isLive) return false;
    runningCall.isLive = false;
    delete table[runningCall.call];
    runningCall.toolRequests.close(() => makeSimpleToolError('the call has ended', 'call_ended'));
    return true;
  };
  const endCall = (runningCall: RunningCall, callOutcome: CallOutcome) => {
    if (!finishCall(runningCall)) return;
    if (runningCall.cancellation.isCancelled()) {
      events.aborted(runningCall.call);
      return;
    }
    // endAudience is part of the last report, because a full buffer drops the oldest reports.
    if (runningCall.endAudience !== '' && callOutcome.kind !== 'error') {
      events.report(runningCall.call, makeObjectText<'Report'>({ endAudience: toJson(runningCall.endAudience) }), 1);
    }
    if (runningCall.stepTimesText !== undefined) events.reportStepTimes(runningCall.call, runningCall.stepTimesText);
    events.end(runningCall.call, callOutcome);
  };
  return {
    find: (call) => {
      const runningCall = table[call];
      return isRunning(runningCall) ? runningCall : undefined;
    },
    add: ({ call, isTraced }) => {
      const runningCall: RunningCall = {
        call,
        cancellation: makeCancellation(),
        toolRequests: makeToolRequests((ask, body) => events.ask(call, ask, body)),
        activities: makeActivities(),
        endAudience: '',
        isLive: true,
        stepTimesText: isTraced === true ? '' : undefined,
        end: (callOutcome) => endCall(runningCall, callOutcome),
      };
      table[call] = runningCall;
      return runningCall;
    },
    cancel: (runningCall, reason) => {
      // A cancelled call is removed from the table if its handler has not settled within CancelTimeoutMs.
      nativeSetTimeout(() => finishCall(runningCall), CancelTimeoutMs);
      const error = runningCall.cancellation.cancel(construct(NativeDOMException, [reason, 'AbortError']));
      runningCall.toolRequests.close(() => makeAbortedError(error));
    },
  };
}

/** makeToolRunner returns a ToolRunner, which runs the tools of one plugin's adapter. */
export function makeToolRunner(
  plugin: string,
  readContainer: () => unknown,
  events: CallEvents,
  logFailure: FailureLogger,
): ToolRunner {
  const calls = makeRunningCalls(events);
  // useAdapter runs in the task that starts the adapter, and stores the adapter before this task ends. A page that
  // obtains the adapter's container after the start cannot replace the adapter.
  let registeredAdapter: object | undefined;
  const readinessProbe = makeReadiness(plugin, readContainer, (isReady) => events.ready(isReady));

  const runCall = (request: CallRequest) => {
    const runningCall = calls.add(request);
    const adapter = registeredAdapter;
    const failCall = (errorText: string) => endWithError(runningCall, errorText);
    if (!adapter) {
      failCall(makeFailureText('internal', `the adapter did not register as ${plugin}`));
      return;
    }
    const context = makeCallContext(runningCall, request.decision, (report) => {
      if (runningCall.isLive) events.report(runningCall.call, report, 1);
    });
    readinessProbe.check(adapter, (notReadyReason) => {
      if (notReadyReason !== undefined) {
        failCall(makeFailureText('not_ready', `the plugin ${plugin} is not ready in this tab: ${notReadyReason}`));
      } else if (!endIfCancelled(runningCall)) startHandler(plugin, adapter, request, runningCall, context, logFailure);
    });
  };
  const cancelCall = (call: number, reason: string): boolean => {
    const runningCall = calls.find(call);
    if (runningCall) calls.cancel(runningCall, reason);
    return runningCall !== undefined;
  };
  const answerToolRequest = (call: number, ask: number, ok: boolean, value: unknown) =>
    calls.find(call)?.toolRequests.answer(ask, ok, value);
  const resendActivity = (call: number, type: string) =>
    calls.find(call)?.activities.resend(type, (reports, count) => events.report(call, reports, count));

  const useAdapter = (): string => {
    const adapter = findAdapter(plugin, readContainer());
    if (typeof adapter === 'string') return adapter;
    registeredAdapter = adapter;
    readinessProbe.watch(adapter);
    return '';
  };
  const dropAdapter = () => {
    const adapter = registeredAdapter;
    registeredAdapter = undefined;
    readinessProbe.watch(undefined);
    return adapter;
  };
  return {
    run: runCall,
    cancel: cancelCall,
    answer: answerToolRequest,
    resync: resendActivity,
    useAdapter,
    probe: readinessProbe.probe,
    drop: dropAdapter,
  };
}

function isRunning(value: unknown): value is RunningCall {
  return isObject(value);
}

function endIfCancelled(runningCall: RunningCall): boolean {
  if (runningCall.cancellation.isCancelled()) runningCall.end({ kind: 'nothing' });
  return !runningCall.isLive;
}

function appendStepTime(runningCall: RunningCall): void {
  if (runningCall.stepTimesText !== undefined)
    runningCall.stepTimesText += ` ${apply(performanceNow, nativePerformance, [])}`;
}

function endWithError(runningCall: RunningCall, errorText: string): void {
  appendStepTime(runningCall);
  runningCall.end({ kind: 'error', text: errorText });
}

export type FailureLogger = (failure: LoggedFailure) => void;

const MaxConversionHints = 3;

function startHandler(
  plugin: string,
  adapter: object,
  request: CallRequest,
  runningCall: RunningCall,
  context: object,
  logFailure: FailureLogger,
): void {
  const logWarning = (warningText: string) =>
    logFailure({ level: 'warning', message: `${request.tool}: ${warningText}`, stack: '' });
  let output: unknown;
  const settleCall = (value: unknown) => {
    appendStepTime(runningCall);
    let lossCount = 0;
    const onJsonLoss = (path: string, hint: string) => {
      if (lossCount < MaxConversionHints) logWarning(`${path} ${hint}`);
      lossCount++;
    };
    const hint = value === undefined ? makeMissingResultHint(output) : '';
    if (hint !== '') logWarning(`the handler ${hint}`);
    runningCall.end(makeResultOutcome(request.tool, value, request.maxBytes, onJsonLoss));
  };
  const failCall = (errorText: string) => endWithError(runningCall, errorText);
  const failWithError = (error: unknown) => {
    if (!runningCall.cancellation.isCancelled()) logFailure(makeThrownFailure(request.tool, error));
    failCall(makeThrownText(error));
  };
  appendStepTime(runningCall);
  try {
    const tool = findTool(lookup(adapter, request.prompt ? 'prompts' : 'tools'), request.tool);
    const handler = tool && findHandler(tool, request.prompt);
    if (!tool || !isFn(handler)) {
      failCall(makeUnknownToolText(plugin, request));
      return;
    }
    output = request.prompt ? undefined : lookup(tool, 'output');
    const callHandler = (params: unknown) => {
      if (endIfCancelled(runningCall)) return;
      appendStepTime(runningCall);
      try {
        whenSettled(apply(handler, tool, [params, context]), settleCall, failWithError);
      } catch (error) {
        failWithError(error);
      }
    };
    parseArguments(lookup(tool, request.prompt ? 'args' : 'input'), request.args, {
      onValid: callHandler,
      onInvalid: (issues) =>
        failCall(makeFailureText('invalid_arguments', `the arguments of ${request.tool} are not valid:\n${issues}`)),
      onUnsafe: (reason) => failCall(makeFailureText('unsafe_page', reason)),
    });
  } catch (error) {
    failWithError(error);
  }
}

function findAdapter(plugin: string, container: unknown): object | string {
  const adapterTable = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapterTable) ? lookup(adapterTable, plugin) : undefined;
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
  const missingToolMessage = `the plugin ${plugin} has no ${prompt ? 'prompt' : 'tool'} ${tool} in this tab`;
  return makeFailureText(prompt ? 'unknown_prompt' : 'unknown_tool', missingToolMessage);
}

function makeCallContext(runningCall: RunningCall, decision: unknown, sendReport: (report: string) => void): object {
  const { activities, toolRequests } = runningCall;
  const setEndAudience = (audience: unknown) => {
    if (typeof audience === 'string') runningCall.endAudience = truncateMessage(audience);
  };
  const readSignal = () => runningCall.cancellation.getSignal();
  return makeContext({ readSignal, decision, activities, toolRequests, sendReport, setEndAudience });
}
