import type { ProgressOptions, UserRequest } from '../context.ts';
import type { LogEntry } from '../log.ts';
import type { OpenTabsPlugin, PluginDefinition } from '../plugin.ts';
import { wrapPrompt, wrapTool } from '../runtime/call.ts';
import { type Bag, isBag, isMethod, messageOf } from '../runtime/value.ts';
import {
  type ContextScript,
  makeContext,
  type RecordedActivity,
  type RecordedCall,
  type TestContext,
} from '../testing-context.ts';
import { checkInput, checkOutput } from './check.ts';
import { Failure } from './failure.ts';
import type { RouteRequest } from './http.ts';
import { isSimulated, realMs } from './mode.ts';
import { type ConsoleLine, clock, openPage, type Page, type PageOptions } from './page.ts';
import { openReal } from './real.ts';

/** What a tab shows, and what the person has set. */
export interface SimulateOptions extends PageOptions, Pick<ContextScript, 'tools' | 'user' | 'decision'> {
  /** What `getConfig` returns, by key. */
  settings?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** What `getPreScriptValue` returns, by key. */
  preScript?: Readonly<Record<string, unknown>> | undefined;
}

/** How a call is disturbed. Times are milliseconds of virtual time from its beginning. */
export interface CallOptions {
  /** The call is cancelled then; 0 is before it begins. */
  cancelAt?: number | undefined;
  /** The call is cancelled as soon as it has made this many reports. */
  cancelAtReport?: number | undefined;
  /** The page goes elsewhere then. */
  navigateAt?: number | undefined;
}

/** Why a call failed; the codes are those that an agent gets. */
export interface SimulatedError {
  /** `tool_error` for what the tool threw, else the server's: `idle_timeout`, `cancelled`, `invalid_arguments`, ... */
  readonly code: string;
  readonly message: string;
  /** What a ToolError said. */
  readonly tool?: {
    readonly code: string;
    readonly category?: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

/** How a call ended. */
export interface SimulatedCall {
  /** What the agent gets; undefined if the call failed. */
  readonly result?: unknown;
  readonly error?: SimulatedError;
  readonly reports: readonly ProgressOptions[];
  readonly activities: readonly RecordedActivity[];
  readonly calls: readonly RecordedCall[];
  readonly userRequests: readonly UserRequest[];
  /** What a browser would have dropped without a word; expect it to be empty. */
  readonly dropped: readonly string[];
  /** How long it took, in milliseconds of virtual time. */
  readonly tookMs: number;
  /** How the handler took the order to stop: it ended because of it, had ended, or went on for 2 s. Undefined if it got none. */
  readonly stopped?: 'aborted' | 'ignored';
}

/** A tab in which a plugin runs. */
export interface SimulatedTab {
  /** Runs a tool as an agent would. It never rejects. */
  call(tool: string, input: unknown, options?: CallOptions): Promise<SimulatedCall>;
  /** Renders a prompt as a client would. It never rejects. */
  prompt(name: string, args?: unknown, options?: CallOptions): Promise<SimulatedCall>;
  /** Lets virtual time pass. */
  wait(ms: number): Promise<void>;
  /** What the plugin has logged, in order. */
  readonly logs: readonly LogEntry[];
  /** What code in the page wrote to the console. */
  readonly console: readonly ConsoleLine[];
  /** The requests that the plugin made. */
  readonly requests: readonly RouteRequest[];
  /** Where the tab is. */
  readonly url: string;
}

/** The limits of a server whose person has set no others, in milliseconds. */
const idleMs = 30_000;
const hardMs = 300_000;
const readyMs = 5_000;
const stopMs = 2_000;
/** How long the page stays after it began to go elsewhere: a result that is there by then counts. */
const leavingMs = 50;

/**
 * Opens a tab in which `plugin`, the default export of its module, runs. Each test opens its own: the tab of the test
 * before is gone. Works under `opentabs plugin test` only.
 */
export function simulate(plugin: OpenTabsPlugin | PluginDefinition, options: SimulateOptions = {}): SimulatedTab {
  if (!isSimulated()) throw new Error('simulate: run this test with `opentabs plugin test`; Node has no page');
  if (!isBag(plugin) || !Array.isArray(plugin.tools)) {
    throw new TypeError(
      "simulate: give it the plugin, the default export of its module: import plugin from './index.ts'",
    );
  }
  return realMs() > 0 ? openReal(options) : new Tab(plugin, options);
}

class Tab implements SimulatedTab {
  readonly logs: LogEntry[] = [];
  readonly #plugin: Bag;
  readonly #options: SimulateOptions;
  readonly #page: Page;

  constructor(plugin: Bag, options: SimulateOptions) {
    this.#plugin = plugin;
    this.#options = options;
    this.#page = openPage(options);
    const name = typeof plugin.name === 'string' ? plugin.name : '';
    const own = isBag(globalThis.__openTabs) ? globalThis.__openTabs : {};
    globalThis.__openTabs = Object.assign(own, {
      pluginConfig: { ...options.settings },
      preScript: { [name]: { ...options.preScript } },
      _pluginName: name,
      _notifyReadinessChanged: () => undefined,
      tokenCache: undefined,
    });
    if (isMethod(own._setLogTransport)) own._setLogTransport((entry: LogEntry) => void this.logs.push(entry));
    if (isMethod(plugin.onActivate)) plugin.onActivate();
  }

  get console(): readonly ConsoleLine[] {
    return this.#page.console;
  }

  get requests(): readonly RouteRequest[] {
    return this.#page.site.requests;
  }

  get url(): string {
    return this.#page.url();
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      clock.set(resolve, ms);
    });
  }

  call(tool: string, input: unknown, options: CallOptions = {}): Promise<SimulatedCall> {
    return this.#run('tools', tool, input, options);
  }

  prompt(name: string, args: unknown = {}, options: CallOptions = {}): Promise<SimulatedCall> {
    return this.#run('prompts', name, args, options);
  }

  async #run(kind: 'tools' | 'prompts', name: string, input: unknown, options: CallOptions): Promise<SimulatedCall> {
    const run = new Run(options, this.#options);
    try {
      const found = this.#find(kind, name);
      const params = checkInput(found, kind, input);
      if (options.cancelAt === 0) run.fail('cancelled', 'cancelled by the client');
      await this.#ready(run);
      if (!run.over) this.#start(run, kind, found, params);
    } catch (error) {
      run.threw(error);
    }
    return await run.ended;
  }

  #find(kind: 'tools' | 'prompts', name: string): Bag {
    const list = Array.isArray(this.#plugin[kind]) ? this.#plugin[kind] : [];
    const found: unknown = list.find((one: unknown) => isBag(one) && one.name === name);
    if (isBag(found)) return found;
    const names = list.flatMap((one: unknown) => (isBag(one) ? [String(one.name)] : []));
    throw new Failure(
      kind === 'tools' ? 'unknown_tool' : 'unknown_prompt',
      `the plugin has no ${name}; it has ${names.join(', ')}`,
    );
  }

  /** Asks the plugin whether it is ready, as is done before each call. */
  async #ready(run: Run): Promise<void> {
    const asked = this.#plugin.isReady;
    if (!isMethod(asked)) throw new Failure('internal', 'the plugin has no isReady');
    const late = new Promise((resolve) => {
      clock.set(() => resolve(undefined), readyMs);
    });
    const ready: unknown = await Promise.race([
      Promise.resolve(Reflect.apply(asked, this.#plugin, [])),
      late,
      run.ended,
    ]);
    if (ready !== true && !run.over)
      throw new Failure('not_ready', 'isReady did not return true; is the person logged in?');
  }

  #start(run: Run, kind: 'tools' | 'prompts', found: Bag, params: unknown): void {
    const failed = (hook: string, error: unknown) =>
      run.context.reportProgress({ message: `${hook} failed: ${messageOf(error)}` });
    const caller = { name: String(this.#plugin.name ?? ''), plugin: this.#plugin, failed };
    const wrapped = kind === 'tools' ? wrapTool(caller, found) : wrapPrompt(caller, found);
    const handle = wrapped[kind === 'tools' ? 'handle' : 'render'];
    if (!isMethod(handle)) throw new Failure('internal', 'it has no handler');
    run.begin(found.limits);
    this.#page.left((to) => run.leave(to));
    Promise.resolve(Reflect.apply(handle, wrapped, [params, run.context])).then(
      (value) => run.settled(() => checkOutput(found, kind, value)),
      (error: unknown) => run.settled(() => Promise.reject(error)),
    );
  }
}

/** One call with its clocks. */
class Run {
  readonly context: TestContext;
  readonly ended: Promise<SimulatedCall>;
  over = false;
  readonly #began = clock.now;
  readonly #options: CallOptions;
  #idle = 0;
  #idleMs = idleMs;
  #timers: number[] = [];
  #stopping = false;
  #handled = false;
  #end: (call: SimulatedCall) => void = () => undefined;
  #failure: SimulatedError | undefined;

  constructor(options: CallOptions, script: SimulateOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { tools, user, decision } = script;
    this.context = makeContext({ tools, user, decision }, () => this.#reported());
  }

  /** Begins the clocks: the handler runs. */
  begin(limits: unknown): void {
    const own = isBag(limits) ? limits : {};
    if (typeof own.idleTimeoutMs === 'number') this.#idleMs = own.idleTimeoutMs;
    const hard = typeof own.hardTimeoutMs === 'number' ? Math.min(own.hardTimeoutMs, hardMs) : hardMs;
    this.#restart();
    this.#after(hard, () => this.#expire('deadline_exceeded', `it reached the hard limit of ${hard / 1000} s`));
    const { cancelAt, navigateAt } = this.#options;
    if (cancelAt !== undefined) this.#after(cancelAt, () => this.#expire('cancelled', 'cancelled by the client'));
    if (navigateAt !== undefined) this.#after(navigateAt, () => this.leave('another page'));
  }

  /** The page goes elsewhere: what has not ended in a moment ends with it. */
  leave(to: string): void {
    this.#after(leavingMs, () => {
      this.fail('navigated', `the tab went to ${to} while the tool ran`);
    });
  }

  /** Takes the end of the handler. */
  settled(outcome: () => unknown): void {
    this.#handled = true;
    if (this.over) return;
    if (this.#stopping) {
      this.#finish({ stopped: 'aborted' });
      return;
    }
    Promise.resolve()
      .then(outcome)
      .then(
        (result) => this.#finish({ result }),
        (error: unknown) => this.threw(error),
      );
  }

  threw(error: unknown): void {
    this.#failure = errorOf(error);
    this.#finish({});
  }

  fail(code: string, message: string): void {
    this.threw(new Failure(code, message));
  }

  /** Ends the call with a limit or a cancel: the handler is told to stop, and has a moment for that. */
  #expire(code: string, message: string): void {
    if (this.over || this.#stopping) return;
    this.#stopping = true;
    this.#failure = { code, message };
    this.context.stop(message);
    clock.set(() => {
      if (!this.#handled) this.#finish({ stopped: 'ignored' });
    }, stopMs);
  }

  #reported(): void {
    if (this.over || this.#stopping) return;
    this.#restart();
    const { reports, activities } = this.context;
    if (reports.length + activities.length === this.#options.cancelAtReport)
      this.#expire('cancelled', 'cancelled by the client');
  }

  #restart(): void {
    clock.clear(this.#idle);
    const seconds = this.#idleMs / 1000;
    this.#idle = clock.set(
      () => this.#expire('idle_timeout', `no progress and no result for ${seconds} s`),
      this.#idleMs,
    );
  }

  #after(ms: number, work: () => void): void {
    this.#timers.push(clock.set(work, ms));
  }

  #finish(end: { result?: unknown; stopped?: 'aborted' | 'ignored' }): void {
    if (this.over) return;
    this.over = true;
    for (const timer of [...this.#timers, this.#idle]) clock.clear(timer);
    const { reports, activities, calls, userRequests, dropped } = this.context;
    this.#end({
      ...(this.#failure ? { error: this.#failure } : { result: end.result }),
      ...(end.stopped && { stopped: end.stopped }),
      reports: [...reports],
      activities: [...activities],
      calls: [...calls],
      userRequests: [...userRequests],
      dropped: [...dropped],
      tookMs: clock.now - this.#began,
    });
  }
}

/** Returns what an agent is told of what was thrown. */
function errorOf(error: unknown): SimulatedError {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  const message = messageOf(error);
  const code = isBag(error) && typeof error.code === 'string' ? error.code : '';
  if (!isBag(error) || code === '') return { code: 'tool_error', message };
  const tool = {
    code,
    retryable: error.retryable === true,
    ...(typeof error.category === 'string' && { category: error.category }),
    ...(typeof error.retryAfterMs === 'number' && { retryAfterMs: error.retryAfterMs }),
  };
  return { code: 'tool_error', message, tool };
}
