import type { Report } from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import type { PagePort, PagePortEvents } from '../../chrome-pages.ts';
import type { InputRequest } from '../../page/input-request.ts';
import type {
  LastUsedNumbers,
  PageError,
  PageOperationName,
  PageOperationOf,
  PageResult,
} from '../../page/operations.ts';
import { readMessageFromPage, type SerializedPageMessage, type UnvalidatedPageMessage } from '../../page-message.ts';
import { splitText, TextJoiner } from '../../text-pieces.ts';
import { awaitWithin, sleep } from '../../within.ts';
import type { FrameNumbers } from './frame-numbers.ts';
import { isInputRequest, isProgress, readPageAnswer } from './page-answers.ts';
import { addUserText, makeCallFailure, makeDocumentGoneFailure, ToolFailure, toolFailure } from './tool-failure.ts';

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
   * onSilence is called when the page has not answered pings for PageSilenceThresholdMs. If the page has still not
   * answered when onSilence returns, the operation fails with the error that onSilence returned.
   */
  onSilence?(hasBegun: boolean): Promise<ToolFailure | undefined>;
  /**
   * onInput sends trusted input to the page when the page script requests input, and resolves with true if the input
   * was sent. If onInput is missing, the page script uses synthetic events instead of trusted input.
   */
  onInput?(request: InputRequest): Promise<boolean>;
}

/** PageLostError is the error of an operation whose document was closed or replaced during the operation. */
export class PageLostError extends ToolFailure {
  readonly state: TabState;
  /** hasBegun is false if the page script never started the requested operation. */
  readonly hasBegun: boolean;
  /** isReplaced is true if a script, such as a javascript: link, has replaced the content of the document. */
  readonly isReplaced: boolean;
  /**
   * doneSteps is the number of form fields that the operation had filled, or undefined if the operation had not begun
   * to act on the page.
   */
  readonly doneSteps: number | undefined;

  constructor(tabState: TabState, hasBegun: boolean, isReplaced = false, doneSteps?: number) {
    super(makeDocumentGoneFailure(tabState, hasBegun).error);
    this.state = tabState;
    this.hasBegun = hasBegun;
    this.isReplaced = isReplaced;
    this.doneSteps = doneSteps;
  }
}

const InjectTimeoutMs = 5000;
const PingIntervalMs = 500;
const PageSilenceThresholdMs = 2000;
/**
 * ContentProbeTimeoutMs limits how long an unresponsive page may take to run a probe script, and to answer the next
 * ping, in milliseconds.
 */
const ContentProbeTimeoutMs = 500;
/** UnresponsiveAfterMs is how long a page may send no message before its operations fail, in milliseconds. */
const UnresponsiveAfterMs = 10_000;
/** After MaxLateStarts late messages of one operation, the page counts as unresponsive. */
const MaxLateStarts = 10;
const IdleCloseDelayMs = 30_000;
const CancelAnswerTimeoutMs = 2500;

interface PendingOperation {
  hasBegun: boolean;
  /** doneSteps is defined as in PageLostError. */
  doneSteps: number | undefined;
  /** sentAtMs is when the worker last sent the message 'run' or 'start', in milliseconds of Date.now(). */
  sentAtMs: number;
  onLate(): void;
  onProgress(value: unknown): void;
  onInput(value: unknown, reportInputDone: (isDone: boolean) => void): void;
  onAnswer(value: unknown): void;
  onPageLost(tabState: TabState, isReplaced: boolean): void;
  onSilence(silentMs: number): void;
}

/** PageScripts runs operations in the page scripts of documents. */
export class PageScripts {
  readonly #options: PageScriptsOptions;
  readonly #connections = new Map<string, Promise<PageConnection>>();

  constructor(options: PageScriptsOptions) {
    this.#options = options;
  }

  /** The method `run` runs an operation in a document, and throws a ToolFailure if the operation fails. */
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

  async #connect(document: PageDocument): Promise<PageConnection> {
    const { documentId } = document;
    const openConnection = this.#connections.get(documentId);
    if (openConnection) return await openConnection;
    const connectionPromise = this.#openConnection(document);
    this.#connections.set(documentId, connectionPromise);
    connectionPromise.catch(() => this.#removeConnection(documentId, connectionPromise));
    return await connectionPromise;
  }

  #removeConnection(documentId: string, connection: Promise<PageConnection>): void {
    if (this.#connections.get(documentId) === connection) this.#connections.delete(documentId);
  }

  async #openConnection(document: PageDocument): Promise<PageConnection> {
    const { tabId, frameId, documentId } = document;
    let injectionProblem: unknown;
    const injectionPromise = this.#options.inject(tabId, [documentId]).then(
      () => true,
      (error: unknown) => {
        injectionProblem = error;
        return true;
      },
    );
    const hasInjectionSettled = await awaitWithin(injectionPromise, InjectTimeoutMs);
    if (injectionProblem !== undefined) throw await this.#explainInjectionFailure(document, injectionProblem);
    if (!hasInjectionSettled) throw makeUnresponsiveFailure(false);
    const connection: PageConnection = new PageConnection({
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

  async #explainInjectionFailure(document: PageDocument, injectionProblem: unknown): Promise<ToolFailure> {
    const tabState = await this.#options.readTabState(document.tabId);
    if (tabState !== 'open' || !(await this.#options.hasDocument(document)))
      return makeDocumentGoneFailure(tabState, false);
    const accessProblem = await this.#options.findAccessProblem(document);
    if (accessProblem !== undefined) return toolFailure('needs_permission', accessProblem);
    const reason = injectionProblem instanceof Error ? injectionProblem.message : String(injectionProblem);
    return toolFailure(
      'not_found',
      `Chrome runs no script of the extension in this page (${reason}). Use another page`,
    );
  }
}

function makeUnresponsiveFailure(hasBegun: boolean): ToolFailure {
  const failureMessage =
    'the page does not answer: a script keeps it busy, or it shows a dialog (alert, confirm, prompt) to the user. ' +
    'Try again later, or ask the user to look at the tab';
  const userText =
    'The page does not answer: a script keeps it busy, or it shows a dialog. Answer the dialog in the tab, or reload the tab.';
  const error = { code: 'page_unresponsive', message: failureMessage, userText } as const;
  return new ToolFailure(hasBegun ? error : { ...error, notStarted: true });
}

interface ConnectionOptions {
  /** `after` contains the highest ref number and snapshot number that earlier documents in the same frame have used. */
  readonly after: LastUsedNumbers;
  saveNumbers(numbers: LastUsedNumbers): void;
  connect(events: PagePortEvents): PagePort;
  /** In a document that already runs the page script, `inject` has no effect. */
  inject(): Promise<void>;
  readState(): Promise<TabState>;
  isBlocked(): boolean;
  onClosed(): void;
}

/** PageConnection is an open port to the page script of one document. */
class PageConnection {
  readonly #options: ConnectionOptions;
  readonly #port: PagePort;
  readonly #textJoiner = new TextJoiner();
  readonly #pendingOperations = new Map<number, PendingOperation>();
  #lastId = 0;
  #lastMessageAtMs = Date.now();
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #idleCloseTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #contentProbe: Promise<boolean> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#port = options.connect({
      onText: (piece) => {
        this.#lastMessageAtMs = Date.now();
        const messageText = this.#textJoiner.add(piece);
        const pageMessage = messageText === undefined ? undefined : readMessageFromPage(messageText);
        if (pageMessage) this.#receive(pageMessage);
      },
      onDisconnect: () => void this.#onDisconnected(),
    });
  }

  async run<N extends PageOperationName>(operation: PageOperationOf<N>, options: RunOptions): Promise<PageResult<N>> {
    const { signal } = options;
    if (this.#isClosed) throw new PageLostError(await this.#options.readState(), false);
    const id = ++this.#lastId;
    let cancelTimer: ReturnType<typeof setTimeout> | undefined;
    const cancelOperation = () => this.#send({ op: 'cancel', id, reason: String(signal.reason) });
    try {
      return await new Promise<PageResult<N>>((resolve, reject) => {
        const pendingOperation = this.#makePendingOperation(id, operation, options, resolve, reject);
        this.#addOperation(id, pendingOperation);
        signal.addEventListener('abort', () => {
          cancelTimer = setTimeout(() => reject(signal.reason), CancelAnswerTimeoutMs);
          cancelOperation();
        });
        const hasInput = options.onInput !== undefined;
        const atMs = Date.now();
        pendingOperation.sentAtMs = atMs;
        this.#send({ op: 'run', id, operation, after: this.#options.after, hasInput, atMs });
      });
    } catch (error) {
      if (this.#pendingOperations.has(id)) cancelOperation();
      throw signal.aborted ? addProgressToAbortReason(signal.reason, error) : error;
    } finally {
      clearTimeout(cancelTimer);
      this.#removeOperation(id);
    }
  }

  #makePendingOperation<N extends PageOperationName>(
    id: number,
    operation: PageOperationOf<N>,
    options: RunOptions,
    resolve: (result: PageResult<N>) => void,
    reject: (error: unknown) => void,
  ): PendingOperation {
    let isCheckRunning = false;
    let lateCount = 0;
    const pendingOperation: PendingOperation = {
      hasBegun: false,
      doneSteps: undefined,
      sentAtMs: 0,
      onLate: () => {
        lateCount++;
        if (options.signal.aborted) reject(options.signal.reason);
        else if (lateCount > MaxLateStarts) reject(makeUnresponsiveFailure(false));
        else {
          const atMs = Date.now();
          pendingOperation.sentAtMs = atMs;
          this.#send({ op: 'start', id, atMs });
        }
      },
      onProgress: (value) => {
        if (!isProgress(value)) return;
        const { doneSteps, ...report } = value;
        if (doneSteps !== undefined) pendingOperation.doneSteps = Math.max(doneSteps, pendingOperation.doneSteps ?? 0);
        if (report.message !== '') options.report(report);
      },
      onInput: (value, reportInputDone) => {
        const inputPromise = isInputRequest(value) ? options.onInput?.(value) : undefined;
        void (inputPromise ?? Promise.resolve(false)).then(reportInputDone, (error: unknown) => {
          reportInputDone(false);
          if (!options.signal.aborted) reject(error); // a cancelled operation reports its own error
        });
      },
      onAnswer: (value) => {
        const answer = readPageAnswer(operation.name, value);
        if (!answer) reject(makeCallFailure('internal', `the page script sent an invalid answer to ${operation.name}`));
        else if (answer.ok) resolve(answer.result);
        else reject(toOperationFailure(answer.error));
      },
      onPageLost: (tabState, isReplaced) => {
        const { hasBegun, doneSteps } = pendingOperation;
        reject(new PageLostError(tabState, hasBegun, isReplaced, doneSteps));
      },
      onSilence: async (silentMs) => {
        if (silentMs >= UnresponsiveAfterMs) reject(makeUnresponsiveFailure(pendingOperation.hasBegun));
        if (isCheckRunning || !options.onSilence) return;
        isCheckRunning = true;
        const failure = await options.onSilence(pendingOperation.hasBegun);
        if (await this.#contentProbe) return;
        isCheckRunning = false;
        if (failure && this.#measureSilence(pendingOperation) >= PageSilenceThresholdMs) reject(failure);
      },
    };
    return pendingOperation;
  }

  #addOperation(id: number, operation: PendingOperation): void {
    clearTimeout(this.#idleCloseTimer);
    if (this.#pendingOperations.size === 0) {
      this.#lastMessageAtMs = Date.now();
      this.#pingTimer = setInterval(() => this.#ping(), PingIntervalMs);
    }
    this.#pendingOperations.set(id, operation);
  }

  #removeOperation(id: number): void {
    this.#pendingOperations.delete(id);
    if (this.#pendingOperations.size > 0) return;
    clearInterval(this.#pingTimer);
    if (!this.#isClosed) this.#idleCloseTimer = setTimeout(() => this.#close(), IdleCloseDelayMs);
  }

  #ping(): void {
    this.#send({ op: 'ping' });
    if (this.#options.isBlocked()) this.#lastMessageAtMs = Date.now();
    const silentMs = Date.now() - this.#lastMessageAtMs;
    if (silentMs >= PageSilenceThresholdMs) this.#contentProbe ??= this.#detectReplacedContent();
    else this.#contentProbe = undefined;
    for (const operation of this.#pendingOperations.values()) {
      const operationSilenceMs = this.#measureSilence(operation);
      if (operationSilenceMs >= PageSilenceThresholdMs) operation.onSilence(operationSilenceMs);
    }
  }

  /** The page script could still start an operation that the worker has sent recently, however long the page is silent. */
  #measureSilence(operation: PendingOperation): number {
    return Date.now() - Math.max(this.#lastMessageAtMs, operation.sentAtMs);
  }

  /**
   * Chrome does not report replaced content and keeps the port open. If a document runs scripts of the extension but
   * does not answer over the port, another script has replaced its content.
   */
  async #detectReplacedContent(): Promise<boolean> {
    const probeStartMs = Date.now();
    const injectedScript = this.#options.inject().then(
      () => true,
      () => false,
    );
    if ((await awaitWithin(injectedScript, ContentProbeTimeoutMs)) !== true) return false;
    this.#send({ op: 'ping' });
    await sleep(ContentProbeTimeoutMs);
    if (this.#lastMessageAtMs >= probeStartMs || this.#isClosed) return false;
    this.#close();
    const tabState = await this.#options.readState();
    for (const operation of [...this.#pendingOperations.values()]) operation.onPageLost(tabState, true);
    return true;
  }

  #send(messageToPage: SerializedPageMessage): void {
    if (this.#isClosed) return;
    for (const piece of splitText(JSON.stringify(messageToPage))) this.#port.post(piece);
  }

  #receive(pageMessage: UnvalidatedPageMessage): void {
    if (pageMessage.op === 'answer') this.#options.saveNumbers(pageMessage.last);
    const operation = this.#pendingOperations.get(pageMessage.id);
    if (!operation) return;
    if (pageMessage.op === 'late') {
      operation.onLate();
      return;
    }
    operation.hasBegun = true;
    if (pageMessage.op === 'progress') operation.onProgress(pageMessage.progress);
    if (pageMessage.op === 'input')
      operation.onInput(pageMessage.request, (isDone) =>
        this.#send({ op: 'inputDone', input: pageMessage.input, isDone }),
      );
    if (pageMessage.op === 'answer') operation.onAnswer(pageMessage.answer);
  }

  #close(): void {
    this.#isClosed = true;
    this.#options.onClosed();
    this.#port.disconnect();
  }

  async #onDisconnected(): Promise<void> {
    clearTimeout(this.#idleCloseTimer);
    if (!this.#isClosed) this.#options.onClosed();
    this.#isClosed = true;
    const tabState = await this.#options.readState();
    for (const operation of [...this.#pendingOperations.values()]) operation.onPageLost(tabState, false);
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
 * If the abort reason of a cancelled operation is a ToolFailure, addProgressToAbortReason adds what the operation did
 * before the cancellation to the reason.
 */
function addProgressToAbortReason(reason: unknown, error: unknown): unknown {
  if (!(reason instanceof ToolFailure) || !(error instanceof OperationFailure)) return reason;
  return new ToolFailure({ ...reason.error, message: `${reason.message} ${error.progress}`.trim() });
}

function toOperationFailure({ code, message: failureMessage, done, pageText }: PageError): OperationFailure {
  const progress = done === undefined ? '' : `Before that: ${done}.`;
  const messageText = `${failureMessage} ${progress}`.trim();
  const failure =
    code === 'cancelled' || code === 'internal' || code === 'invalid_arguments'
      ? makeCallFailure(code, messageText, pageText)
      : toolFailure(code, addUserText(code, messageText), pageText);
  return new OperationFailure(failure, progress);
}
