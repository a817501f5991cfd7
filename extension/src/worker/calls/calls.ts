import type {
  CallError,
  CancelOutcome,
  ToolAnswerParams,
  ToolCancelParams,
  ToolDispatchParams,
  ToolResyncParams,
} from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';
import type { FromBridge, ToBridge } from '../../port-message.ts';
import { type PortHandlers, route } from '../../port-router.ts';
import type { Doc, Docs } from '../documents/docs.ts';
import type { Health } from '../documents/health.ts';
import { Signal } from '../signal.ts';
import { type Asks, makeAsks } from './asks.ts';
import { endedErrors, frozenError, notStartedErrors, readError } from './endings.ts';
import { makeNavigating, type Navigating } from './navigating.ts';
import type { Outbox } from './outbox.ts';
import type { RunningCall, RunningCalls } from './running.ts';

/** GoneMs is how long a document may take to reconnect after its port closed, before its calls end, in milliseconds. */
const GoneMs = 50;
/** CrashMs is how long Chrome may take to report the crash of a page after the page's port closed, in milliseconds. */
const CrashMs = 2000;
/** BootMs is how long documents may take to connect to a restarted worker, in milliseconds. */
const BootMs = 300;
/** BusyMs is how long an existing but busy document may take to connect to a restarted worker, in milliseconds. */
const BusyMs = 10_000;
/** StoppedKept limits the stored cancels of calls that no document has reported yet. */
const StoppedKept = 1000;

/** PendingCancel is a tool.cancel that has no answer yet. */
interface PendingCancel {
  readonly documentId: string;
  answer(outcome: CancelOutcome): void;
}

/** CallOutbox has the functions that send frames of calls to the server. */
type CallOutbox = Pick<Outbox, 'progress' | 'part' | 'endWithResult' | 'fail' | 'isStored' | 'drop'>;

export interface CallsOptions {
  readonly outbox: CallOutbox;
  readonly docs: Docs;
  readonly running: RunningCalls;
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** resumed reports calls to the server that run in a document but were not in the table. */
  resumed(ids: readonly string[]): void;
  tabState(tabId: number): Promise<TabState>;
  tabLoading(tabId: number): Promise<boolean>;
  /**
   * tabFrozen reports whether Chrome has frozen a tab. For a tab that is known to run, tabFrozen returns false
   * directly.
   */
  tabFrozen(tabId: number): false | Promise<boolean>;
  documentGone(tabId: number, documentId: string): Promise<boolean>;
  /** roomIn returns how many milliseconds to wait before the next part of a large result, or 0 if no wait is needed. */
  roomIn(): number;
  /** docMissing is called when the server sends a call to a document that the tab does not show. */
  docMissing(tabId: number): void;
  /** health reports whether a call has arrived. Without health, every call counts as arrived. */
  readonly health?: Pick<Health, 'prepareCall' | 'answered'>;
}

/** CallMessage is a message from a document about its calls or the readiness of its plugins. */
export type CallMessage = Exclude<FromBridge, { op: 'log' | 'wake' | 'armed' | 'renewed' | 'pong' }>;

/** Calls passes calls to documents, and passes the progress and the endings of calls to the server. */
export class Calls {
  /** docsChanged reports that a document connected or disconnected, or that its plugins changed. */
  readonly docsChanged = new Signal();
  readonly #options: CallsOptions;
  readonly #outbox: CallOutbox;
  readonly #docs: Docs;
  readonly #running: RunningCalls;
  readonly #waiting = new Map<string, PendingCancel>();
  /** #stopped maps each cancelled call to the reason of the cancel, until a document reports the call. */
  readonly #stopped = new Map<string, string>();
  /** #removedTabs are the recently closed tabs. */
  readonly #removedTabs = new Set<number>();
  /** #began maps each document that the user leaves to the calls that had begun in it. */
  readonly #began = new Map<string, ReadonlySet<string>>();
  /** #endedIn maps each call whose ending is not confirmed by the server to its document. */
  readonly #endedIn = new Map<string, string>();
  readonly #navigating: Navigating;
  readonly #asks: Asks;
  readonly #bornAt = Date.now();

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
    this.#docs = options.docs;
    this.#running = options.running;
    this.#navigating = makeNavigating((tabId) => options.tabLoading(tabId));
    this.#asks = makeAsks({
      send: (text) => options.send(text),
      post: (id, message) => this.#post(id, message),
    });
  }

  #forget(id: string): void {
    this.#asks.forget(id);
    this.#running.remove(id);
  }

  #fail(call: RunningCall, error: CallError): void {
    this.#forget(call.id);
    this.#outbox.fail(call.id, error);
  }

  #answer(id: string, outcome: CancelOutcome): void {
    const entry = this.#waiting.get(id);
    this.#waiting.delete(id);
    entry?.answer(outcome);
  }

  /** endCallsOf ends the calls of a document that no longer exists. */
  #endCallsOf(documentId: string, state: TabState): void {
    for (const call of this.#running.inDocument(documentId)) {
      const error = endedErrors[state];
      const never = !call.mayHaveBegun || this.#began.get(documentId)?.has(call.id) === false;
      this.#fail(call, never ? { ...error, notStarted: true } : error);
    }
    this.#began.delete(documentId);
    this.#navigating.forget(documentId);
    for (const [id, entry] of [...this.#waiting]) if (entry.documentId === documentId) this.#answer(id, 'ignored');
  }

  dispatch(params: ToolDispatchParams): void {
    const { dispatchId: id, plugin, tool, tabId, documentId, maxResultBytes: maxBytes } = params;
    // Sending text over a port is faster than sending objects, and preserves integers that a JavaScript number would
    // round.
    const args = JSON.stringify(params.args);
    if (this.#running.has(id) || this.#outbox.isStored(id)) return;
    const call: RunningCall = { id, plugin, tabId, documentId, mayHaveBegun: params.again === true, ping: 0 };
    this.#running.add(call);
    const message: ToBridge = { op: 'call', id, plugin, tool, maxBytes, args };
    if (params.prompt) message.prompt = true;
    if (params.decision !== undefined) message.decision = JSON.stringify(params.decision);
    const start = (doc: Doc | undefined) => {
      if (this.#running.get(id) !== call) return;
      if (doc?.tabId === tabId) {
        call.mayHaveBegun = true;
        call.ping = this.#options.health?.prepareCall(doc) ?? 0;
        doc.post({ ...message, atMs: Date.now() });
      } else void this.#endMissing(call);
    };
    /**
     * startAwake starts the call unless the page is frozen. In a frozen page, the call would begin only after the
     * timeout of the call.
     */
    const startAwake = async (asleep: Promise<boolean>) => {
      if (!(await asleep)) start(this.#docs.get(documentId));
      else if (this.#running.get(id) === call) this.#fail(call, frozenError);
    };
    const doc = this.#docs.get(documentId);
    if (doc) {
      this.#navigating.runWhenSettled(documentId, () => {
        const asleep = this.#options.tabFrozen(tabId);
        if (asleep === false || call.mayHaveBegun) start(this.#docs.get(documentId));
        else void startAwake(asleep);
      });
    } else if (Date.now() - this.#bornAt >= BusyMs) start(undefined);
    else void this.#waitForArrival(tabId, documentId).then(() => start(this.#docs.get(documentId)));
  }

  /** waitForArrival resolves when a document has connected or will not. A restarted worker has no documents yet. */
  async #waitForArrival(tabId: number, documentId: string): Promise<void> {
    const boot = this.#bornAt + BootMs - Date.now();
    if (boot > 0) await sleep(boot);
    if (this.#docs.get(documentId)) return;
    // While a page is busy, the page can neither answer executeScript nor connect.
    const late = sleep(this.#bornAt + BusyMs - Date.now()).then(() => true);
    const gone = await Promise.race([this.#options.documentGone(tabId, documentId), late]);
    if (!gone) await sleep(BootMs);
  }

  /** endMissing ends a call whose document is gone. If the call cannot have begun, the server may try another document. */
  async #endMissing(call: RunningCall): Promise<void> {
    const state = await this.#options.tabState(call.tabId);
    if (this.#running.get(call.id) !== call) return;
    this.#options.docMissing(call.tabId);
    this.#fail(call, call.mayHaveBegun ? endedErrors[state] : { ...notStartedErrors[state], notStarted: true });
  }

  /** cancel cancels a call and resolves with the document's answer. */
  cancel(params: ToolCancelParams): Promise<CancelOutcome> {
    const { dispatchId: id, reason } = params;
    const call = this.#running.get(id);
    const doc = call && this.#docs.get(call.documentId);
    this.#outbox.drop(id);
    this.confirmDelivery([id]);
    this.#forget(id);
    if (!call || !doc) {
      // After a restart of this worker, a document may still connect and report the call.
      this.#stopped.set(id, reason);
      for (const [oldest] of this.#stopped) {
        if (this.#stopped.size <= StoppedKept) break;
        this.#stopped.delete(oldest);
      }
      return Promise.resolve('finished');
    }
    this.#answer(id, 'ignored');
    return new Promise((resolve) => {
      this.#waiting.set(id, { documentId: doc.documentId, answer: resolve });
      doc.post({ op: 'cancel', id, reason });
    });
  }

  /** answer delivers the answer to an ask of a call. answer resolves with whether the ask was still waiting. */
  async answer(params: ToolAnswerParams): Promise<boolean> {
    const id = params.dispatchId;
    const call = this.#running.get(id);
    // After a restart of this worker, documents that have not connected yet still have to report their calls.
    if (!call && Date.now() - this.#bornAt < BusyMs) {
      const late = sleep(this.#bornAt + BusyMs - Date.now());
      void late.then(() => !this.#running.has(id) && this.#asks.forget(id));
    } else if (!call) return false;
    return await this.#asks.answer(params);
  }

  /** resync requests that a call reports an activity again. */
  resync({ dispatchId: id, activityType: type }: ToolResyncParams): void {
    this.#post(id, { op: 'resync', id, type });
  }

  /** resume sends the open asks of calls. Call resume when the link opens. */
  resume(): void {
    this.#asks.resume();
  }

  /** post sends a message to the document of a call. post returns false if the document is not connected. */
  #post(id: string, message: ToBridge): boolean {
    const doc = this.#docs.get(this.#running.get(id)?.documentId ?? '');
    doc?.post(message);
    return doc !== undefined;
  }

  /** documentConnected, receive and documentDisconnected handle the events of a document's port. */
  documentConnected(doc: Doc): void {
    this.#docs.add(doc);
    this.#removedTabs.delete(doc.tabId);
    this.#began.delete(doc.documentId);
    this.#navigating.setNavigating(doc.tabId, doc.documentId, false);
  }

  #receiveLive(doc: Doc, message: Extract<FromBridge, { op: 'live' }>): void {
    this.#docs.setPlugins(doc.documentId, message.plugins, message.vacant);
    const unknown: string[] = [];
    for (const { id, plugin } of message.running) {
      const reason = this.#stopped.get(id);
      if (reason !== undefined) {
        this.#stopped.delete(id);
        doc.post({ op: 'cancel', id, reason });
      } else if (!this.#running.has(id) && !this.#waiting.has(id)) {
        this.#running.add({ id, plugin, tabId: doc.tabId, documentId: doc.documentId, mayHaveBegun: true, ping: 0 });
        unknown.push(id);
      }
      this.#asks.documentConnected(id);
    }
    if (unknown.length > 0) this.#options.resumed(unknown);
    this.docsChanged.emit();
  }

  /**
   * isOwner reports whether a document may send messages about a call: the call was sent to this document, or is not in
   * the table.
   */
  #isOwner(doc: Doc, id: string): boolean {
    return (this.#running.get(id)?.documentId ?? doc.documentId) === doc.documentId;
  }

  /**
   * receive handles a message from a document about its calls. receive ignores messages of documents that were
   * replaced.
   */
  receive(doc: Doc, message: CallMessage): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    if (message.op === 'part') void this.#acceptParts(doc);
    if ('id' in message && !this.#isOwner(doc, message.id)) return;
    route(this.#handlers, message.op, message, doc);
  }

  readonly #handlers: PortHandlers<CallMessage, [doc: Doc]> = {
    live: (message, doc) => this.#receiveLive(doc, message),
    leaving: ({ begun }, { documentId }) => this.#began.set(documentId, new Set(begun)),
    navigating: ({ on }, { tabId, documentId }) => this.#navigating.setNavigating(tabId, documentId, on),
    ready: ({ plugin, ready }, { documentId }) => {
      this.#docs.setReady(documentId, plugin, ready);
      this.docsChanged.emit();
    },
    progress: (message) => {
      if (this.#running.has(message.id)) this.#outbox.progress(message.id, message);
    },
    ask: ({ id, ask, body }) => {
      if (this.#running.has(id)) this.#asks.receiveAsk(id, ask, body);
    },
    answered: ({ id, ask, taken }) => this.#asks.confirmAnswer(id, ask, taken),
    part: ({ id, seq, text }) => this.#outbox.part(id, seq, text),
    result: ({ id, text, parts }, doc) => {
      this.#forget(id);
      this.#endedIn.set(id, doc.documentId);
      this.#outbox.endWithResult(id, text, parts);
    },
    error: ({ id, error }, doc) => {
      this.#forget(id);
      this.#endedIn.set(id, doc.documentId);
      this.#outbox.fail(id, readError(error));
    },
    cancelled: ({ id, outcome }, doc) => {
      if (this.#waiting.get(id)?.documentId === doc.documentId) this.#answer(id, outcome);
    },
  };

  /** acceptParts requests the next part from a document as soon as the link has room. */
  async #acceptParts(doc: Doc): Promise<void> {
    for (let waitMs = this.#options.roomIn(); waitMs > 0; waitMs = this.#options.roomIn()) {
      await sleep(waitMs);
      if (this.#docs.get(doc.documentId) !== doc) return;
    }
    doc.post({ op: 'taken' });
  }

  documentDisconnected(doc: Doc): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    this.#docs.remove(doc.documentId);
    this.docsChanged.emit();
    setTimeout(async () => {
      if (this.#docs.get(doc.documentId)) return;
      const state = await this.#stateAfter(doc);
      if (!this.#docs.get(doc.documentId)) this.#endCallsOf(doc.documentId, state);
    }, GoneMs);
  }

  /**
   * stateAfter returns the state of the tab of a document whose port closed. If the tab seems open, but the document
   * did not announce that it leaves and no top document is connected, the page has probably crashed: Chrome reports a
   * crash late.
   */
  async #stateAfter({ tabId, documentId }: Doc): Promise<TabState> {
    for (const endMs = Date.now() + CrashMs; ; await sleep(GoneMs)) {
      const state = this.#removedTabs.has(tabId) ? 'closed' : await this.#options.tabState(tabId);
      const hasTop = this.#docs.ofTab(tabId).some((doc) => doc.frameId === 0);
      if (state !== 'open' || hasTop || this.#began.has(documentId)) return state;
      if (!this.#running.isBusy(documentId) || Date.now() >= endMs || (await this.#options.tabLoading(tabId)))
        return state;
    }
  }

  /** tabRemoved and tabDiscarded end the calls of a tab at once. */
  tabRemoved(tabId: number): void {
    this.#removedTabs.add(tabId);
    this.#tabGone(tabId, 'closed');
    setTimeout(() => this.#removedTabs.delete(tabId), 10 * GoneMs);
  }

  /** tabCrashed ends the calls of the documents of a crashed tab, before a reload of the tab looks like a navigation. */
  tabCrashed(tabId: number): void {
    for (const { mayHaveBegun, documentId } of this.#running.inTab(tabId)) {
      if (mayHaveBegun && !this.#docs.get(documentId)) this.#endCallsOf(documentId, 'crashed');
    }
  }

  /**
   * documentOrphaned drops a document whose port is open but has no reader. Calls that were sent to this document have not
   * begun.
   */
  documentOrphaned(documentId: string): void {
    const doc = this.#docs.get(documentId);
    if (!doc) return;
    this.#began.set(documentId, new Set());
    this.documentDisconnected(doc);
  }

  /**
   * documentSilent ends the calls that an unresponsive document cannot have begun. The bridge of the document drops these calls
   * when they arrive.
   */
  documentSilent(documentId: string): void {
    for (const call of this.#running.inDocument(documentId)) {
      if (call.ping === 0) continue;
      if (this.#options.health?.answered(documentId, call.ping) !== false) continue;
      const message = 'the page does not answer: a script occupies it';
      this.#fail(call, { code: 'page_unresponsive', message, notStarted: true });
    }
  }

  tabDiscarded(tabId: number): void {
    this.#tabGone(tabId, 'discarded');
  }

  #tabGone(tabId: number, state: TabState): void {
    for (const call of this.#running.inTab(tabId)) this.#endCallsOf(call.documentId, state);
    for (const doc of this.#docs.ofTab(tabId)) this.documentDisconnected(doc);
  }

  /** confirmDelivery notifies documents that the server has the endings of these calls. */
  confirmDelivery(ids: readonly string[]): void {
    const perDoc = new Map<string, string[]>();
    for (const id of ids) {
      const documentId = this.#endedIn.get(id);
      this.#endedIn.delete(id);
      if (documentId === undefined) continue;
      const some = perDoc.get(documentId) ?? [];
      some.push(id);
      perDoc.set(documentId, some);
    }
    for (const [documentId, some] of perDoc) this.#docs.get(documentId)?.post({ op: 'ack', ids: some });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
