import type {
  CallError,
  CancelOutcome,
  ToolAnswerParams,
  ToolCancelParams,
  ToolDispatchParams,
  ToolResyncParams,
} from '../../../wire/wire.gen.ts';
import type { TabState } from '../chrome.ts';
import type { FromBridge, ToBridge } from '../port-message.ts';
import { type PortHandlers, route } from '../port-router.ts';
import { type Asks, makeAsks } from './asks.ts';
import type { Doc, Docs } from './docs.ts';
import { endings, frozen, missing, readError } from './endings.ts';
import type { Health } from './health.ts';
import { makeNavigating, type Navigating } from './navigating.ts';
import type { Outbox } from './outbox.ts';

/** GoneMs is how long a document whose port closed is awaited, in milliseconds, before its calls end. */
const GoneMs = 50;
/** BootMs is how long documents may take to connect to a worker that was started anew, in milliseconds. */
const BootMs = 300;
/** BusyMs is how long a document that is there, but busy, may take for that. */
const BusyMs = 10_000;
/** StoppedKept is how many cancels of calls that no document has named yet are remembered. */
const StoppedKept = 1000;

/** Call is a call that runs in a document. */
interface Call {
  readonly id: string;
  readonly plugin: string;
  readonly tabId: number;
  readonly documentId: string;
  /** mayHaveBegun is set once it was handed to the document, and if the server had sent it before. */
  mayHaveBegun: boolean;
  /** ping is the number of the ping that was sent just before it; 0 if it needs none. */
  ping: number;
}

/** Waiting is a tool.cancel that was not answered yet. */
interface Waiting {
  readonly documentId: string;
  answer(outcome: CancelOutcome): void;
}

export interface CallsOptions {
  readonly outbox: Outbox;
  readonly docs: Docs;
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** resumed tells the server of calls that run in a document but were not in the table. */
  resumed(ids: readonly string[]): void;
  tabState(tabId: number): Promise<TabState>;
  tabLoading(tabId: number): Promise<boolean>;
  /** tabFrozen reports whether Chrome has suspended the page of a tab; at once for a tab that it knows to run. */
  tabFrozen(tabId: number): false | Promise<boolean>;
  documentGone(tabId: number, documentId: string): Promise<boolean>;
  /** roomIn returns when more of a large result may come: in how many milliseconds to ask again, 0 for now. */
  roomIn(): number;
  /** counted is called when the number of running calls changed. */
  counted(running: number): void;
  /** docMissing is called when the server asked for a document that a tab does not show. */
  docMissing(tabId: number): void;
  /** health is asked whether a call has arrived; default: every call has. */
  readonly health?: Pick<Health, 'calling' | 'answered'>;
  /** docsChanged is called when a document came or went or its plugins changed. */
  docsChanged(): void;
}

/** CallMessage is a message of a document about its calls and the readiness of its plugins. */
export type CallMessage = Exclude<FromBridge, { op: 'log' | 'wake' | 'armed' | 'renewed' | 'pong' }>;

/** Calls is the worker's table of the calls that run in documents, which it follows. */
export interface Calls {
  dispatch(params: ToolDispatchParams): void;
  /** cancel resolves with how the document answered. */
  cancel(params: ToolCancelParams): Promise<CancelOutcome>;
  /** answer brings what a call asked for, and resolves with whether something waited for it. */
  answer(params: ToolAnswerParams): Promise<boolean>;
  /** resync has a call report an activity anew. */
  resync(params: ToolResyncParams): void;
  /** resume sends what calls ask for; call it when the link is open. */
  resume(): void;
  /** joined, receive and left follow the port of a document. */
  joined(doc: Doc): void;
  receive(doc: Doc, message: CallMessage): void;
  left(doc: Doc): void;
  /** tabRemoved and tabDiscarded end the calls of a tab at once. */
  tabRemoved(tabId: number): void;
  tabDiscarded(tabId: number): void;
  /** orphaned drops a document whose port is open though nobody reads it: what was sent there has not begun. */
  orphaned(documentId: string): void;
  /** silent ends the calls that a document which does not answer can't have begun; the bridge drops them when it gets them. */
  silent(documentId: string): void;
  /** isBusy reports whether calls run in a document. */
  isBusy(documentId: string): boolean;
  /** delivered tells documents that the server has the endings of these calls. */
  delivered(ids: readonly string[]): void;
  /** count is the number of running calls. */
  readonly count: number;
  /** running returns the ids of all running calls. */
  running(): string[];
}

/** makeCalls returns an empty table. */
export function makeCalls(options: CallsOptions): Calls {
  return new CallTable(options);
}

class CallTable implements Calls {
  readonly #options: CallsOptions;
  readonly #outbox: Outbox;
  readonly #docs: Docs;
  readonly #calls = new Map<string, Call>();
  readonly #waiting = new Map<string, Waiting>();
  /** #stopped are the reasons of cancels whose call no document has named yet. */
  readonly #stopped = new Map<string, string>();
  /** #removedTabs closed a moment ago. */
  readonly #removedTabs = new Set<number>();
  /** #began holds, for a document that is being left, the calls that had begun in it. */
  readonly #began = new Map<string, ReadonlySet<string>>();
  /** #endedIn is the document of each ending that the server has not confirmed. */
  readonly #endedIn = new Map<string, string>();
  readonly #navigating: Navigating;
  readonly #asks: Asks;
  readonly #bornAt = Date.now();

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#outbox = options.outbox;
    this.#docs = options.docs;
    this.#navigating = makeNavigating((tabId) => options.tabLoading(tabId));
    this.#asks = makeAsks({
      send: (text) => options.send(text),
      post: (id, message) => this.#post(id, message),
    });
  }

  #forget(id: string): void {
    this.#asks.ended(id);
    if (this.#calls.delete(id)) this.#options.counted(this.#calls.size);
  }

  #fail(call: Call, error: CallError): void {
    this.#forget(call.id);
    this.#outbox.fail(call.id, error);
  }

  #answer(id: string, outcome: CancelOutcome): void {
    const entry = this.#waiting.get(id);
    this.#waiting.delete(id);
    entry?.answer(outcome);
  }

  /** gone ends the calls of a document that is not there any more. */
  #gone(documentId: string, state: TabState): void {
    for (const call of [...this.#calls.values()]) {
      if (call.documentId !== documentId) continue;
      const error = endings[state];
      const never = !call.mayHaveBegun || this.#began.get(documentId)?.has(call.id) === false;
      this.#fail(call, never ? { ...error, notStarted: true } : error);
    }
    this.#began.delete(documentId);
    this.#navigating.gone(documentId);
    for (const [id, entry] of [...this.#waiting]) if (entry.documentId === documentId) this.#answer(id, 'ignored');
  }

  dispatch(params: ToolDispatchParams): void {
    const { dispatchId: id, plugin, tool, tabId, documentId, maxResultBytes: maxBytes } = params;
    // Text, because it is cheaper on a port than objects, and keeps integers that a number would round.
    const args = JSON.stringify(params.args);
    if (this.#calls.has(id) || this.#outbox.has(id)) return;
    const call: Call = { id, plugin, tabId, documentId, mayHaveBegun: params.again === true, ping: 0 };
    this.#calls.set(id, call);
    this.#options.counted(this.#calls.size);
    const message: ToBridge = { op: 'call', id, plugin, tool, maxBytes, args };
    if (params.prompt) message.prompt = true;
    if (params.decision !== undefined) message.decision = JSON.stringify(params.decision);
    const start = (doc: Doc | undefined) => {
      if (this.#calls.get(id) !== call) return;
      if (doc?.tabId === tabId) {
        call.mayHaveBegun = true;
        call.ping = this.#options.health?.calling(doc) ?? 0;
        doc.post({ ...message, atMs: Date.now() });
      } else void this.#missing(call);
    };
    /** startAwake starts it unless the page is suspended: there it would begin when nobody waits for it any more. */
    const startAwake = async (asleep: Promise<boolean>) => {
      if (!(await asleep)) start(this.#docs.get(documentId));
      else if (this.#calls.get(id) === call) this.#fail(call, frozen);
    };
    const doc = this.#docs.get(documentId);
    if (doc) {
      this.#navigating.hold(documentId, () => {
        const asleep = this.#options.tabFrozen(tabId);
        if (asleep === false || call.mayHaveBegun) start(this.#docs.get(documentId));
        else void startAwake(asleep);
      });
    } else if (Date.now() - this.#bornAt >= BusyMs) start(undefined);
    else void this.#arrival(tabId, documentId).then(() => start(this.#docs.get(documentId)));
  }

  /** arrival resolves when a document has connected, if it will: a worker that was just started knows none yet. */
  async #arrival(tabId: number, documentId: string): Promise<void> {
    const boot = this.#bornAt + BootMs - Date.now();
    if (boot > 0) await pause(boot);
    if (this.#docs.get(documentId)) return;
    // The page may be busy: it can't be asked either until it can connect.
    const late = pause(this.#bornAt + BusyMs - Date.now()).then(() => true);
    const gone = await Promise.race([this.#options.documentGone(tabId, documentId), late]);
    if (!gone) await pause(BootMs);
  }

  /** missing ends a call whose document is not there; the server may try another unless the call may have begun. */
  async #missing(call: Call): Promise<void> {
    const state = await this.#options.tabState(call.tabId);
    if (this.#calls.get(call.id) !== call) return;
    this.#options.docMissing(call.tabId);
    this.#fail(call, call.mayHaveBegun ? endings[state] : { ...missing[state], notStarted: true });
  }

  cancel(params: ToolCancelParams): Promise<CancelOutcome> {
    const { dispatchId: id, reason } = params;
    const call = this.#calls.get(id);
    const doc = call && this.#docs.get(call.documentId);
    this.#outbox.drop(id);
    this.delivered([id]);
    this.#forget(id);
    if (!call || !doc) {
      // After a restart of this worker a document may still come and name the call.
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

  async answer(params: ToolAnswerParams): Promise<boolean> {
    const id = params.dispatchId;
    const call = this.#calls.get(id);
    // A document that has not connected to a worker which was just started still has to name its calls.
    if (!call && Date.now() - this.#bornAt < BusyMs) {
      const late = pause(this.#bornAt + BusyMs - Date.now());
      void late.then(() => !this.#calls.has(id) && this.#asks.ended(id));
    } else if (!call) return false;
    return await this.#asks.answer(params);
  }

  resync({ dispatchId: id, activityType: type }: ToolResyncParams): void {
    this.#post(id, { op: 'resync', id, type });
  }

  resume(): void {
    this.#asks.resume();
  }

  /** post hands a message to the document that a call runs in; false means that it is not connected. */
  #post(id: string, message: ToBridge): boolean {
    const doc = this.#docs.get(this.#calls.get(id)?.documentId ?? '');
    doc?.post(message);
    return doc !== undefined;
  }

  joined(doc: Doc): void {
    this.#docs.add(doc);
    this.#removedTabs.delete(doc.tabId);
    this.#began.delete(doc.documentId);
    this.#navigating.told(doc.tabId, doc.documentId, false);
  }

  #named(doc: Doc, message: Extract<FromBridge, { op: 'live' }>): void {
    this.#docs.named(doc.documentId, message.plugins, message.vacant);
    const unknown: string[] = [];
    for (const { id, plugin } of message.running) {
      const reason = this.#stopped.get(id);
      if (reason !== undefined) {
        this.#stopped.delete(id);
        doc.post({ op: 'cancel', id, reason });
      } else if (!this.#calls.has(id) && !this.#waiting.has(id)) {
        this.#calls.set(id, { id, plugin, tabId: doc.tabId, documentId: doc.documentId, mayHaveBegun: true, ping: 0 });
        unknown.push(id);
      }
      this.#asks.connected(id);
    }
    if (unknown.length > 0) {
      this.#options.resumed(unknown);
      this.#options.counted(this.#calls.size);
    }
    this.#options.docsChanged();
  }

  /** owns reports whether a document may speak for a call: it was sent there, or nobody knows of it. */
  #owns(doc: Doc, id: string): boolean {
    return (this.#calls.get(id)?.documentId ?? doc.documentId) === doc.documentId;
  }

  /** receive handles a message of a document about its calls. It ignores documents that were replaced. */
  receive(doc: Doc, message: CallMessage): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    if (message.op === 'part') void this.#acceptParts(doc);
    if ('id' in message && !this.#owns(doc, message.id)) return;
    route(this.#handlers, message.op, message, doc);
  }

  readonly #handlers: PortHandlers<CallMessage, [doc: Doc]> = {
    live: (message, doc) => this.#named(doc, message),
    leaving: ({ begun }, { documentId }) => this.#began.set(documentId, new Set(begun)),
    navigating: ({ on }, { tabId, documentId }) => this.#navigating.told(tabId, documentId, on),
    ready: ({ plugin, ready }, { documentId }) => {
      this.#docs.ready(documentId, plugin, ready);
      this.#options.docsChanged();
    },
    progress: (message) => {
      if (this.#calls.has(message.id)) this.#outbox.progress(message.id, message);
    },
    ask: ({ id, ask, body }) => {
      if (this.#calls.has(id)) this.#asks.asked(id, ask, body);
    },
    answered: ({ id, ask, taken }) => this.#asks.answered(id, ask, taken),
    part: ({ id, seq, text }) => this.#outbox.part(id, seq, text),
    result: ({ id, text, parts }, doc) => {
      this.#forget(id);
      this.#endedIn.set(id, doc.documentId);
      this.#outbox.result(id, text, parts);
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

  /** acceptParts lets a document send another part as soon as the link has room. */
  async #acceptParts(doc: Doc): Promise<void> {
    for (let waitMs = this.#options.roomIn(); waitMs > 0; waitMs = this.#options.roomIn()) {
      await pause(waitMs);
      if (this.#docs.get(doc.documentId) !== doc) return;
    }
    doc.post({ op: 'taken' });
  }

  left(doc: Doc): void {
    if (this.#docs.get(doc.documentId) !== doc) return;
    this.#docs.remove(doc.documentId);
    this.#options.docsChanged();
    setTimeout(async () => {
      if (this.#docs.get(doc.documentId)) return;
      const state = this.#removedTabs.has(doc.tabId) ? 'closed' : await this.#options.tabState(doc.tabId);
      if (!this.#docs.get(doc.documentId)) this.#gone(doc.documentId, state);
    }, GoneMs);
  }

  tabRemoved(tabId: number): void {
    this.#removedTabs.add(tabId);
    this.#tabGone(tabId, 'closed');
    setTimeout(() => this.#removedTabs.delete(tabId), 10 * GoneMs);
  }

  orphaned(documentId: string): void {
    const doc = this.#docs.get(documentId);
    if (!doc) return;
    this.#began.set(documentId, new Set());
    this.left(doc);
  }

  silent(documentId: string): void {
    for (const call of [...this.#calls.values()]) {
      if (call.documentId !== documentId || call.ping === 0) continue;
      if (this.#options.health?.answered(documentId, call.ping) !== false) continue;
      const message = 'the page does not answer: a script occupies it';
      this.#fail(call, { code: 'page_unresponsive', message, notStarted: true });
    }
  }

  isBusy(documentId: string): boolean {
    for (const call of this.#calls.values()) if (call.documentId === documentId) return true;
    return false;
  }

  tabDiscarded(tabId: number): void {
    this.#tabGone(tabId, 'discarded');
  }

  #tabGone(tabId: number, state: TabState): void {
    for (const call of [...this.#calls.values()]) if (call.tabId === tabId) this.#gone(call.documentId, state);
    for (const doc of this.#docs.ofTab(tabId)) this.left(doc);
  }

  delivered(ids: readonly string[]): void {
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

  get count(): number {
    return this.#calls.size;
  }

  running(): string[] {
    return [...this.#calls.keys()];
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
