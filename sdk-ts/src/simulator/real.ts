import type { LogEntry } from '../log.ts';
import { hasProperties, isMethod, readMessage } from '../runtime/value.ts';
import { describeMissingRoute, FakeSite, type RouteRequest, toResponseParts } from './http.ts';
import { UnsupportedInBrowserError } from './mode.ts';
import { clock } from './page.ts';
import type { CallOptions, SimulatedCall, SimulatedTab, SimulateOptions } from './tab.ts';

// `opentabs plugin test` and the test script exchange messages of one line of JSON about the tabs of a real browser.

type OutgoingMessage =
  | { op: 'ask'; id: number; what: string; params: unknown }
  | { op: 'answer'; id: number; value?: unknown; error?: string };

/** `fetched` is true if the page's script made the request, and false for navigations and subresources. */
type PageRequest = RouteRequest & { readonly fetched: boolean };

interface IncomingMessage {
  readonly id: number;
  readonly request?: PageRequest;
  readonly value?: unknown;
  readonly error?: string;
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

let outgoingMessages: OutgoingMessage[] = [];
let lastId = 0;
const pendingRequests = new Map<number, PendingRequest>();
let currentTab: RealTab | undefined;

export function drainOutgoingMessages(): readonly OutgoingMessage[] {
  const messages = outgoingMessages;
  outgoingMessages = [];
  return messages;
}

export function hasPendingRequests(): boolean {
  return pendingRequests.size > 0;
}

export function resetBrowser(): void {
  pendingRequests.clear();
  currentTab = undefined;
}

export function receiveProtocolLine(protocolLine: string): void {
  const message: unknown = JSON.parse(protocolLine);
  if (!isIncomingMessage(message)) throw new Error('opentabs sent a malformed message to the test');
  if (message.request) {
    answerPageRequest(message.id, message.request);
    return;
  }
  const request = pendingRequests.get(message.id);
  pendingRequests.delete(message.id);
  if (message.error === undefined) request?.resolve(message.value);
  else request?.reject(new Error(message.error));
}

function isIncomingMessage(value: unknown): value is IncomingMessage {
  return hasProperties(value) && typeof value.id === 'number';
}

function requestBrowser(operation: string, params: unknown): Promise<unknown> {
  const id = ++lastId;
  outgoingMessages.push({ op: 'ask', id, what: operation, params });
  return new Promise((resolve, reject) => {
    pendingRequests.set(id, { resolve, reject });
  });
}

function answerPageRequest(id: number, request: PageRequest): void {
  const browserAnswer = currentTab ? currentTab.answer(request) : Promise.resolve(undefined);
  browserAnswer.then(
    (value) => outgoingMessages.push({ op: 'answer', id, value }),
    (error: unknown) => outgoingMessages.push({ op: 'answer', id, error: readMessage(error) }),
  );
}

export function openRealTab(options: SimulateOptions): SimulatedTab {
  const tab = new RealTab(options);
  currentTab = tab;
  return tab;
}

class RealTab implements SimulatedTab {
  readonly logs: LogEntry[] = [];
  readonly console = [];
  readonly #openPromise: Promise<unknown>;
  #site: FakeSite;
  #missingRoutes: string[] = [];
  #url: string;

  constructor(options: SimulateOptions) {
    rejectUnsupported(options);
    const { url, html, cookies, localStorage, sessionStorage, globals, settings, user: userBehavior } = options;
    this.#url = url ?? '';
    this.#site = new FakeSite(clock, options.routes ?? {}, () => this.#url);
    this.#openPromise = requestBrowser('open', {
      url,
      html,
      cookies,
      localStorage,
      sessionStorage,
      globals,
      settings,
      user: userBehavior,
    });
    this.#openPromise.then(
      (state) => this.#updatePageState(state),
      () => undefined, // The code that awaits #openPromise receives the error.
    );
  }

  get requests(): readonly RouteRequest[] {
    return this.#site.requests;
  }

  get url(): string {
    return this.#url;
  }

  async wait(ms: number): Promise<void> {
    await this.#openPromise;
    await new Promise<void>((resolve) => {
      clock.setTimer(resolve, ms);
    });
    this.#updatePageState(await requestBrowser('look', {}));
  }

  async call(tool: string, input: unknown, options: CallOptions = {}): Promise<SimulatedCall> {
    await this.#openPromise;
    this.#missingRoutes = [];
    const browserAnswer = await requestBrowser('call', { tool, input, ...options });
    if (!hasProperties(browserAnswer) || !isSimulatedCall(browserAnswer.call))
      throw new Error('opentabs sent no outcome for the call');
    this.#updatePageState(browserAnswer);
    const { call } = browserAnswer;
    if (!call.error || this.#missingRoutes.length === 0) return call;
    const message = [call.error.message, ...this.#missingRoutes].join('\n');
    return { ...call, error: { ...call.error, message } };
  }

  async prompt(): Promise<SimulatedCall> {
    throw new UnsupportedInBrowserError('it renders a prompt, which requires a simulated page');
  }

  async answer(request: PageRequest): Promise<unknown> {
    const { method, url, headers, body, fetched: isFetched } = request;
    const routeRequest: RouteRequest = { method, url, headers, body };
    if (isFetched) this.#site.requests.push(routeRequest);
    const browserAnswer = await this.#site.answer(routeRequest);
    if (!browserAnswer) {
      if (isFetched) this.#missingRoutes.push(describeMissingRoute(routeRequest));
      return { missing: true };
    }
    if (typeof browserAnswer.delayMs === 'number') {
      const ms = browserAnswer.delayMs;
      await new Promise<void>((resolve) => {
        clock.setTimer(resolve, ms);
      });
    }
    const content = toResponseParts(browserAnswer);
    const hasNetworkError = typeof browserAnswer.error === 'string';
    return {
      status: content.status,
      headers: Object.fromEntries(content.headers),
      body: content.body,
      broken: hasNetworkError,
    };
  }

  #updatePageState(state: unknown): void {
    if (!hasProperties(state)) return;
    if (typeof state.url === 'string') this.#url = state.url;
    if (Array.isArray(state.logs)) this.logs.push(...state.logs.filter(isLogEntry));
  }
}

function isSimulatedCall(value: unknown): value is SimulatedCall {
  return hasProperties(value) && Array.isArray(value.reports);
}

function isLogEntry(value: unknown): value is LogEntry {
  return hasProperties(value) && typeof value.message === 'string';
}

function rejectUnsupported(options: SimulateOptions): void {
  const { preScript, tools, decision, user: userBehavior } = options;
  const reason = 'which requires a simulated page';
  if (preScript)
    throw new UnsupportedInBrowserError(`it sets preScript, ${reason}: a real browser runs the pre-script itself`);
  if (tools) throw new UnsupportedInBrowserError(`it simulates tools of other plugins, ${reason}`);
  if (decision) throw new UnsupportedInBrowserError(`it sets a decision, ${reason}`);
  if (userBehavior !== undefined && userBehavior !== 'done' && userBehavior !== 'deny')
    throw new UnsupportedInBrowserError(`it simulates the user with a function, ${reason}`);
  const functionGlobals = Object.entries(options.globals ?? {}).filter(([, value]: [string, unknown]) =>
    isMethod(value),
  );
  if (functionGlobals.length > 0) throw new UnsupportedInBrowserError(`it sets functions on window, ${reason}`);
}
