import {
  encodeCallError,
  encodeNotification,
  encodeRawProgress,
  encodeRawResult,
  encodeResult,
} from '../../../../wire/frame.ts';
import type { BrowserHops, CallError } from '../../../../wire/wire.gen.ts';
import { addBounded, type ReportBatch } from '../../bounded-buffer.ts';
import { Signal } from '../signal.ts';

// Stores progress and endings of calls until the server has received them. A WebSocket does not report whether sent
// data has arrived. Reports and the ending of a call are stored until the server has answered a later ping. After a
// lost link, stored frames are sent again, and the server ignores duplicates.

/** MaxStoredChars limits the stored endings, in UTF-16 units. */
const MaxStoredChars = 128 * 1024 * 1024;
/**
 * Endings are confirmed together after ConfirmMs milliseconds, or at once when ConfirmChars UTF-16 units are stored.
 */
const ConfirmMs = 1000;
const ConfirmChars = 4 * 1024 * 1024;

/** StoredEnding contains the frames that end a call: the parts of a large result, then the answer. */
interface StoredEnding {
  frames: string[];
  /** isComplete is true when frames contains the answer. */
  isComplete: boolean;
  chars: number;
  /** isDropped is true if the frames were too large to store. Dropped frames cannot be sent again. */
  isDropped: boolean;
}

/**
 * StoredReports are the reports of one call that the server may not have. The stored reports were sent but not
 * confirmed, or not sent yet.
 */
interface StoredReports {
  sent: ReportBatch[];
  sentChars: number;
  readonly waiting: ReportBatch[];
}

/**
 * MaxSentChars limits the stored unconfirmed reports per call, in UTF-16 units. Above MaxSentChars, only the newest
 * reports are stored.
 */
const MaxSentChars = 256 * 1024;

export interface OutboxOptions {
  /** send sends a frame to the server, and returns false while there is no link. */
  send(text: string): boolean;
  /**
   * confirm resolves when the server has handled all frames that were sent earlier. confirm rejects when the link to
   * the server is lost.
   */
  confirm(): Promise<unknown>;
}

/** Outbox sends the frames of a call in order: all progress, then the ending. */
export class Outbox {
  /** delivered reports the calls whose endings the server has received. */
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

  progress(id: string, batch: ReportBatch): void {
    const reports = this.#storedReports.get(id) ?? { sent: [], sentChars: 0, waiting: [] };
    this.#storedReports.set(id, reports);
    const { seq, skipped, reports: text } = batch;
    const storedBatch = { seq, skipped, reports: text };
    if (reports.waiting.length === 0 && this.#options.send(progressFrame(id, storedBatch))) {
      storeSent(reports, storedBatch);
      this.#confirmSoon();
    } else {
      addBounded(reports.waiting, storedBatch);
    }
  }

  part(id: string, seq: number, text: string): void {
    this.#addFrame(id, encodeNotification('tool.part', { dispatchId: id, seq, text }), false);
  }

  /**
   * endWithResult ends a call with a result. output is JSON text, and parts is the number of parts of the result that
   * were sent before. hops are undefined for a call that is not traced.
   */
  endWithResult(id: string, output: string | undefined, parts: number | undefined, hops?: BrowserHops): void {
    const frame =
      parts === undefined
        ? encodeRawResult(id, output, hops)
        : encodeResult(id, 'tool.dispatch', hops ? { parts, hops } : { parts });
    this.#addFrame(id, frame, true);
  }

  fail(id: string, error: CallError): void {
    this.#addFrame(id, encodeCallError(id, error), true);
  }

  /** isStored reports whether the call's ending is stored and not confirmed yet. */
  isStored(id: string): boolean {
    return this.#storedEndings.has(id);
  }

  /** drop drops a call that the server no longer wants. */
  drop(id: string): void {
    this.#storedChars -= this.#storedEndings.get(id)?.chars ?? 0;
    this.#storedEndings.delete(id);
    this.#storedReports.delete(id);
  }

  /** resume sends all stored frames. Call resume when the link opens. */
  resume(): void {
    for (const [id, reports] of this.#storedReports) {
      for (const batch of [...reports.sent, ...reports.waiting]) this.#options.send(progressFrame(id, batch));
      for (const batch of reports.waiting.splice(0)) storeSent(reports, batch);
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

  /** replaceByError replaces an ending that is too large to store by a short error. */
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
    else this.#timer ??= setTimeout(() => void this.#confirm(), ConfirmMs);
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
      // The link was lost, so resume will send all stored frames again.
      return;
    } finally {
      this.#isConfirming = false;
    }
    if (this.#completeEndings().length > 0 || this.#storedReports.size > 0) this.#confirmSoon();
  }

  /** dropReports drops reports that have arrived at the server. */
  #dropReports(batches: ReadonlySet<ReportBatch>): void {
    for (const [id, reports] of this.#storedReports) {
      reports.sent = reports.sent.filter((batch) => !batches.has(batch));
      reports.sentChars = reports.sent.reduce((sum, batch) => sum + batch.reports.length, 0);
      if (reports.sent.length + reports.waiting.length === 0) this.#storedReports.delete(id);
    }
  }

  /** completeEndings returns the calls with a complete ending. */
  #completeEndings(): string[] {
    return [...this.#storedEndings].filter(([, ending]) => ending.isComplete).map(([id]) => id);
  }
}

function storeSent(reports: StoredReports, batch: ReportBatch): void {
  reports.sent.push(batch);
  reports.sentChars += batch.reports.length;
  while (reports.sentChars > MaxSentChars && reports.sent.length > 1) {
    reports.sentChars -= reports.sent.shift()?.reports.length ?? 0;
  }
}

function progressFrame(id: string, { seq, reports, skipped }: ReportBatch): string {
  return encodeRawProgress(id, seq, reports, skipped);
}
