import type { ProgressOptions, UserRequest } from '../context.ts';
import type { LogEntry } from '../log.ts';
import type { OpenTabsPlugin, PluginDefinition } from '../plugin.ts';
import { wrapPrompt, wrapTool } from '../runtime/call.ts';
import { hasProperties, isMethod, type Properties, readMessage } from '../runtime/value.ts';
import {
  type ContextScript,
  makeContext,
  type RecordedActivity,
  type RecordedCall,
  type TestContext,
} from '../testing-context.ts';
import { checkInput, checkOutput } from './check.ts';
import { SimulatedCallError } from './failure.ts';
import { addThrownError } from './failures.ts';
import type { RouteRequest } from './http.ts';
import { isSimulated, readRealTimeoutMs } from './mode.ts';
import { type ConsoleLine, clock, openPage, type Page, type PageOptions } from './page.ts';
import { openRealTab } from './real.ts';

/** Options of {@link simulate}: the page, the plugin's settings, and how other tools and the user behave. */
export interface SimulateOptions extends PageOptions, Pick<ContextScript, 'tools' | 'user' | 'decision'> {
  /** The plugin's settings, which `getConfig` returns, by key. */
  settings?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The values that the plugin's pre-script stored, keyed by name. */
  preScript?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Options that cancel a simulated call or navigate its tab at a certain time. All times in CallOptions are in
 * milliseconds of virtual time since the call started.
 */
export interface CallOptions {
  /** When to cancel the call; 0 cancels the call before the handler starts. */
  cancelAt?: number | undefined;
  /** The number of progress reports after which the test cancels the call. */
  cancelAtReport?: number | undefined;
  /** When to navigate the tab to another page, which fails a call that is still running. */
  navigateAt?: number | undefined;
}

/** The error of a failed simulated call, with the fields that an agent would receive. */
export interface SimulatedError {
  /**
   * `tool_error` if the handler threw an error, and otherwise the server's error code, such as `idle_timeout`,
   * `cancelled` or `invalid_arguments`.
   */
  readonly code: string;
  readonly message: string;
  /** The fields of the ToolError that the tool threw. */
  readonly tool?: {
    readonly code: string;
    readonly category?: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

/** The outcome of a simulated tool call: its result or error, and the handler's actions, such as progress reports. */
export interface SimulatedCall {
  /** The tool's result as the agent receives it; undefined if the call failed. */
  readonly result?: unknown;
  readonly error?: SimulatedError;
  readonly reports: readonly ProgressOptions[];
  readonly activities: readonly RecordedActivity[];
  readonly calls: readonly RecordedCall[];
  readonly userRequests: readonly UserRequest[];
  /** Progress reports of the tool that were malformed. A test should assert that `dropped` is empty. */
  readonly dropped: readonly string[];
  /** How long the call took, in milliseconds of virtual time. */
  readonly tookMs: number;
  /**
   * How the handler reacted when its signal aborted: `aborted` if it ended within 2 s, and otherwise `ignored`.
   * `stopped` is undefined if the signal did not abort during the call.
   */
  readonly stopped?: 'aborted' | 'ignored';
}

/** A simulated tab in which a plugin runs. */
export interface SimulatedTab {
  /**
   * Calls a tool as an agent would. The promise that `call` returns never rejects: the result of a failed call has the
   * field `error`.
   */
  call(tool: string, input: unknown, options?: CallOptions): Promise<SimulatedCall>;
  /**
   * Renders a prompt of the plugin as it would for an MCP client. The promise that `prompt` returns never rejects: the
   * result of a failed prompt has the field `error`.
   */
  prompt(name: string, args?: unknown, options?: CallOptions): Promise<SimulatedCall>;
  /** Waits until `ms` milliseconds have passed on the virtual clock. */
  wait(ms: number): Promise<void>;
  /** The log entries of the plugin, oldest first. */
  readonly logs: readonly LogEntry[];
  /** The lines in the page's console, in order. */
  readonly console: readonly ConsoleLine[];
  /** The HTTP requests that the plugin sent, in order. */
  readonly requests: readonly RouteRequest[];
  /** The current URL of the tab. */
  readonly url: string;
}

const idleLimitMs = 30_000;
const hardLimitMs = 300_000;
const readinessLimitMs = 5_000;
const callStopTimeoutMs = 2_000;
/** If the tool returns before the navigation replaces the page, the call succeeds. */
const navigationDelayMs = 50;

/**
 * Opens a simulated tab and runs `plugin` in it. `plugin` is the default export of the plugin's module. Each test must
 * call `simulate` itself, because the simulated tab is closed when a test ends. `simulate` works only in tests that
 * `opentabs plugin test` runs.
 */
export function simulate(plugin: OpenTabsPlugin | PluginDefinition, options: SimulateOptions = {}): SimulatedTab {
  if (!isSimulated()) throw new Error('simulate: run this test with `opentabs plugin test`; Node has no page');
  if (!hasProperties(plugin) || !Array.isArray(plugin.tools)) {
    throw new TypeError(
      "simulate requires the plugin, the default export of its module: import plugin from './index.ts'",
    );
  }
  return readRealTimeoutMs() > 0 ? openRealTab(options) : new Tab(plugin, options);
}

class Tab implements SimulatedTab {
  readonly logs: LogEntry[] = [];
  readonly #plugin: Properties;
  readonly #options: SimulateOptions;
  readonly #page: Page;

  constructor(plugin: Properties, options: SimulateOptions) {
    this.#plugin = plugin;
    this.#options = options;
    this.#page = openPage(options);
    const name = typeof plugin.name === 'string' ? plugin.name : '';
    const container = hasProperties(globalThis.__openTabs) ? globalThis.__openTabs : {};
    globalThis.__openTabs = Object.assign(container, {
      pluginConfig: { ...options.settings },
      preScript: { [name]: { ...options.preScript } },
      _pluginName: name,
      _notifyReadinessChanged: () => undefined,
      tokenCache: undefined,
    });
    if (isMethod(container._setLogTransport))
      container._setLogTransport((entry: LogEntry) => void this.logs.push(entry));
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
      clock.setTimer(resolve, ms);
    });
  }

  call(tool: string, input: unknown, options: CallOptions = {}): Promise<SimulatedCall> {
    return this.#run('tools', tool, input, options);
  }

  prompt(name: string, args: unknown = {}, options: CallOptions = {}): Promise<SimulatedCall> {
    return this.#run('prompts', name, args, options);
  }

  async #run(kind: 'tools' | 'prompts', name: string, input: unknown, options: CallOptions): Promise<SimulatedCall> {
    const callRun = new SimulatedCallRun(options, this.#options);
    try {
      const toolDefinition = this.#findDefinition(kind, name);
      const params = checkInput(toolDefinition, kind, input);
      if (options.cancelAt === 0) callRun.fail('cancelled', 'cancelled by the client');
      await this.#checkReady(callRun);
      if (!callRun.isOver) this.#startHandler(callRun, kind, toolDefinition, params);
    } catch (error) {
      callRun.failWith(error);
    }
    return await callRun.outcome;
  }

  #findDefinition(kind: 'tools' | 'prompts', name: string): Properties {
    const pluginDefinitions = Array.isArray(this.#plugin[kind]) ? this.#plugin[kind] : [];
    const toolDefinition: unknown = pluginDefinitions.find(
      (entry: unknown) => hasProperties(entry) && entry.name === name,
    );
    if (hasProperties(toolDefinition)) return toolDefinition;
    const names = pluginDefinitions.flatMap((entry: unknown) => (hasProperties(entry) ? [String(entry.name)] : []));
    throw new SimulatedCallError(
      kind === 'tools' ? 'unknown_tool' : 'unknown_prompt',
      `the plugin has no ${name}; it has ${names.join(', ')}`,
    );
  }

  async #checkReady(callRun: SimulatedCallRun): Promise<void> {
    const { isReady } = this.#plugin;
    if (!isMethod(isReady)) throw new SimulatedCallError('internal', 'the plugin has no isReady function');
    const timeoutPromise = new Promise((resolve) => {
      clock.setTimer(() => resolve(undefined), readinessLimitMs);
    });
    const readinessResult: unknown = await Promise.race([
      Promise.resolve(Reflect.apply(isReady, this.#plugin, [])),
      timeoutPromise,
      callRun.outcome,
    ]);
    if (readinessResult !== true && !callRun.isOver)
      throw new SimulatedCallError('not_ready', 'isReady() did not return true; is the user logged in?');
  }

  #startHandler(
    callRun: SimulatedCallRun,
    kind: 'tools' | 'prompts',
    toolDefinition: Properties,
    params: unknown,
  ): void {
    const reportHookError = (hook: string, error: unknown) =>
      callRun.context.reportProgress({ message: `${hook} failed: ${readMessage(error)}` });
    const installedPlugin = { name: String(this.#plugin.name ?? ''), plugin: this.#plugin, reportHookError };
    const wrappedDefinition =
      kind === 'tools' ? wrapTool(installedPlugin, toolDefinition) : wrapPrompt(installedPlugin, toolDefinition);
    const handlerMethod = wrappedDefinition[kind === 'tools' ? 'handle' : 'render'];
    if (!isMethod(handlerMethod))
      throw new SimulatedCallError('internal', `${String(toolDefinition.name)} has no handler`);
    callRun.start(toolDefinition.limits);
    this.#page.onNavigate((url) => callRun.navigate(url));
    Promise.resolve(Reflect.apply(handlerMethod, wrappedDefinition, [params, callRun.context])).then(
      (value) => callRun.onHandlerSettled(() => checkOutput(toolDefinition, kind, value)),
      (error: unknown) => {
        if (!callRun.isOver && !callRun.context.signal.aborted) addThrownError(String(toolDefinition.name), error);
        callRun.onHandlerSettled(() => Promise.reject(error));
      },
    );
  }
}

class SimulatedCallRun {
  readonly context: TestContext;
  readonly outcome: Promise<SimulatedCall>;
  isOver = false;
  readonly #startedAt = clock.now;
  readonly #options: CallOptions;
  #idleTimer = 0;
  #idleLimitMs = idleLimitMs;
  #timers: number[] = [];
  #isStopping = false;
  #hasSettled = false;
  #resolveOutcome: (call: SimulatedCall) => void = () => undefined;
  #stopError: SimulatedError | undefined;

  constructor(options: CallOptions, script: SimulateOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve) => {
      this.#resolveOutcome = resolve;
    });
    const { tools, user: userBehavior, decision } = script;
    this.context = makeContext({ tools, user: userBehavior, decision }, () => this.#handleReport());
  }

  start(callLimits: unknown): void {
    const toolLimits = hasProperties(callLimits) ? callLimits : {};
    if (typeof toolLimits.idleTimeoutMs === 'number') this.#idleLimitMs = toolLimits.idleTimeoutMs;
    const hardTimeoutMs =
      typeof toolLimits.hardTimeoutMs === 'number' ? Math.min(toolLimits.hardTimeoutMs, hardLimitMs) : hardLimitMs;
    this.#restartIdleTimer();
    this.#setTimer(hardTimeoutMs, () =>
      this.#stopCall('deadline_exceeded', `it reached the hard limit of ${hardTimeoutMs / 1000} s`),
    );
    const { cancelAt, navigateAt } = this.#options;
    if (cancelAt !== undefined) this.#setTimer(cancelAt, () => this.#stopCall('cancelled', 'cancelled by the client'));
    if (navigateAt !== undefined) this.#setTimer(navigateAt, () => this.navigate('another page'));
  }

  navigate(url: string): void {
    this.#setTimer(navigationDelayMs, () => {
      this.fail('navigated', `the tab navigated to ${url} while the tool ran`);
    });
  }

  onHandlerSettled(readOutcome: () => unknown): void {
    this.#hasSettled = true;
    if (this.isOver) return;
    if (this.#isStopping) {
      this.#finish({ stopped: 'aborted' });
      return;
    }
    Promise.resolve()
      .then(readOutcome)
      .then(
        (result) => this.#finish({ result }),
        (error: unknown) => this.failWith(error),
      );
  }

  failWith(error: unknown): void {
    this.#stopError = toSimulatedError(error);
    this.#finish({});
  }

  fail(code: string, message: string): void {
    this.failWith(new SimulatedCallError(code, message));
  }

  /** After the handler's signal is aborted, the simulated call ends when its handler settles, or 2 s later. */
  #stopCall(code: string, message: string): void {
    if (this.isOver || this.#isStopping) return;
    this.#isStopping = true;
    this.#stopError = { code, message };
    this.context.stop(message);
    clock.setTimer(() => {
      if (!this.#hasSettled) this.#finish({ stopped: 'ignored' });
    }, callStopTimeoutMs);
  }

  #handleReport(): void {
    if (this.isOver || this.#isStopping) return;
    this.#restartIdleTimer();
    const { reports, activities } = this.context;
    if (reports.length + activities.length === this.#options.cancelAtReport)
      this.#stopCall('cancelled', 'cancelled by the client');
  }

  #restartIdleTimer(): void {
    clock.clearTimer(this.#idleTimer);
    const idleSeconds = this.#idleLimitMs / 1000;
    this.#idleTimer = clock.setTimer(
      () => this.#stopCall('idle_timeout', `no progress and no result for ${idleSeconds} s`),
      this.#idleLimitMs,
    );
  }

  #setTimer(ms: number, callback: () => void): void {
    this.#timers.push(clock.setTimer(callback, ms));
  }

  #finish(callEnding: { result?: unknown; stopped?: 'aborted' | 'ignored' }): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const timer of [...this.#timers, this.#idleTimer]) clock.clearTimer(timer);
    const { reports, activities, calls, userRequests, dropped: droppedReports } = this.context;
    this.#resolveOutcome({
      ...(this.#stopError ? { error: this.#stopError } : { result: callEnding.result }),
      ...(callEnding.stopped && { stopped: callEnding.stopped }),
      reports: [...reports],
      activities: [...activities],
      calls: [...calls],
      userRequests: [...userRequests],
      dropped: [...droppedReports],
      tookMs: clock.now - this.#startedAt,
    });
  }
}

function toSimulatedError(error: unknown): SimulatedError {
  if (error instanceof SimulatedCallError) return { code: error.code, message: error.message };
  const message = readMessage(error);
  const code = hasProperties(error) && typeof error.code === 'string' ? error.code : '';
  if (!hasProperties(error) || code === '') return { code: 'tool_error', message };
  const tool = {
    code,
    retryable: error.retryable === true,
    ...(typeof error.category === 'string' && { category: error.category }),
    ...(typeof error.retryAfterMs === 'number' && { retryAfterMs: error.retryAfterMs }),
  };
  return { code: 'tool_error', message, tool };
}
