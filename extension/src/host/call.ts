import { CancelAnswerMs } from '../../../wire/wire.gen.ts';
import { type Activities, makeActivities } from './activity.ts';
import { type Asks, makeAsks } from './asks.ts';
import { makeContext } from './context.ts';
import { abortedError, failureText, thrownText, toolError } from './failure.ts';
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
import { askReady } from './ready.ts';
import { cut } from './report.ts';
import { type Outcome, outcomeOf } from './result.ts';

/** Request is one call as the bridge asks for it. Its number is the bridge's; the page never learns a call's id. */
export interface Request {
  readonly call: number;
  readonly tool: string;
  readonly maxBytes: number;
  readonly args: unknown;
  /** prompt tells that tool names a prompt of the adapter. */
  readonly prompt: boolean;
  /** decision is what a person decided before; undefined if nobody was asked. */
  readonly decision: unknown;
}

/** Events of calls, for the bridge. */
export interface CallEvents {
  /** report is called for each report, in order, with the JSON text of a wire.Report, or of count of them joined by commas. */
  report(call: number, reports: string, count: number): void;
  /** ask is called for what a call asks the server for, with the JSON text of the rest of a wire.ToolAskParams. */
  ask(call: number, ask: number, body: string): void;
  /** end is called once for a call that was not cancelled. */
  end(call: number, outcome: Outcome): void;
  /** aborted is called when a cancelled call's handler has settled. */
  aborted(call: number): void;
  /** ready is called when the adapter says that it is ready, or is not, and said otherwise before or nothing. */
  ready(ready: boolean): void;
}

/** Runner runs the tools of one adapter. */
export interface Runner {
  run(request: Request): void;
  /** cancel tells a call to stop; it returns false if there is no such call. */
  cancel(call: number, reason: string): boolean;
  /** answer brings what a call asked for: an output, or a wire.CallError if ok is false. */
  answer(call: number, ask: number, ok: boolean, value: unknown): void;
  /** resync has a call report an activity anew. */
  resync(call: number, type: string): void;
  /** check returns what keeps the adapter from working, or nothing: then that adapter is kept for all calls that begin. */
  check(): string;
  /** probe asks the adapter whether it is ready. */
  probe(): void;
  /** drop forgets the adapter, so that no call begins any more, and returns it. */
  drop(): object | undefined;
}

/** Running is a call in progress. */
interface Running {
  readonly call: number;
  readonly controller: AbortController;
  readonly signal: AbortSignal;
  readonly asks: Asks;
  readonly activities: Activities;
  /** endAudience is for whom the end is, if the handler has said so. */
  endAudience: string;
  live: boolean;
  /** end ends the call; the first one counts. */
  end(outcome: Outcome): void;
}

/** makeRunner returns a runner for the adapter that has registered as plugin in what read returns at a check. */
export function makeRunner(plugin: string, read: () => unknown, events: CallEvents): Runner {
  const table = bare();
  // What the check found, in the task that started the adapter: a page that gets hold of the container must not be able
  // to put an adapter of its own there.
  let registered: object | undefined;
  let told: boolean | undefined;
  const running = (call: number): Running | undefined => {
    const entry = table[call];
    return isRunning(entry) ? entry : undefined;
  };

  /** finish takes a call out of the table; false means that it is out already. */
  const finish = (entry: Running): boolean => {
    if (!entry.live) return false;
    entry.live = false;
    delete table[entry.call];
    entry.asks.close(() => toolError('the call has ended', 'call_ended'));
    return true;
  };
  const end = (entry: Running, outcome: Outcome) => {
    if (!finish(entry)) return;
    if (apply(abortedOf, entry.signal, []) === true) {
      events.aborted(entry.call);
      return;
    }
    // Last of the reports, where a flood can't push it out.
    if (entry.endAudience !== '' && outcome.kind !== 'error') {
      events.report(entry.call, `{"endAudience":${toJson(entry.endAudience)}}`, 1);
    }
    events.end(entry.call, outcome);
  };

  const run = (request: Request) => {
    const controller = construct(NativeAbortController, []);
    const signal = apply(signalOf, controller, []);
    if (!isSignal(signal)) return;
    const asks = makeAsks((ask, body) => events.ask(request.call, ask, body));
    const activities = makeActivities();
    const entry: Running = {
      call: request.call,
      controller,
      signal,
      asks,
      activities,
      endAudience: '',
      live: true,
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
      if (entry.live) events.report(entry.call, report, 1);
    });
    ask(adapter, (problem) => {
      if (problem !== undefined) {
        fail(failureText('not_ready', `the plugin ${plugin} is not ready in this tab: ${problem}`));
      } else if (!isStopped(entry)) startTool(plugin, adapter, request, entry, context);
    });
  };
  /** ask asks the adapter whether it is ready; what it says is news to whoever chooses a tab. */
  const ask = (adapter: object, answer: (problem: string | undefined) => void) =>
    askReady(plugin, read(), adapter, (problem) => {
      const ready = problem === undefined;
      if (adapter === registered && ready !== told) {
        told = ready;
        events.ready(ready);
      }
      answer(problem);
    });
  let probing = false;
  let again = false;
  const probe = () => {
    if (!registered) return;
    again = probing;
    if (probing) return;
    probing = true;
    ask(registered, () => {
      probing = false;
      if (again) probe();
    });
  };

  const cancel = (call: number, reason: string): boolean => {
    const entry = running(call);
    if (!entry) return false;
    // A handler that never settles must not stay in the table; whoever asked has stopped waiting by then.
    delay(() => finish(entry), CancelAnswerMs);
    apply(abort, entry.controller, [construct(NativeDOMException, [reason, 'AbortError'])]);
    entry.asks.close(() => abortedError(apply(reasonOf, entry.signal, [])));
    return true;
  };
  const answer = (call: number, ask: number, ok: boolean, value: unknown) => running(call)?.asks.answer(ask, ok, value);
  const resync = (call: number, type: string) =>
    running(call)?.activities.again(type, (reports, count) => events.report(call, reports, count));

  const check = (): string => {
    const adapter = findAdapter(plugin, read());
    if (typeof adapter === 'string') return adapter;
    registered = adapter;
    told = undefined;
    return '';
  };
  const drop = () => {
    const adapter = registered;
    registered = undefined;
    return adapter;
  };
  return { run, cancel, answer, resync, check, probe, drop };
}

function isRunning(value: unknown): value is Running {
  return isObject(value);
}

function isSignal(value: unknown): value is AbortSignal {
  return isObject(value);
}

/** isStopped keeps a call from beginning that was cancelled while the adapter or its schema was asked. */
function isStopped(entry: Running): boolean {
  if (apply(abortedOf, entry.signal, []) === true) entry.end({ kind: 'nothing' });
  return !entry.live;
}

/** startTool has the adapter run what is asked for, and ends the call with how that ended. */
function startTool(plugin: string, adapter: object, request: Request, entry: Running, context: object): void {
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
      valid: start,
      invalid: (issues) =>
        fail(failureText('invalid_arguments', `the arguments of ${request.tool} are not valid:\n${issues}`)),
      unsafe: (why) => fail(failureText('unsafe_page', why)),
    });
  } catch (error) {
    threw(error);
  }
}

/** findAdapter returns the registered adapter, or what is wrong with it. */
function findAdapter(plugin: string, container: unknown): object | string {
  const adapters = isObject(container) ? lookup(container, 'adapters') : undefined;
  const adapter = isObject(adapters) ? lookup(adapters, plugin) : undefined;
  if (!isObject(adapter)) return `the adapter did not register as ${plugin}`;
  if (!isFrozen(adapter)) return `the adapter ${plugin} did not lock itself, as the plugin format asks`;
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

/** handlerOf returns what runs a tool or a prompt. */
function handlerOf(tool: object, prompt: boolean): unknown {
  return (prompt ? lookup(tool, 'render') : undefined) ?? lookup(tool, 'handle');
}

/** unknownText returns the JSON text of a wire.CallError for what the adapter does not have. */
function unknownText(plugin: string, { tool, prompt }: Request): string {
  const message = `the plugin ${plugin} has no ${prompt ? 'prompt' : 'tool'} ${tool} in this tab`;
  return failureText(prompt ? 'unknown_prompt' : 'unknown_tool', message);
}

function contextOf(entry: Running, decision: unknown, report: (report: string) => void): object {
  const { signal, activities, asks } = entry;
  const endAudience = (audience: unknown) => {
    if (typeof audience === 'string') entry.endAudience = cut(audience);
  };
  return makeContext({ signal, decision, activities, asks, report, endAudience });
}
