import type { Report } from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import type { PagePort, PagePortEvents } from '../../chrome-pages.ts';
import type { InputRequest } from '../../page/input-request.ts';
import type { PageError, PageNumbers, PageOperationName, PageOperationOf, PageResult } from '../../page/operations.ts';
import { readFromPage, type SentToPage, type UnknownFromPage } from '../../page-message.ts';
import { splitText, TextJoiner } from '../../text-pieces.ts';
import { awaitWithin, sleep } from '../../within.ts';
import type { FrameNumbers } from './frame-numbers.ts';
import { isInputRequest, isProgress, readAnswer } from './page-answers.ts';
import { addUserText, callFailure, makeDocumentGoneFailure, ToolFailure, toolFailure } from './tool-failure.ts';

/** PageDocument identifies one document of a tab: the top document, or the document of a child frame. */
export interface PageDocument {
  readonly tabId: number;
  /** frameId is Chrome's ID of the frame, which is 0 for the top frame. */
  readonly frameId: number;
  readonly documentId: string;
}

export interface PageScriptsOptions {
  readonly numbers: Pick<FrameNumbers, 'get' | 'set'>;
  inject(tabId: number, documentIds: readonly string[]): Promise<void>;
  connect(tabId: number, documentId: string, events: PagePortEvents): PagePort;
  readTabState(tabId: number): Promise<TabState>;
  hasDocument(document: PageDocument): Promise<boolean>;
  findAccessProblem(document: PageDocument): Promise<string | undefined>;
  /** isBlocked reports whether an open JavaScript dialog blocks the page of a tab. */
  isBlocked(tabId: number): boolean;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  report(report: Report): void;
  /**
   * onSilent is called when the page has not answered pings for SilentAfterMs. If the page has still not answered when
   * onSilent returns, the operation fails with the error that onSilent returned.
   */
  onSilent?(hasBegun: boolean): Promise<ToolFailure | undefined>;
  /**
   * onInput sends trusted input to the page when the page script requests input, and resolves with true if the input
   * was sent. If onInput is missing, the page script uses synthetic events instead of trusted input.
   */
  onInput?(request: InputRequest): Promise<boolean>;
}

/** PageLostError is the error of an operation whose document was closed or replaced during the operation. */
export class PageLostError extends ToolFailure {
  readonly state: TabState;
  /** hasBegun is false if the worker's page script never received the requested operation. */
  readonly hasBegun: boolean;
  /** isReplaced is true if a script, such as a javascript: link, has replaced the content of the document. */
  readonly isReplaced: boolean;

  constructor(state: TabState, hasBegun: boolean, isReplaced = false) {
    super(makeDocumentGoneFailure(state, hasBegun).error);
    this.state = state;
    this.hasBegun = hasBegun;
    this.isReplaced = isReplaced;
  }
}

const InjectTimeoutMs = 5000;
const PingIntervalMs = 500;
const SilentAfterMs = 2000;
/**
 * ProbeTimeoutMs limits how long an unresponsive page may take to run a probe script, and to answer the next ping, in
 * milliseconds.
 */
const ProbeTimeoutMs = 500;
/** UnresponsiveAfterMs is how long a page may send no message before its operations fail, in milliseconds. */
const UnresponsiveAfterMs = 10_000;
const IdleCloseDelayMs = 30_000;
const CancelAnswerTimeoutMs = 2500;

interface PendingOperation {
  hasBegun: boolean;
  onProgress(value: unknown): void;
  onInput(value: unknown, answer: (isDone: boolean) => void): void;
  onAnswer(value: unknown): void;
  onLost(state: TabState, isReplaced: boolean): void;
  onSilent(silentMs: number): void;
}

/** PageScripts runs operations in the page scripts of documents. */
export class PageScripts {
  readonly #options: PageScriptsOptions;
  readonly #connections = new Map<string, Promise<Connection>>();

  constructor(options: PageScriptsOptions) {
    this.#options = options;
  }

  /** A failed operation throws a ToolFailure. */
  async run<N extends PageOperationName>(
    document: PageDocument,
    operation: PageOperationOf<N>,
    options: RunOptions,
  ): Promise<PageResult<N>> {
    options.signal.throwIfAborted();
    const connection = await this.#connect(document);
    options.signal.throwIfAborted();
    return await connection.run(operation, options);
  }

  async #connect(document: PageDocument): Promise<Connection> {
    const { documentId } = document;
    const open = this.#connections.get(documentId);
    if (open) return await open;
    const opening = this.#open(document);
    this.#connections.set(documentId, opening);
    opening.catch(() => this.#forget(documentId, opening));
    return await opening;
  }

  #forget(documentId: string, connection: Promise<Connection>): void {
    if (this.#connections.get(documentId) === connection) this.#connections.delete(documentId);
  }

  async #open(document: PageDocument): Promise<Connection> {
    const { tabId, frameId, documentId } = document;
    let problem: unknown;
    const injecting = this.#options.inject(tabId, [documentId]).then(
      () => true,
      (error: unknown) => {
        problem = error;
        return true;
      },
    );
    const hasSettled = await awaitWithin(injecting, InjectTimeoutMs);
    if (problem !== undefined) throw await this.#explainInjection(document, problem);
    if (!hasSettled) throw makeUnresponsiveFailure(false);
    const connection: Connection = new Connection({
      after: await this.#options.numbers.get(tabId, frameId),
      saveNumbers: (numbers) => void this.#options.numbers.set(tabId, frameId, numbers),
      connect: (events) => this.#options.connect(tabId, documentId, events),
      inject: () => this.#options.inject(tabId, [documentId]),
      readState: () => this.#options.readTabState(tabId),
      isBlocked: () => this.#options.isBlocked(tabId),
      onClosed: () => this.#connections.delete(documentId),
    });
    return connection;
  }

  async #explainInjection(document: PageDocument, problem: unknown): Promise<ToolFailure> {
    const state = await this.#options.readTabState(document.tabId);
    if (state !== 'open' || !(await this.#options.hasDocument(document))) return makeDocumentGoneFailure(state, false);
    const accessProblem = await this.#options.findAccessProblem(document);
    if (accessProblem !== undefined) return toolFailure('needs_permission', accessProblem);
    const reason = problem instanceof Error ? problem.message : String(problem);
    return toolFailure(
      'not_found',
      `Chrome runs no script of the extension in this page (${reason}). Use another page`,
    );
  }
}

function makeUnresponsiveFailure(hasBegun: boolean): ToolFailure {
  const message =
    'the page does not answer: a script keeps it busy, or it shows a dialog (alert, confirm, prompt) to the user. ' +
    'Try again later, or ask the user to look at the tab';
  const userText =
    'The page does not answer: a script keeps it busy, or it shows a dialog. Answer the dialog in the tab, or reload the tab.';
  const error = { code: 'page_unresponsive', message, userText } as const;
  return new ToolFailure(hasBegun ? error : { ...error, notStarted: true });
}

interface ConnectionOptions {
  /** `after` contains the highest ref number and snapshot number that earlier documents in the same frame have used. */
  readonly after: PageNumbers;
  saveNumbers(numbers: PageNumbers): void;
  connect(events: PagePortEvents): PagePort;
  /** In a document that already runs the page script, `inject` has no effect. */
  inject(): Promise<void>;
  readState(): Promise<TabState>;
  isBlocked(): boolean;
  onClosed(): void;
}

/** Connection is an open port to the page script of one document. */
class Connection {
  readonly #options: ConnectionOptions;
  readonly #port: PagePort;
  readonly #joiner = new TextJoiner();
  readonly #pending = new Map<number, PendingOperation>();
  #lastId = 0;
  #lastMessageAtMs = Date.now();
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #lingerTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #probe: Promise<boolean> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#port = options.connect({
      onText: (piece) => {
        this.#lastMessageAtMs = Date.now();
        const text = this.#joiner.add(piece);
        const message = text === undefined ? undefined : readFromPage(text);
        if (message) this.#receive(message);
      },
      onDisconnect: () => void this.#disconnected(),
    });
  }

  async run<N extends PageOperationName>(operation: PageOperationOf<N>, options: RunOptions): Promise<PageResult<N>> {
    const { signal } = options;
    if (this.#isClosed) throw new PageLostError(await this.#options.readState(), false);
    const id = ++this.#lastId;
    let cancelTimer: ReturnType<typeof setTimeout> | undefined;
    const cancel = () => this.#send({ op: 'cancel', id, reason: String(signal.reason) });
    try {
      return await new Promise<PageResult<N>>((resolve, reject) => {
        this.#add(id, this.#pendingOperation(operation, options, resolve, reject));
        signal.addEventListener('abort', () => {
          cancelTimer = setTimeout(() => reject(signal.reason), CancelAnswerTimeoutMs);
          cancel();
        });
        const hasInput = options.onInput !== undefined;
        this.#send({ op: 'run', id, operation, after: this.#options.after, hasInput });
      });
    } catch (error) {
      if (this.#pending.has(id)) cancel();
      throw signal.aborted ? addProgressToReason(signal.reason, error) : error;
    } finally {
      clearTimeout(cancelTimer);
      this.#remove(id);
    }
  }

  #pendingOperation<N extends PageOperationName>(
    operation: PageOperationOf<N>,
    options: RunOptions,
    resolve: (result: PageResult<N>) => void,
    reject: (error: unknown) => void,
  ): PendingOperation {
    let isAsking = false;
    const pending: PendingOperation = {
      hasBegun: false,
      onProgress: (value) => {
        if (isProgress(value)) options.report(value);
      },
      onInput: (value, answer) => {
        const making = isInputRequest(value) ? options.onInput?.(value) : undefined;
        void (making ?? Promise.resolve(false)).then(answer, (error: unknown) => {
          answer(false);
          if (!options.signal.aborted) reject(error); // A cancelled operation reports its progress itself.
        });
      },
      onAnswer: (value) => {
        const answer = readAnswer(operation.name, value);
        if (!answer) reject(callFailure('internal', `the page script sent an invalid answer to ${operation.name}`));
        else if (answer.ok) resolve(answer.result);
        else reject(toOperationFailure(answer.error));
      },
      onLost: (state, isReplaced) => reject(new PageLostError(state, pending.hasBegun, isReplaced)),
      onSilent: async (silentMs) => {
        if (silentMs >= UnresponsiveAfterMs) reject(makeUnresponsiveFailure(pending.hasBegun));
        if (isAsking || !options.onSilent) return;
        isAsking = true;
        const failure = await options.onSilent(pending.hasBegun);
        if (await this.#probe) return;
        isAsking = false;
        if (failure && Date.now() - this.#lastMessageAtMs >= SilentAfterMs) reject(failure);
      },
    };
    return pending;
  }

  #add(id: number, operation: PendingOperation): void {
    clearTimeout(this.#lingerTimer);
    if (this.#pending.size === 0) {
      this.#lastMessageAtMs = Date.now();
      this.#pingTimer = setInterval(() => this.#ping(), PingIntervalMs);
    }
    this.#pending.set(id, operation);
  }

  #remove(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    clearInterval(this.#pingTimer);
    if (!this.#isClosed) this.#lingerTimer = setTimeout(() => this.#close(), IdleCloseDelayMs);
  }

  #ping(): void {
    this.#send({ op: 'ping' });
    if (this.#options.isBlocked()) this.#lastMessageAtMs = Date.now();
    const silentMs = Date.now() - this.#lastMessageAtMs;
    if (silentMs >= SilentAfterMs) this.#probe ??= this.#findReplaced();
    else this.#probe = undefined;
    if (silentMs >= SilentAfterMs) for (const operation of this.#pending.values()) operation.onSilent(silentMs);
  }

  /**
   * Chrome does not report replaced content and keeps the port open. If a document runs scripts of the extension but
   * does not answer over the port, another script has replaced its content.
   */
  async #findReplaced(): Promise<boolean> {
    const probedMs = Date.now();
    const injected = this.#options.inject().then(
      () => true,
      () => false,
    );
    if ((await awaitWithin(injected, ProbeTimeoutMs)) !== true) return false;
    this.#send({ op: 'ping' });
    await sleep(ProbeTimeoutMs);
    if (this.#lastMessageAtMs >= probedMs || this.#isClosed) return false;
    this.#close();
    const state = await this.#options.readState();
    for (const operation of [...this.#pending.values()]) operation.onLost(state, true);
    return true;
  }

  #send(message: SentToPage): void {
    if (this.#isClosed) return;
    for (const piece of splitText(JSON.stringify(message))) this.#port.post(piece);
  }

  #receive(message: UnknownFromPage): void {
    if (message.op === 'answer') this.#options.saveNumbers(message.last);
    const operation = this.#pending.get(message.id);
    if (!operation) return;
    operation.hasBegun = true;
    if (message.op === 'progress') operation.onProgress(message.progress);
    if (message.op === 'input')
      operation.onInput(message.request, (isDone) => this.#send({ op: 'inputDone', input: message.input, isDone }));
    if (message.op === 'answer') operation.onAnswer(message.answer);
  }

  #close(): void {
    this.#isClosed = true;
    this.#options.onClosed();
    this.#port.disconnect();
  }

  async #disconnected(): Promise<void> {
    clearTimeout(this.#lingerTimer);
    if (!this.#isClosed) this.#options.onClosed();
    this.#isClosed = true;
    const state = await this.#options.readState();
    for (const operation of [...this.#pending.values()]) operation.onLost(state, false);
  }
}

class OperationFailure extends ToolFailure {
  /** The field `progress` is a sentence that describes what the operation did before it failed, or an empty string. */
  readonly progress: string;

  constructor({ error }: ToolFailure, progress: string) {
    super(error);
    this.progress = progress;
  }
}

/**
 * If the abort reason of a cancelled operation is a ToolFailure, addProgressToReason adds to the reason what the
 * operation has already done.
 */
function addProgressToReason(reason: unknown, error: unknown): unknown {
  if (!(reason instanceof ToolFailure) || !(error instanceof OperationFailure)) return reason;
  return new ToolFailure({ ...reason.error, message: `${reason.message} ${error.progress}`.trim() });
}

function toOperationFailure({ code, message, done, pageText }: PageError): OperationFailure {
  const progress = done === undefined ? '' : `Before that: ${done}.`;
  const text = `${message} ${progress}`.trim();
  const failure =
    code === 'cancelled' || code === 'internal' || code === 'invalid_arguments'
      ? callFailure(code, text, pageText)
      : toolFailure(code, addUserText(code, text), pageText);
  return new OperationFailure(failure, progress);
}
