import { CancelTimeoutMs } from '../../../wire/wire.gen.ts';
import { type Activities, makeActivities } from './activity.ts';
import { type Asks, makeAsks } from './asks.ts';
import { makeContext } from './context.ts';
import { abortedError, failureText, thrownText, toolError } from './failure.ts';
import { objectText } from './json.ts';
import { parseWith } from './parse.ts';
import {
  abort,
  abortedOf,
  apply,
  bare,
  construct,
  delay,
  hasOwn,
  isArray,
  isFn,
  isFrozen,
  isObject,
  lookup,
  NativeAbortController,
  NativeDOMException,
  reasonOf,
  signalOf,
  toJson,
  whenSettled,
} from './primordials.ts';
import { makeReadiness } from './ready.ts';
import { truncate } from './report.ts';
import { type Outcome, outcomeOf } from './result.ts';

/**
 * Request is a call that the bridge passed to the host. The bridge assigns a number to each request, because the page
 * must not learn the call's ID.
 */
export interface Request {
  readonly call: number;
  readonly tool: string;
  readonly maxBytes: number;
  readonly args: unknown;
  /** prompt is true if tool is the name of a prompt. */
  readonly prompt: boolean;
  /** decision is the user's decision; undefined if no approval was required. */
  readonly decision: unknown;
}

/** CallEvents are the notifications of a runner to the bridge. */
export interface CallEvents {
  /** report is called for each report, in order, with the JSON text of count wire.Reports, joined by commas. */
  report(call: number, reports: string, count: number): void;
  /** ask is called for each request to the server, with the JSON text of the rest of a wire.ToolAskParams. */
  ask(call: number, ask: number, body: string): void;
  /** end is called once for a call that was not cancelled. */
  end(call: number, outcome: Outcome): void;
  /** aborted is called when the handler of a cancelled call has settled. */
  aborted(call: number): void;
  /** ready is called with the first readiness of the adapter, and at each change. */
  ready(ready: boolean): void;
}

/** Runner runs the tools of one adapter. */
export interface Runner {
  run(request: Request): void;
  /** cancel aborts the signal of a call. cancel returns false if the call is not running. */
  cancel(call: number, reason: string): boolean;
  /** answer settles an ask of a call with an output, or a wire.CallError if ok is false. */
  answer(call: number, ask: number, ok: boolean, value: unknown): void;
  /** resync reports an activity of a call again. */
  resync(call: number, type: string): void;
  /**
   * useAdapter uses the registered adapter for all later calls and returns '', or returns the reason why the host cannot use
   * the adapter.
   */
  useAdapter(): string;
  /** probe calls isReady() of the adapter. */
  probe(): void;
  /** drop removes the adapter from the runner and returns the adapter. Later calls fail. */
  drop(): object | undefined;
}

/** RunningCall is a call in progress. */
interface RunningCall {
  readonly call: number;
  readonly controller: AbortController;
  readonly signal: AbortSignal;
  readonly asks: Asks;
  readonly activities: Activities;
  /** endAudience is the audience of the ending, or empty. */
  endAudience: string;
  isLive: boolean;
  /** end ends the call. Only the first call of end has an effect. */
  end(outcome: Outcome): void;
}

/** makeRunner returns a runner for the adapter of plugin. read returns the container in which the adapter registers. */
export function makeRunner(plugin: string, read: () => unknown, events: CallEvents): Runner {
  const table = bare();
  // check stores the adapter in the task that starts the adapter. A page that gets the container later cannot replace
  // the adapter.
  let registered: object | undefined;
  const readiness = makeReadiness(plugin, read, (ready) => events.ready(ready));
  const running = (call: number): RunningCall | undefined => {
    const entry = table[call];
    return isRunning(entry) ? entry : undefined;
  };

  /** finish removes a call from the table. finish returns false if the call was removed before. */
  const finish = (entry: RunningCall): boolean => {
    if (!entry.isLive) return false;
    entry.isLive = false;
    delete table[entry.call];
    entry.asks.close(() => toolError('the call has ended', 'call_ended'));
    return true;
  };
  const end = (entry: RunningCall, outcome: Outcome) => {
    if (!finish(entry)) return;
    if (apply(abortedOf, entry.signal, []) === true) {
      events.aborted(entry.call);
      return;
    }
    // The audience of the ending is sent as the last report, because a full buffer drops the oldest reports.
    if (entry.endAudience !== '' && outcome.kind !== 'error') {
      events.report(entry.call, objectText<'Report'>({ endAudience: toJson(entry.endAudience) }), 1);
    }
    events.end(entry.call, outcome);
  };

  const run = (request: Request) => {
    const controller = construct(NativeAbortController, []);
    const signal = apply(signalOf, controller, []);
    if (!isSignal(signal)) return;
    const asks = makeAsks((ask, body) => events.ask(request.call, ask, body));
    const activities = makeActivities();
    const entry: RunningCall = {
      call: request.call,
      controller,
      signal,
      asks,
      activities,
      endAudience: '',
      isLive: true,
      end: (outcome) => end(entry, outcome),
    };
    table[request.call] = entry;
    const adapter = registered;
    const fail = (text: string) => entry.end({ kind: 'error', text });
    if (!adapter) {
      fail(failureText('internal', `the adapter did not register as ${plugin}`));
      return;
    }
    const context = contextOf(entry, request.decision, (report) => {
      if (entry.isLive) events.report(entry.call, report, 1);
    });
    readiness.check(adapter, (problem) => {
      if (problem !== undefined) {
        fail(failureText('not_ready', `the plugin ${plugin} is not ready in this tab: ${problem}`));
      } else if (!isStopped(entry)) startTool(plugin, adapter, request, entry, context);
    });
  };

  const cancel = (call: number, reason: string): boolean => {
    const entry = running(call);
    if (!entry) return false;
    // A handler that never settles must not stay in the table. The server does not wait longer than this time either.
    delay(() => finish(entry), CancelTimeoutMs);
    apply(abort, entry.controller, [construct(NativeDOMException, [reason, 'AbortError'])]);
    entry.asks.close(() => abortedError(apply(reasonOf, entry.signal, [])));
    return true;
  };
  const answer = (call: number, ask: number, ok: boolean, value: unknown) => running(call)?.asks.answer(ask, ok, value);
  const resync = (call: number, type: string) =>
    running(call)?.activities.resend(type, (reports, count) => events.report(call, reports, count));

  const check = (): string => {
    const adapter = findAdapter(plugin, read());
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
  return { run, cancel, answer, resync, useAdapter: check, probe: readiness.probe, drop };
}

function isRunning(value: unknown): value is RunningCall {
  return isObject(value);
}

function isSignal(value: unknown): value is AbortSignal {
  return isObject(value);
}

/**
 * isStopped ends a call that was cancelled before its handler started. isStopped reports whether the call has ended.
 */
function isStopped(entry: RunningCall): boolean {
  if (apply(abortedOf, entry.signal, []) === true) entry.end({ kind: 'nothing' });
  return !entry.isLive;
}

/** startTool runs the tool or prompt of a request and ends the call with its outcome. */
function startTool(plugin: string, adapter: object, request: Request, entry: RunningCall, context: object): void {
  const done = (value: unknown) => entry.end(outcomeOf(request.tool, value, request.maxBytes));
  const fail = (text: string) => entry.end({ kind: 'error', text });
  const threw = (error: unknown) => fail(thrownText(error));
  try {
    const tool = findTool(lookup(adapter, request.prompt ? 'prompts' : 'tools'), request.tool);
    const handle = tool && handlerOf(tool, request.prompt);
    if (!tool || !isFn(handle)) {
      fail(unknownText(plugin, request));
      return;
    }
    const start = (params: unknown) => {
      if (isStopped(entry)) return;
      try {
        whenSettled(apply(handle, tool, [params, context]), done, threw);
      } catch (error) {
        threw(error);
      }
    };
    parseWith(lookup(tool, request.prompt ? 'args' : 'input'), request.args, {
      onValid: start,
      onInvalid: (issues) =>
        fail(failureText('invalid_arguments', `the arguments of ${request.tool} are not valid:\n${issues}`)),
      onUnsafe: (why) => fail(failureText('unsafe_page', why)),
    });
  } catch (error) {
    threw(error);
  }
}

/** findAdapter returns the registered adapter, or the reason why the host cannot use it. */
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

/** handlerOf returns the function of a tool or a prompt. */
function handlerOf(tool: object, prompt: boolean): unknown {
  return (prompt ? lookup(tool, 'render') : undefined) ?? lookup(tool, 'handle');
}

/** unknownText returns the JSON text of a wire.CallError for an unknown tool or prompt. */
function unknownText(plugin: string, { tool, prompt }: Request): string {
  const message = `the plugin ${plugin} has no ${prompt ? 'prompt' : 'tool'} ${tool} in this tab`;
  return failureText(prompt ? 'unknown_prompt' : 'unknown_tool', message);
}

function contextOf(entry: RunningCall, decision: unknown, report: (report: string) => void): object {
  const { signal, activities, asks } = entry;
  const endAudience = (audience: unknown) => {
    if (typeof audience === 'string') entry.endAudience = truncate(audience);
  };
  return makeContext({ signal, decision, activities, asks, report, endAudience });
}
