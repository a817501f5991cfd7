import type { LogEntry } from '../log.ts';
import { isBag, isMethod, messageOf } from '../runtime/value.ts';
import { contentOf, FakeSite, missing, type RouteRequest } from './http.ts';
import { NotInBrowser } from './mode.ts';
import { clock } from './page.ts';
import type { CallOptions, SimulatedCall, SimulatedTab, SimulateOptions } from './tab.ts';

// Tabs of a real browser. The program has the browser; what a test wants of it goes out as a line of JSON, and the
// answers and the requests of the page come in as lines.

/** What the program is told. */
type Said =
  | { op: 'ask'; id: number; what: string; params: unknown }
  | { op: 'answer'; id: number; value?: unknown; error?: string };

/** What the program says: the answer to a question, or a request of the page that wants an answer. */
interface Heard {
  readonly id: number;
  readonly request?: RouteRequest & { readonly fetched: boolean };
  readonly value?: unknown;
  readonly error?: string;
}

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

let saying: Said[] = [];
let serial = 0;
const questions = new Map<number, Question>();
/** The tab of the test that runs; undefined before it has opened one. */
let current: RealTab | undefined;

/** Returns what the program has to be told, once. */
export function said(): readonly Said[] {
  const all = saying;
  saying = [];
  return all;
}

/** Reports whether something was asked that has no answer yet. */
export function asking(): boolean {
  return questions.size > 0;
}

/** Forgets what an earlier test has asked, and its tab. */
export function forgetAsked(): void {
  questions.clear();
  current = undefined;
}

/** Takes a line of the program. */
export function hear(line: string): void {
  const heard: unknown = JSON.parse(line);
  if (!isHeard(heard)) throw new Error('the program said something that is not known');
  if (heard.request) {
    serve(heard.id, heard.request);
    return;
  }
  const question = questions.get(heard.id);
  questions.delete(heard.id);
  if (heard.error === undefined) question?.resolve(heard.value);
  else question?.reject(new Error(heard.error));
}

function isHeard(value: unknown): value is Heard {
  return isBag(value) && typeof value.id === 'number';
}

function ask(what: string, params: unknown): Promise<unknown> {
  const id = ++serial;
  saying.push({ op: 'ask', id, what, params });
  return new Promise((resolve, reject) => {
    questions.set(id, { resolve, reject });
  });
}

/** Answers a request of the page by the routes of the test. */
function serve(id: number, request: RouteRequest & { readonly fetched: boolean }): void {
  const answered = current ? current.answer(request) : Promise.resolve(undefined);
  answered.then(
    (value) => saying.push({ op: 'answer', id, value }),
    (error: unknown) => saying.push({ op: 'answer', id, error: messageOf(error) }),
  );
}

/** Opens a tab of the browser. */
export function openReal(options: SimulateOptions): SimulatedTab {
  const tab = new RealTab(options);
  current = tab;
  return tab;
}

class RealTab implements SimulatedTab {
  readonly logs: LogEntry[] = [];
  readonly console = [];
  readonly #opened: Promise<unknown>;
  #site: FakeSite;
  #missing: string[] = [];
  #url: string;

  constructor(options: SimulateOptions) {
    refuse(options);
    const { url, html, cookies, localStorage, sessionStorage, globals, settings, user } = options;
    this.#url = url ?? '';
    this.#site = new FakeSite(clock, options.routes ?? {}, () => this.#url);
    this.#opened = ask('open', { url, html, cookies, localStorage, sessionStorage, globals, settings, user });
    this.#opened.then(
      (state) => this.#take(state),
      () => undefined, // whoever awaits it is told
    );
  }

  get requests(): readonly RouteRequest[] {
    return this.#site.requests;
  }

  get url(): string {
    return this.#url;
  }

  async wait(ms: number): Promise<void> {
    await this.#opened;
    await new Promise<void>((resolve) => {
      clock.set(resolve, ms);
    });
    this.#take(await ask('look', {}));
  }

  async call(tool: string, input: unknown, options: CallOptions = {}): Promise<SimulatedCall> {
    await this.#opened;
    this.#missing = [];
    const answer = await ask('call', { tool, input, ...options });
    if (!isBag(answer) || !isCall(answer.call)) throw new Error('the program did not say how the call ended');
    this.#take(answer);
    const { call } = answer;
    if (!call.error || this.#missing.length === 0) return call;
    const message = [call.error.message, ...this.#missing].join('\n');
    return { ...call, error: { ...call.error, message } };
  }

  async prompt(): Promise<SimulatedCall> {
    throw new NotInBrowser('it renders a prompt, which only the played page does');
  }

  async answer(request: RouteRequest & { readonly fetched: boolean }): Promise<unknown> {
    const { method, url, headers, body } = request;
    const asked: RouteRequest = { method, url, headers, body };
    if (request.fetched) this.#site.requests.push(asked);
    const answer = await this.#site.answer(asked);
    if (!answer) {
      if (request.fetched) this.#missing.push(missing(asked));
      return { missing: true };
    }
    if (typeof answer.delayMs === 'number') {
      const ms = answer.delayMs;
      await new Promise<void>((resolve) => {
        clock.set(resolve, ms);
      });
    }
    const content = contentOf(answer);
    const broken = typeof answer.error === 'string';
    return { status: content.status, headers: Object.fromEntries(content.headers), body: content.body, broken };
  }

  #take(state: unknown): void {
    if (!isBag(state)) return;
    if (typeof state.url === 'string') this.#url = state.url;
    if (Array.isArray(state.logs)) this.logs.push(...state.logs.filter(isEntry));
  }
}

function isCall(value: unknown): value is SimulatedCall {
  return isBag(value) && Array.isArray(value.reports);
}

function isEntry(value: unknown): value is LogEntry {
  return isBag(value) && typeof value.message === 'string';
}

/** Refuses what can only be played. */
function refuse(options: SimulateOptions): void {
  const { preScript, tools, decision, user } = options;
  const only = 'which only the played page does';
  if (preScript) throw new NotInBrowser(`it gives preScript, ${only}: a browser runs the pre-script itself`);
  if (tools) throw new NotInBrowser(`it plays tools of other plugins, ${only}`);
  if (decision) throw new NotInBrowser(`it plays a decision, ${only}`);
  if (user !== undefined && user !== 'done' && user !== 'deny') throw new NotInBrowser(`it plays the person, ${only}`);
  const functions = Object.entries(options.globals ?? {}).filter(([, value]: [string, unknown]) => isMethod(value));
  if (functions.length > 0) throw new NotInBrowser(`it puts functions on window, ${only}`);
}
