import { Signal } from '../signal.ts';

/** RunningCall is a call that the worker has sent or will send to a document. */
export interface RunningCall {
  readonly id: string;
  readonly plugin: string;
  readonly tabId: number;
  readonly documentId: string;
  /** mayHaveBegun is true if the worker has sent the call to the document, or if the server has sent the call twice. */
  mayHaveBegun: boolean;
  /**
   * The field `ping` is the number of the ping that was sent before the call, or 0 if no ping was needed. A call has
   * arrived in the document once the document has answered this ping or a later ping.
   */
  ping: number;
  /** sentAtMs is when the worker sent the call to the document, in milliseconds of Date.now(). */
  sentAtMs?: number;
  trace?: CallTrace;
}

/** CallTrace contains timestamps of a traced call, in milliseconds of performance.now() in the worker. */
export interface CallTrace {
  readonly arrivedAtMs: number;
  postedAtMs: number;
}

/** RunningCalls is the worker's table of running calls, by call ID. */
export class RunningCalls {
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

  listInDocument(documentId: string): RunningCall[] {
    return [...this.#calls.values()].filter((call) => call.documentId === documentId);
  }

  listInTab(tabId: number): RunningCall[] {
    return [...this.#calls.values()].filter((call) => call.tabId === tabId);
  }

  isBusy(documentId: string): boolean {
    for (const call of this.#calls.values()) if (call.documentId === documentId) return true;
    return false;
  }
}
