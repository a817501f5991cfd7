import type {
  BrowserHops,
  CallError,
  CancelOutcome,
  PageHops,
  ToolAnswerParams,
  ToolCancelParams,
  ToolDispatchParams,
  ToolResyncParams,
} from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import { measureMicroseconds } from '../../microseconds.ts';
import { type BridgeToWorkerMessage, MaxCallAgeMs, type WorkerToBridgeMessage } from '../../port-message.ts';
import { type PortHandlers, routeMessage } from '../../port-router.ts';
import type { Doc, DocumentTable } from '../documents/docs.ts';
import type { HealthMonitor } from '../documents/health.ts';
import { Signal } from '../signal.ts';
import { errorsByTabState, frozenTabError, notStartedErrors, readError } from './endings.ts';
import { makeNavigatingDocuments, type NavigatingDocuments } from './navigating.ts';
import type { Outbox } from './outbox.ts';
import type { CallTrace, RunningCall, RunningCalls } from './running.ts';
import { makeToolRequests, type ToolRequests } from './tool-requests.ts';

/** ReconnectTimeoutMs limits how long a document may take to reconnect after its port closed, in milliseconds. */
const ReconnectTimeoutMs = 50;
/**
 * CrashReportDelayMs is how long the worker waits for Chrome to report a crash after a page's port closed, in
 * milliseconds.
 */
const CrashReportDelayMs = 2000;
/** ConnectTimeoutMs limits how long documents may take to connect to a restarted worker, in milliseconds. */
const ConnectTimeoutMs = 300;
const BusyPageConnectTimeoutMs = 10_000;
/** PingAnswerTimeMs is the time that the answer to a ping may take from the document to the worker, in milliseconds. */
const PingAnswerTimeMs = 2000;
/**
 * UnstartedCallTimeoutMs is how long after its sending a call to a silent document fails, in milliseconds. The bridge
 * can start the call until MaxCallAgeMs, and answers the preceding ping first.
 */
const UnstartedCallTimeoutMs = MaxCallAgeMs + PingAnswerTimeMs;
/** If a timer fires later than MaxTimerDelayMs, the worker was stopped, and answers of documents may wait in its queue. */
const MaxTimerDelayMs = 500;
const MaxStoredCancels = 1000;

interface PendingCancel {
  readonly documentId: string;
  answer(outcome: CancelOutcome): void;
}

type CallOutbox = Pick<Outbox, 'addProgress' | 'addPart' | 'endWithResult' | 'fail' | 'isStored' | 'drop'>;

export interface CallsOptions {
  readonly outbox: CallOutbox;
  readonly docs: DocumentTable;
  readonly runningCalls: RunningCalls;
  send(text: string): boolean;
  /** reportResumedCalls informs the server of running calls that documents have reported to a restarted worker. */
  reportResumedCalls(ids: readonly string[]): void;
  readTabState(tabId: number): Promise<TabState>;
  isTabLoading(tabId: number): Promise<boolean>;
  /**
   * For the active tab of a window, isTabFrozen returns false instead of a promise, so that the call starts without
   * delay.
   */
  isTabFrozen(tabId: number): false | Promise<boolean>;
  isDocumentGone(tabId: number, documentId: string): Promise<boolean>;
  /** findAccessProblem returns why the user does not allow calls on the site of a document, or undefined. */
  findAccessProblem(documentId: string): string | undefined;
  getPartDelayMs(): number;
  onDocumentMissing(tabId: number): void;
  /** If `health` is undefined, the worker assumes that every call that was sent to a document has arrived. */
  readonly health?: Pick<HealthMonitor, 'prepareCall' | 'hasAnswered' | 'isSilent'>;
}

export type CallMessage = Exclude<
  BridgeToWorkerMessage,
  { op: 'log' | 'scheduleWake' | 'entryPointReady' | 'adapterReplaced' | 'pong' }
>;

/**
 * Calls forwards calls from the server to documents, and forwards progress and results from documents to the server.
 */
export class Calls {
  readonly docsChanged = new Signal();
  readonly #options: CallsOptions;
  readonly #outbox: CallOutbox;
  readonly #docs: DocumentTable;
  readonly #runningCalls: RunningCalls;
  readonly #pendingCancels = new Map<string, PendingCancel>();
  readonly #cancelReasons = new Map<string, string>();
  readonly #removedTabs = new Set<number>();
  readonly #startedCallsByDocument = new Map<string, ReadonlySet<string>>();
  /**
   * #documentsOfEndedCalls contains the document ID of each ended call whose result the server has not confirmed, by
   * call ID.
   */
  readonly #documentsOfEndedCalls = new Map<string, string>();
  readonly #navigatingDocuments: NavigatingDocuments;
  readonly #toolRequests: ToolRequests;
  readonly #startedAt = Date.now();

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
    this.#docs = options.docs;
    this.#runningCalls = options.runningCalls;
    this.#navigatingDocuments = makeNavigatingDocuments((tabId) => options.isTabLoading(tabId));
    this.#toolRequests = makeToolRequests({
      send: (text) => options.send(text),
      post: (id, message) => this.#post(id, message),
    });
  }

  #removeCall(id: string): void {
    this.#toolRequests.forgetCallRequests(id);
    this.#runningCalls.remove(id);
  }

  #failCall(call: RunningCall, error: CallError): void {
    this.#removeCall(call.id);
    this.#outbox.fail(call.id, error);
  }

  #reportCancelOutcome(id: string, outcome: CancelOutcome): void {
    const entry = this.#pendingCancels.get(id);
    this.#pendingCancels.delete(id);
    entry?.answer(outcome);
  }

  #endCallsOfDocument(documentId: string, tabState: TabState): void {
    for (const call of this.#runningCalls.listInDocument(documentId)) {
      const error = errorsByTabState[tabState];
      const hasNotStarted = !call.mayHaveBegun || this.#startedCallsByDocument.get(documentId)?.has(call.id) === false;
      this.#failCall(call, hasNotStarted ? { ...error, notStarted: true } : error);
    }
    this.#startedCallsByDocument.delete(documentId);
    this.#navigatingDocuments.forgetDocument(documentId);
    for (const [id, entry] of [...this.#pendingCancels])
      if (entry.documentId === documentId) this.#reportCancelOutcome(id, 'ignored');
  }

  /** arrivedAtMs is when the server's message frame arrived, in milliseconds of performance.now(). */
  dispatch(params: ToolDispatchParams, arrivedAtMs = performance.now()): void {
    const { dispatchId: id, plugin, tool, tabId, documentId, maxResultBytes: maxBytes } = params;
    // Send arguments as JSON text: a port transfers text faster than objects, and JSON text preserves large integers.
    const args = JSON.stringify(params.args);
    if (this.#runningCalls.has(id) || this.#outbox.isStored(id)) return;
    // The user may have removed the site from the allowed sites after the server chose a document for the call.
    const accessProblem = this.#options.findAccessProblem(documentId);
    if (accessProblem !== undefined) {
      const error: CallError = { code: 'no_tab', message: accessProblem };
      this.#outbox.fail(id, params.again ? error : { ...error, notStarted: true });
      return;
    }
    const call: RunningCall = { id, plugin, tabId, documentId, mayHaveBegun: params.again === true, ping: 0 };
    this.#runningCalls.add(call);
    const message: WorkerToBridgeMessage = { op: 'call', id, plugin, tool, maxBytes, args };
    if (params.prompt) message.prompt = true;
    if (params.trace) {
      message.trace = true;
      call.trace = { arrivedAtMs, postedAtMs: arrivedAtMs };
    }
    if (params.decision !== undefined) message.decision = JSON.stringify(params.decision);
    const startInDocument = (doc: Doc | undefined) => {
      if (this.#runningCalls.get(id) !== call) return;
      if (doc?.tabId === tabId) {
        call.mayHaveBegun = true;
        const pingNumber = this.#options.health?.prepareCall(doc) ?? 0;
        // The document may already run a call that the server sends again.
        call.ping = params.again ? 0 : pingNumber;
        if (call.trace) call.trace.postedAtMs = performance.now();
        call.sentAtMs = message.atMs = Date.now();
        doc.post(message);
        this.#failCallOfSilentDocument(call);
      } else void this.#failMissingDocument(call);
    };
    /** Chrome runs no code in a frozen page, so the call would time out before the page resumes. */
    const startUnlessFrozen = async (frozenPromise: Promise<boolean>) => {
      if (!(await frozenPromise)) startInDocument(this.#docs.get(documentId));
      else if (this.#runningCalls.get(id) === call) this.#failCall(call, frozenTabError);
    };
    const doc = this.#docs.get(documentId);
    if (doc) {
      this.#navigatingDocuments.runAfterNavigation(documentId, () => {
        const frozenPromise = this.#options.isTabFrozen(tabId);
        if (frozenPromise === false || call.mayHaveBegun) startInDocument(this.#docs.get(documentId));
        else void startUnlessFrozen(frozenPromise);
      });
    } else if (Date.now() - this.#startedAt >= BusyPageConnectTimeoutMs) startInDocument(undefined);
    else void this.#waitForDocument(tabId, documentId).then(() => startInDocument(this.#docs.get(documentId)));
  }

  /** waitForDocument waits for a document to connect, because no document is connected when a worker restarts. */
  async #waitForDocument(tabId: number, documentId: string): Promise<void> {
    const waitMs = this.#startedAt + ConnectTimeoutMs - Date.now();
    if (waitMs > 0) await sleep(waitMs);
    if (this.#docs.get(documentId)) return;
    // A busy page can neither run executeScript nor connect until its current script ends.
    const timeout = sleep(this.#startedAt + BusyPageConnectTimeoutMs - Date.now()).then(() => true);
    const isGoneOrTimedOut = await Promise.race([this.#options.isDocumentGone(tabId, documentId), timeout]);
    if (!isGoneOrTimedOut) await sleep(ConnectTimeoutMs);
  }

  /** The server may retry a call in another document if the call cannot have begun. */
  async #failMissingDocument(call: RunningCall): Promise<void> {
    const tabState = await this.#options.readTabState(call.tabId);
    if (this.#runningCalls.get(call.id) !== call) return;
    this.#options.onDocumentMissing(call.tabId);
    this.#failCall(
      call,
      call.mayHaveBegun ? errorsByTabState[tabState] : { ...notStartedErrors[tabState], notStarted: true },
    );
  }

  /** The method `cancel` cancels a call and resolves with the outcome that the document reports. */
  cancel(params: ToolCancelParams): Promise<CancelOutcome> {
    const { dispatchId: id, reason } = params;
    const call = this.#runningCalls.get(id);
    const doc = call && this.#docs.get(call.documentId);
    this.#outbox.drop(id);
    this.confirmDelivery([id]);
    this.#removeCall(id);
    if (!call || !doc) {
      // Store the reason of the cancellation, because a document may report the call only after a restart of the
      // worker.
      this.#cancelReasons.set(id, reason);
      for (const [oldest] of this.#cancelReasons) {
        if (this.#cancelReasons.size <= MaxStoredCancels) break;
        this.#cancelReasons.delete(oldest);
      }
      return Promise.resolve('finished');
    }
    this.#reportCancelOutcome(id, 'ignored');
    return new Promise((resolve) => {
      this.#pendingCancels.set(id, { documentId: doc.documentId, answer: resolve });
      doc.post({ op: 'cancel', id, reason });
    });
  }

  /**
   * The method `answer` delivers the server's answer to a tool's request, such as the result of a nested call. `answer`
   * resolves with true if the tool was waiting for the answer.
   */
  async answer(params: ToolAnswerParams): Promise<boolean> {
    const id = params.dispatchId;
    const call = this.#runningCalls.get(id);
    // After a restart of the worker, documents that have not reconnected yet may need the server's answer.
    if (!call && Date.now() - this.#startedAt < BusyPageConnectTimeoutMs) {
      const timeout = sleep(this.#startedAt + BusyPageConnectTimeoutMs - Date.now());
      void timeout.then(() => !this.#runningCalls.has(id) && this.#toolRequests.forgetCallRequests(id));
    } else if (!call) return false;
    return await this.#toolRequests.answer(params);
  }

  /** The method `resync` requests the complete state of an activity from the document of a call. */
  resync({ dispatchId: id, activityType: type }: ToolResyncParams): void {
    this.#post(id, { op: 'resync', id, type });
  }

  resume(): void {
    this.#toolRequests.resume();
  }

  #post(id: string, message: WorkerToBridgeMessage): boolean {
    const doc = this.#docs.get(this.#runningCalls.get(id)?.documentId ?? '');
    doc?.post(message);
    return doc !== undefined;
  }

  onDocumentConnected(doc: Doc): void {
    this.#docs.add(doc);
    this.#removedTabs.delete(doc.tabId);
    this.#startedCallsByDocument.delete(doc.documentId);
    // The pings on the new port do not confirm the calls that the document received on an earlier port.
    for (const call of this.#runningCalls.listInDocument(doc.documentId)) call.ping = 0;
    this.#navigatingDocuments.setNavigating(doc.tabId, doc.documentId, false);
  }

  #receiveDocumentState(doc: Doc, message: Extract<BridgeToWorkerMessage, { op: 'documentState' }>): void {
    this.#docs.setPlugins(doc.documentId, message.plugins, message.removedPlugins);
    const unknownCallIds: string[] = [];
    for (const { id, plugin } of message.running) {
      const reason = this.#cancelReasons.get(id);
      if (reason !== undefined) {
        this.#cancelReasons.delete(id);
        doc.post({ op: 'cancel', id, reason });
      } else if (!this.#runningCalls.has(id) && !this.#pendingCancels.has(id)) {
        this.#runningCalls.add({
          id,
          plugin,
          tabId: doc.tabId,
          documentId: doc.documentId,
          mayHaveBegun: true,
          ping: 0,
        });
        unknownCallIds.push(id);
      }
      this.#toolRequests.onDocumentConnected(id);
    }
    if (unknownCallIds.length > 0) this.#options.reportResumedCalls(unknownCallIds);
    this.docsChanged.emit();
  }

  /** A document is allowed to send messages about its own calls and about calls that the worker has not recorded. */
  #ownsCall(doc: Doc, id: string): boolean {
    return (this.#runningCalls.get(id)?.documentId ?? doc.documentId) === doc.documentId;
  }

  /** The method `receive` ignores messages from disconnected ports of a document. */
  receive(doc: Doc, message: CallMessage, arrivedMs = performance.now()): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    if (message.op === 'part') void this.#requestNextPart(doc);
    if ('id' in message && !this.#ownsCall(doc, message.id)) return;
    routeMessage(this.#handlers, message.op, message, doc, arrivedMs);
  }

  readonly #handlers: PortHandlers<CallMessage, [doc: Doc, arrivedMs: number]> = {
    documentState: (message, doc) => this.#receiveDocumentState(doc, message),
    leaving: ({ begunCalls }, { documentId }) => this.#startedCallsByDocument.set(documentId, new Set(begunCalls)),
    navigating: ({ on }, { tabId, documentId }) => this.#navigatingDocuments.setNavigating(tabId, documentId, on),
    ready: ({ plugin, ready }, { documentId }) => {
      this.#docs.setPluginReady(documentId, plugin, ready);
      this.docsChanged.emit();
    },
    progress: (message) => {
      if (this.#runningCalls.has(message.id)) this.#outbox.addProgress(message.id, message);
    },
    toolRequest: ({ id, ask, body }) => {
      if (this.#runningCalls.has(id)) this.#toolRequests.receiveRequest(id, ask, body);
    },
    answerReceived: ({ id, ask, taken }) => this.#toolRequests.confirmAnswer(id, ask, taken),
    part: ({ id, seq, text }) => {
      if (!this.#pendingCancels.has(id)) this.#outbox.addPart(id, seq, text); // no ending follows the parts of a cancelled call
    },
    result: ({ id, text, parts, hops: pageStepDurations }, doc, arrivedMs) => {
      const browserHops = this.#endCallInDocument(id, doc, pageStepDurations, arrivedMs);
      this.#outbox.endWithResult(id, text, parts, browserHops);
    },
    error: ({ id, error, hops: pageStepDurations }, doc, arrivedMs) => {
      const browserHops = this.#endCallInDocument(id, doc, pageStepDurations, arrivedMs);
      this.#outbox.fail(id, readError(error), browserHops);
    },
    cancelled: ({ id, outcome }, doc) => {
      if (this.#pendingCancels.get(id)?.documentId === doc.documentId) this.#reportCancelOutcome(id, outcome);
    },
  };

  #endCallInDocument(
    id: string,
    doc: Doc,
    pageStepDurations: PageHops | undefined,
    arrivedMs: number,
  ): BrowserHops | undefined {
    const trace = this.#runningCalls.get(id)?.trace;
    this.#removeCall(id);
    this.#documentsOfEndedCalls.set(id, doc.documentId);
    return trace && pageStepDurations && measureBrowserHops(trace, pageStepDurations, arrivedMs);
  }

  /**
   * requestNextPart requests the next part of a large result from a document as soon as the link can send more data.
   */
  async #requestNextPart(doc: Doc): Promise<void> {
    for (let waitMs = this.#options.getPartDelayMs(); waitMs > 0; waitMs = this.#options.getPartDelayMs()) {
      await sleep(waitMs);
      if (this.#docs.get(doc.documentId) !== doc) return;
    }
    doc.post({ op: 'partSent' });
  }

  onDocumentDisconnected(doc: Doc): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    this.#docs.remove(doc.documentId);
    this.docsChanged.emit();
    setTimeout(async () => {
      if (this.#docs.get(doc.documentId)) return;
      const tabState = await this.#readStateAfterClose(doc);
      if (!this.#docs.get(doc.documentId)) this.#endCallsOfDocument(doc.documentId, tabState);
    }, ReconnectTimeoutMs);
  }

  /**
   * If a tab is open without a connected top document, its page has probably crashed, unless the document announced a
   * navigation.
   */
  async #readStateAfterClose({ tabId, documentId }: Doc): Promise<TabState> {
    for (const endMs = Date.now() + CrashReportDelayMs; ; await sleep(ReconnectTimeoutMs)) {
      const tabState = this.#removedTabs.has(tabId) ? 'closed' : await this.#options.readTabState(tabId);
      const hasTopFrame = this.#docs.listInTab(tabId).some((doc) => doc.frameId === 0);
      if (tabState !== 'open' || hasTopFrame || this.#startedCallsByDocument.has(documentId)) return tabState;
      if (!this.#runningCalls.isBusy(documentId) || Date.now() >= endMs || (await this.#options.isTabLoading(tabId)))
        return tabState;
    }
  }

  onTabRemoved(tabId: number): void {
    this.#removedTabs.add(tabId);
    this.#endCallsOfTab(tabId, 'closed');
    setTimeout(() => this.#removedTabs.delete(tabId), 10 * ReconnectTimeoutMs);
  }

  /**
   * onTabCrashed ends the calls of a crashed tab. After a reload of the tab, the calls would end as navigated, so
   * onTabCrashed must be called before a reload.
   */
  onTabCrashed(tabId: number): void {
    for (const { mayHaveBegun, documentId } of this.#runningCalls.listInTab(tabId)) {
      if (mayHaveBegun && !this.#docs.get(documentId)) this.#endCallsOfDocument(documentId, 'crashed');
    }
  }

  /**
   * onDocumentOrphaned disconnects a document whose bridge no longer reads messages from its port, although the port is
   * open. A call that the worker sent to an orphaned document cannot have begun.
   */
  onDocumentOrphaned(documentId: string): void {
    const doc = this.#docs.get(documentId);
    if (!doc) return;
    this.#startedCallsByDocument.set(documentId, new Set());
    this.onDocumentDisconnected(doc);
  }

  /** onDocumentSilent fails the calls that an unresponsive document has not started and will not start. */
  onDocumentSilent(documentId: string): void {
    for (const call of this.#runningCalls.listInDocument(documentId)) this.#failCallOfSilentDocument(call);
  }

  /**
   * The server sends a call that failed here again. A call that follows a pending ping is younger than the document's
   * silence, so the bridge could still start the call: such a call fails later, if the document is then still silent.
   */
  #failCallOfSilentDocument(call: RunningCall, failAtMs = (call.sentAtMs ?? 0) + UnstartedCallTimeoutMs): void {
    const { health } = this.#options;
    if (this.#runningCalls.get(call.id) !== call || call.ping === 0) return;
    if (!health?.isSilent(call.documentId) || health.hasAnswered(call.documentId, call.ping)) return;
    const waitMs = failAtMs - Date.now();
    if (waitMs <= 0) {
      const message = 'the page does not respond because a script blocks its main thread';
      this.#failCall(call, { code: 'page_unresponsive', message, notStarted: true });
      return;
    }
    setTimeout(() => {
      const isLate = Date.now() > failAtMs + MaxTimerDelayMs;
      this.#failCallOfSilentDocument(call, isLate ? Date.now() + PingAnswerTimeMs : failAtMs);
    }, waitMs);
  }

  onTabDiscarded(tabId: number): void {
    this.#endCallsOfTab(tabId, 'discarded');
  }

  #endCallsOfTab(tabId: number, tabState: TabState): void {
    for (const call of this.#runningCalls.listInTab(tabId)) this.#endCallsOfDocument(call.documentId, tabState);
    for (const doc of this.#docs.listInTab(tabId)) this.onDocumentDisconnected(doc);
  }

  confirmDelivery(ids: readonly string[]): void {
    const idsByDocument = new Map<string, string[]>();
    for (const id of ids) {
      const documentId = this.#documentsOfEndedCalls.get(id);
      this.#documentsOfEndedCalls.delete(id);
      if (documentId === undefined) continue;
      const documentCalls = idsByDocument.get(documentId) ?? [];
      documentCalls.push(id);
      idsByDocument.set(documentId, documentCalls);
    }
    for (const [documentId, documentCalls] of idsByDocument)
      this.#docs.get(documentId)?.post({ op: 'confirmEndings', ids: documentCalls });
  }
}

/** measureBrowserHops returns the durations of a traced call in the worker and in the document, in microseconds. */
function measureBrowserHops(
  { arrivedAtMs: startMs, postedAtMs: postedToPageMs }: CallTrace,
  page: PageHops,
  arrivedMs: number,
): BrowserHops {
  return {
    workerInUs: measureMicroseconds(startMs, postedToPageMs),
    documentUs: measureMicroseconds(postedToPageMs, arrivedMs),
    workerOutUs: measureMicroseconds(arrivedMs, performance.now()),
    page,
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
