import {
  encodeCallError,
  encodeNotification,
  encodeRawProgress,
  encodeRawResult,
  encodeResult,
} from '../../../../wire/frame.ts';
import type { BrowserHops, CallError } from '../../../../wire/wire.gen.ts';
import { addToBoundedBuffer, type ReportBatch } from '../../bounded-buffer.ts';
import { Signal } from '../signal.ts';

// outbox.ts stores progress and results of calls until the server has received them. Chrome's WebSocket does not report
// whether the data that the worker sent has arrived. After each batch of message frames, the worker sends a ping. When
// the server answers a ping, the worker deletes its copies of all message frames that it sent before the ping. After a
// lost link, the worker sends all stored message frames again, and the server ignores duplicates.

/** MaxStoredChars limits the total size of stored results, in UTF-16 code units. */
const MaxStoredChars = 128 * 1024 * 1024;
/**
 * The worker requests confirmation of results after ConfirmDelayMs milliseconds, or at once when ConfirmChars UTF-16
 * code units are stored.
 */
const ConfirmDelayMs = 1000;
const ConfirmChars = 4 * 1024 * 1024;

/** StoredEnding contains the message frames that end a call: the parts of a large result, then the response. */
interface StoredEnding {
  frames: string[];
  isComplete: boolean;
  chars: number;
  /** isDropped is true if the message frames were too large to store. */
  isDropped: boolean;
}

interface StoredReports {
  sent: ReportBatch[];
  sentChars: number;
  readonly waiting: ReportBatch[];
}

/** MaxSentChars limits the unconfirmed progress reports that are stored for each call, in UTF-16 code units. */
const MaxSentChars = 256 * 1024;

export interface OutboxOptions {
  send(text: string): boolean;
  /**
   * The method `confirm` resolves when the server has processed all message frames that were sent before confirm was
   * called.
   */
  confirm(): Promise<unknown>;
}

/** Outbox sends the message frames of a call to the server in order: first the progress, then the result. */
export class Outbox {
  readonly delivered = new Signal<[ids: readonly string[]]>();
  readonly #options: OutboxOptions;
  readonly #storedEndings = new Map<string, StoredEnding>();
  readonly #storedReports = new Map<string, StoredReports>();
  #storedChars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isConfirming = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  addProgress(id: string, batch: ReportBatch): void {
    const reports = this.#storedReports.get(id) ?? { sent: [], sentChars: 0, waiting: [] };
    this.#storedReports.set(id, reports);
    const { seq, skipped, reports: text } = batch;
    const storedBatch = { seq, skipped, reports: text };
    if (reports.waiting.length === 0 && this.#options.send(makeProgressFrame(id, storedBatch))) {
      storeSentReports(reports, storedBatch);
      this.#confirmSoon();
    } else {
      addToBoundedBuffer(reports.waiting, storedBatch);
    }
  }

  addPart(id: string, seq: number, text: string): void {
    this.#addFrame(id, encodeNotification('tool.part', { dispatchId: id, seq, text }), false);
  }

  /** If the result is large, the parameter parts is the number of its parts that were already sent. */
  endWithResult(id: string, output: string | undefined, parts: number | undefined, hops?: BrowserHops): void {
    const frame =
      parts === undefined
        ? encodeRawResult(id, output, hops)
        : encodeResult(id, 'tool.dispatch', hops ? { parts, hops } : { parts });
    this.#addFrame(id, frame, true);
  }

  /**
   * The parameter hops contains the durations of a traced call that failed in its page, and is undefined for other
   * calls.
   */
  fail(id: string, error: CallError, hops?: BrowserHops): void {
    this.#addFrame(id, encodeCallError(id, error, hops), true);
  }

  isStored(id: string): boolean {
    return this.#storedEndings.has(id);
  }

  drop(id: string): void {
    this.#storedChars -= this.#storedEndings.get(id)?.chars ?? 0;
    this.#storedEndings.delete(id);
    this.#storedReports.delete(id);
  }

  resume(): void {
    for (const [id, reports] of this.#storedReports) {
      for (const batch of [...reports.sent, ...reports.waiting]) this.#options.send(makeProgressFrame(id, batch));
      for (const batch of reports.waiting.splice(0)) storeSentReports(reports, batch);
    }
    for (const ending of this.#storedEndings.values()) for (const frame of ending.frames) this.#options.send(frame);
    this.#confirmSoon();
  }

  #addFrame(id: string, frame: string, isLast: boolean): void {
    const ending = this.#storedEndings.get(id) ?? { frames: [], isComplete: false, chars: 0, isDropped: false };
    if (ending.isComplete) return;
    this.#storedEndings.set(id, ending);
    ending.isComplete = isLast;
    const isSent = this.#options.send(frame);
    if (!ending.isDropped) {
      ending.frames.push(frame);
      ending.chars += frame.length;
      this.#storedChars += frame.length;
      if (this.#storedChars > MaxStoredChars) this.#replaceByError(id, ending, isSent);
    }
    if (isLast && isSent) this.#confirmSoon();
  }

  /** replaceByError replaces a result that is too large to store with a short error. */
  #replaceByError(id: string, ending: StoredEnding, sent: boolean): void {
    this.#storedChars -= ending.chars;
    ending.isDropped = true;
    const message = sent
      ? 'the result was lost with the link to the browser'
      : 'the link to the browser was lost, and the result is too large to be kept until it is back';
    ending.frames = [encodeCallError(id, { code: 'link_lost', message })];
    ending.chars = 0;
  }

  #confirmSoon(): void {
    if (this.#isConfirming) return;
    if (this.#storedChars >= ConfirmChars) void this.#confirm();
    else this.#timer ??= setTimeout(() => void this.#confirm(), ConfirmDelayMs);
  }

  async #confirm(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const endedCalls = this.#completeEndings();
    const sentBatches = new Set([...this.#storedReports.values()].flatMap((reports) => reports.sent));
    if (endedCalls.length === 0 && sentBatches.size === 0) return;
    this.#isConfirming = true;
    try {
      await this.#options.confirm();
      this.#dropReports(sentBatches);
      for (const id of endedCalls) this.drop(id);
      this.delivered.emit(endedCalls);
    } catch {
      // The link was lost, so resume will send all stored message frames again.
      return;
    } finally {
      this.#isConfirming = false;
    }
    if (this.#completeEndings().length > 0 || this.#storedReports.size > 0) this.#confirmSoon();
  }

  #dropReports(batches: ReadonlySet<ReportBatch>): void {
    for (const [id, reports] of this.#storedReports) {
      reports.sent = reports.sent.filter((batch) => !batches.has(batch));
      reports.sentChars = reports.sent.reduce((sum, batch) => sum + batch.reports.length, 0);
      if (reports.sent.length + reports.waiting.length === 0) this.#storedReports.delete(id);
    }
  }

  #completeEndings(): string[] {
    return [...this.#storedEndings].filter(([, ending]) => ending.isComplete).map(([id]) => id);
  }
}

function storeSentReports(reports: StoredReports, batch: ReportBatch): void {
  reports.sent.push(batch);
  reports.sentChars += batch.reports.length;
  while (reports.sentChars > MaxSentChars && reports.sent.length > 1) {
    reports.sentChars -= reports.sent.shift()?.reports.length ?? 0;
  }
}

function makeProgressFrame(id: string, { seq, reports, skipped }: ReportBatch): string {
  return encodeRawProgress(id, seq, reports, skipped);
}
