import { Signal } from '../signal.ts';

/** RunningCall is a call that runs in a document. */
export interface RunningCall {
  readonly id: string;
  readonly plugin: string;
  readonly tabId: number;
  readonly documentId: string;
  /** mayHaveBegun is true if the call was sent to the document, or if the server sent the call for the second time. */
  mayHaveBegun: boolean;
  /** ping is the number of the ping that preceded the call, or 0 if the call needs no ping. */
  ping: number;
  /** trace is set for a call whose hops the server requested. */
  trace?: CallTrace;
}

/** CallTrace has times of a traced call, by the clock of the worker. */
export interface CallTrace {
  /** arrivedMs is when the tool.dispatch arrived. */
  readonly arrivedMs: number;
  /** postedMs is when the worker posted the call to the document. */
  postedMs: number;
}

/** RunningCalls is the table of the calls that run in documents. */
export class RunningCalls {
  /** changed reports that a call was added or removed. */
  readonly changed = new Signal();
  readonly #calls = new Map<string, RunningCall>();

  get size(): number {
    return this.#calls.size;
  }

  get ids(): string[] {
    return [...this.#calls.keys()];
  }

  get(id: string): RunningCall | undefined {
    return this.#calls.get(id);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  add(call: RunningCall): void {
    this.#calls.set(call.id, call);
    this.changed.emit();
  }

  remove(id: string): void {
    if (this.#calls.delete(id)) this.changed.emit();
  }

  /** inDocument returns the calls of a document. */
  inDocument(documentId: string): RunningCall[] {
    return [...this.#calls.values()].filter((call) => call.documentId === documentId);
  }

  inTab(tabId: number): RunningCall[] {
    return [...this.#calls.values()].filter((call) => call.tabId === tabId);
  }

  /** isBusy reports whether calls run in a document. */
  isBusy(documentId: string): boolean {
    for (const call of this.#calls.values()) if (call.documentId === documentId) return true;
    return false;
  }
}
