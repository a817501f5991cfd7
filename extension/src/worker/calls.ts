import { readAs } from '../../../wire/frame.ts';
import type { CallError, CancelOutcome, ToolCancelParams, ToolDispatchParams } from '../../../wire/wire.gen.ts';
import type { FromBridge, Live, ToBridge } from '../port-message.ts';
import type { Outbox } from './outbox.ts';

/** GoneMs is how long a document whose port closed is awaited, in milliseconds, before its calls end. */
const GoneMs = 50;
/** BootMs is how long documents may take to connect to a worker that was started anew, in milliseconds. */
const BootMs = 300;
/** StoppedKept is how many cancels of calls that no document has named yet are remembered. */
const StoppedKept = 1000;

/** Doc is one document with a bridge. */
export interface Doc {
  readonly tabId: number;
  readonly documentId: string;
  post(message: ToBridge): void;
}

/** Call is a call that runs in a document. */
interface Call {
  readonly id: string;
  readonly plugin: string;
  readonly tabId: number;
  readonly documentId: string;
}

/** Waiting is a tool.cancel that was not answered yet. */
interface Waiting {
  readonly documentId: string;
  answer(outcome: CancelOutcome): void;
}

export interface CallsOptions {
  readonly outbox: Outbox;
  /** resumed tells the server of calls that run in a document but were not in the table. */
  resumed(ids: readonly string[]): void;
  tabExists(tabId: number): Promise<boolean>;
  /** counted is called when the number of running calls changed. */
  counted(running: number): void;
  /** docMissing is called when the server asked for a document that a tab does not show. */
  docMissing(tabId: number): void;
  /** docsChanged is called when a document came or went or its plugins changed. */
  docsChanged(): void;
}

/** Calls is the worker's table of documents and of the calls that run in them. */
export interface Calls {
  dispatch(params: ToolDispatchParams): void;
  /** cancel resolves with how the document answered. */
  cancel(params: ToolCancelParams): Promise<CancelOutcome>;
  /** joined, said and left follow the port of a document. */
  joined(doc: Doc): void;
  said(doc: Doc, message: FromBridge): void;
  left(doc: Doc): void;
  /** tabRemoved ends the calls of a closed tab at once. */
  tabRemoved(tabId: number): void;
  /** delivered tells documents that the server has the endings of these calls. */
  delivered(ids: readonly string[]): void;
  /** running returns the ids of all running calls. */
  running(): string[];
  /** live returns the adapters of a tab's document. */
  live(tabId: number): { documentId: string; plugins: readonly Live[] } | undefined;
}

/** makeCalls returns an empty table. */
export function makeCalls(options: CallsOptions): Calls {
  const { outbox } = options;
  const docs = new Map<string, Doc>();
  const plugins = new Map<string, readonly Live[]>();
  const calls = new Map<string, Call>();
  const waiting = new Map<string, Waiting>();
  const stopped = new Map<string, string>();
  const removedTabs = new Set<number>();
  /** endedIn is the document of each ending that the server has not confirmed. */
  const endedIn = new Map<string, string>();
  const bornAt = Date.now();

  const forget = (id: string) => {
    if (calls.delete(id)) options.counted(calls.size);
  };
  const fail = (call: Call, error: CallError) => {
    forget(call.id);
    outbox.fail(call.id, error);
  };
  const answer = (id: string, outcome: CancelOutcome) => {
    const entry = waiting.get(id);
    waiting.delete(id);
    entry?.answer(outcome);
  };

  /** gone ends the calls of a document that is not there any more. */
  const gone = (documentId: string, closed: boolean) => {
    for (const call of [...calls.values()]) {
      if (call.documentId === documentId) fail(call, closed ? tabClosed : navigated);
    }
    for (const [id, entry] of [...waiting]) if (entry.documentId === documentId) answer(id, 'ignored');
  };

  const dispatch = (params: ToolDispatchParams) => {
    const { dispatchId: id, plugin, tool, tabId, documentId, maxResultBytes: maxBytes, args } = params;
    if (calls.has(id) || outbox.has(id)) return;
    const call: Call = { id, plugin, tabId, documentId };
    calls.set(id, call);
    options.counted(calls.size);
    const message: ToBridge = { op: 'call', id, plugin, tool, maxBytes, args };
    const start = (doc: Doc | undefined) => {
      if (calls.get(id) !== call) return;
      if (doc && doc.tabId === tabId) doc.post(message);
      else void missing(call);
    };
    const doc = docs.get(documentId);
    if (doc || Date.now() - bornAt >= BootMs) start(doc);
    // A worker that was just started knows no documents yet; they come by themselves.
    else setTimeout(() => start(docs.get(documentId)), BootMs);
  };

  /** missing ends a call whose document was gone before it was reached; the server may try another. */
  const missing = async (call: Call) => {
    const exists = await options.tabExists(call.tabId);
    if (calls.get(call.id) !== call) return;
    options.docMissing(call.tabId);
    fail(call, {
      code: exists ? 'navigated' : 'tab_closed',
      message: exists ? 'the tab shows another document by now' : 'the tab was closed before the tool began',
      notStarted: true,
    });
  };

  const cancel = (params: ToolCancelParams): Promise<CancelOutcome> => {
    const { dispatchId: id, reason } = params;
    const call = calls.get(id);
    const doc = call && docs.get(call.documentId);
    outbox.drop(id);
    delivered([id]);
    forget(id);
    if (!call || !doc) {
      // After a restart of this worker a document may still come and name the call.
      stopped.set(id, reason);
      for (const [oldest] of stopped) {
        if (stopped.size <= StoppedKept) break;
        stopped.delete(oldest);
      }
      return Promise.resolve('finished');
    }
    answer(id, 'ignored');
    return new Promise((resolve) => {
      waiting.set(id, { documentId: doc.documentId, answer: resolve });
      doc.post({ op: 'cancel', id, reason });
    });
  };

  const joined = (doc: Doc) => {
    docs.set(doc.documentId, doc);
    removedTabs.delete(doc.tabId);
  };

  const named = (doc: Doc, message: Extract<FromBridge, { op: 'live' }>) => {
    plugins.set(doc.documentId, message.plugins);
    const unknown: string[] = [];
    for (const { id, plugin } of message.running) {
      const reason = stopped.get(id);
      if (reason !== undefined) {
        stopped.delete(id);
        doc.post({ op: 'cancel', id, reason });
      } else if (!calls.has(id) && !waiting.has(id)) {
        calls.set(id, { id, plugin, tabId: doc.tabId, documentId: doc.documentId });
        unknown.push(id);
      }
    }
    if (unknown.length > 0) {
      options.resumed(unknown);
      options.counted(calls.size);
    }
    options.docsChanged();
  };

  /** owns tells whether a document may speak for a call: it was sent there, or nobody knows of it. */
  const owns = (doc: Doc, id: string) => (calls.get(id)?.documentId ?? doc.documentId) === doc.documentId;

  const said = (doc: Doc, message: FromBridge) => {
    if (docs.get(doc.documentId) !== doc) return;
    if (message.op === 'live') {
      named(doc, message);
      return;
    }
    const { id } = message;
    if (!owns(doc, id)) return;
    switch (message.op) {
      case 'progress':
        if (calls.has(id)) outbox.progress(id, message.count, message.skipped, message.reports);
        break;
      case 'part':
        outbox.part(id, message.seq, message.text);
        break;
      case 'result':
        forget(id);
        endedIn.set(id, doc.documentId);
        outbox.result(id, message.text, message.parts);
        break;
      case 'error':
        forget(id);
        endedIn.set(id, doc.documentId);
        outbox.fail(id, readError(message.error));
        break;
      case 'cancelled':
        if (waiting.get(id)?.documentId === doc.documentId) answer(id, message.outcome);
        break;
    }
  };

  const left = (doc: Doc) => {
    if (docs.get(doc.documentId) !== doc) return;
    docs.delete(doc.documentId);
    plugins.delete(doc.documentId);
    options.docsChanged();
    setTimeout(async () => {
      if (docs.has(doc.documentId)) return;
      const closed = removedTabs.has(doc.tabId) || !(await options.tabExists(doc.tabId));
      if (!docs.has(doc.documentId)) gone(doc.documentId, closed);
    }, GoneMs);
  };

  const tabRemoved = (tabId: number) => {
    removedTabs.add(tabId);
    for (const call of [...calls.values()]) if (call.tabId === tabId) gone(call.documentId, true);
    for (const doc of [...docs.values()]) if (doc.tabId === tabId) left(doc);
    setTimeout(() => removedTabs.delete(tabId), 10 * GoneMs);
  };

  const delivered = (ids: readonly string[]) => {
    const perDoc = new Map<string, string[]>();
    for (const id of ids) {
      const documentId = endedIn.get(id);
      endedIn.delete(id);
      if (documentId === undefined) continue;
      const some = perDoc.get(documentId) ?? [];
      some.push(id);
      perDoc.set(documentId, some);
    }
    for (const [documentId, some] of perDoc) docs.get(documentId)?.post({ op: 'ack', ids: some });
  };

  const live = (tabId: number) => {
    // While a tab navigates, both documents may be there for a moment; the newer one came last.
    let last: { documentId: string; plugins: readonly Live[] } | undefined;
    for (const doc of docs.values()) {
      const found = plugins.get(doc.documentId);
      if (doc.tabId === tabId && found) last = { documentId: doc.documentId, plugins: found };
    }
    return last;
  };

  return { dispatch, cancel, joined, said, left, tabRemoved, delivered, running: () => [...calls.keys()], live };
}

const tabClosed: CallError = { code: 'tab_closed', message: 'the tab was closed while the tool ran in it' };
const navigated: CallError = {
  code: 'navigated',
  message: 'the page was reloaded or left while the tool ran in it',
};

/** readError reads a host's error. */
function readError(text: string): CallError {
  try {
    const read = readAs('CallError', JSON.parse(text));
    if (read.ok) return read.value;
  } catch {
    // Told below.
  }
  return { code: 'internal', message: "the page's error can't be read" };
}
