import {
  encodeCallError,
  encodeNotification,
  encodeRawProgress,
  encodeRawResult,
  encodeResult,
} from '../../../../wire/frame.ts';
import type { CallError } from '../../../../wire/wire.gen.ts';
import { addBounded, type ReportBatch } from '../../bounded-buffer.ts';
import { Signal } from '../signal.ts';

// Stores progress and endings of calls until the server has received them. A WebSocket does not report whether sent
// data has arrived. Therefore reports and the ending of a call are stored until the server has answered a later ping.
// After a lost link, reports and endings are sent again, and the server ignores duplicates.

/** KeptChars limits the stored endings, in UTF-16 units. */
const KeptChars = 128 * 1024 * 1024;
/** Endings are confirmed together after ConfirmMs, or at once when ConfirmChars are stored. */
const ConfirmMs = 1000;
const ConfirmChars = 4 * 1024 * 1024;

/** StoredEnding has the frames that end a call: the parts of a large result, then the answer. */
interface StoredEnding {
  frames: string[];
  /** whole is set once frames contains the answer. */
  whole: boolean;
  chars: number;
  /** dropped is set if the frames were too large to store. Dropped frames cannot be sent again. */
  dropped: boolean;
}

/** StoredReports are the reports of one call that the server may not have: sent but not confirmed, or not sent yet. */
interface StoredReports {
  sent: ReportBatch[];
  sentChars: number;
  readonly waiting: ReportBatch[];
}

/**
 * SentChars limits the stored unconfirmed reports per call, in UTF-16 units. Beyond SentChars, only the newest reports
 * are stored.
 */
const SentChars = 256 * 1024;

export interface OutboxOptions {
  /** send returns false while there is no link. */
  send(text: string): boolean;
  /** confirm resolves once the server has handled all frames sent before. confirm rejects when the link is lost. */
  confirm(): Promise<unknown>;
}

/** Outbox sends the frames of a call in order: all progress, then the ending. */
export class Outbox {
  /** delivered reports that the server has the endings of these calls. */
  readonly delivered = new Signal<[ids: readonly string[]]>();
  readonly #options: OutboxOptions;
  readonly #endings = new Map<string, StoredEnding>();
  readonly #progress = new Map<string, StoredReports>();
  #kept = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #confirming = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  progress(id: string, batch: ReportBatch): void {
    const reports = this.#progress.get(id) ?? { sent: [], sentChars: 0, waiting: [] };
    this.#progress.set(id, reports);
    const { seq, skipped, reports: text } = batch;
    const kept = { seq, skipped, reports: text };
    if (reports.waiting.length === 0 && this.#options.send(progressFrame(id, kept))) {
      keepSent(reports, kept);
      this.#confirmSoon();
    } else {
      addBounded(reports.waiting, kept);
    }
  }

  part(id: string, seq: number, text: string): void {
    this.#add(id, encodeNotification('tool.part', { dispatchId: id, seq, text }), false);
  }

  /** endWithResult ends a call with a result. output is JSON text, and parts is the number of parts that were sent before. */
  endWithResult(id: string, output: string | undefined, parts: number | undefined): void {
    const frame = parts === undefined ? encodeRawResult(id, output) : encodeResult(id, 'tool.dispatch', { parts });
    this.#add(id, frame, true);
  }

  fail(id: string, error: CallError): void {
    this.#add(id, encodeCallError(id, error), true);
  }

  /** isStored reports whether the call's ending is stored and not confirmed yet. */
  isStored(id: string): boolean {
    return this.#endings.has(id);
  }

  /** drop drops a call that the server no longer wants. */
  drop(id: string): void {
    this.#kept -= this.#endings.get(id)?.chars ?? 0;
    this.#endings.delete(id);
    this.#progress.delete(id);
  }

  /** resume sends all stored frames. Call resume when the link opens. */
  resume(): void {
    for (const [id, reports] of this.#progress) {
      for (const batch of [...reports.sent, ...reports.waiting]) this.#options.send(progressFrame(id, batch));
      for (const batch of reports.waiting.splice(0)) keepSent(reports, batch);
    }
    for (const ending of this.#endings.values()) for (const frame of ending.frames) this.#options.send(frame);
    this.#confirmSoon();
  }

  #add(id: string, frame: string, last: boolean): void {
    const ending = this.#endings.get(id) ?? { frames: [], whole: false, chars: 0, dropped: false };
    if (ending.whole) return;
    this.#endings.set(id, ending);
    ending.whole = last;
    const sent = this.#options.send(frame);
    if (!ending.dropped) {
      ending.frames.push(frame);
      ending.chars += frame.length;
      this.#kept += frame.length;
      if (this.#kept > KeptChars) this.#giveUp(id, ending, sent);
    }
    if (last && sent) this.#confirmSoon();
  }

  /** giveUp replaces an ending that is too large to store by a short error. */
  #giveUp(id: string, ending: StoredEnding, sent: boolean): void {
    this.#kept -= ending.chars;
    ending.dropped = true;
    const message = sent
      ? 'the result was lost with the link to the browser'
      : 'the link to the browser was lost, and the result is too large to be kept until it is back';
    ending.frames = [encodeCallError(id, { code: 'link_lost', message })];
    ending.chars = 0;
  }

  #confirmSoon(): void {
    if (this.#confirming) return;
    if (this.#kept >= ConfirmChars) void this.#confirm();
    else this.#timer ??= setTimeout(() => void this.#confirm(), ConfirmMs);
  }

  async #confirm(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sent = this.#completeEndings();
    const batches = new Set([...this.#progress.values()].flatMap((reports) => reports.sent));
    if (sent.length === 0 && batches.size === 0) return;
    this.#confirming = true;
    try {
      await this.#options.confirm();
      this.#forget(batches);
      for (const id of sent) this.drop(id);
      this.delivered.emit(sent);
    } catch {
      // The link was lost, so resume will send all stored frames again.
      return;
    } finally {
      this.#confirming = false;
    }
    if (this.#completeEndings().length > 0 || this.#progress.size > 0) this.#confirmSoon();
  }

  /** forget drops reports that have arrived at the server. */
  #forget(batches: ReadonlySet<ReportBatch>): void {
    for (const [id, reports] of this.#progress) {
      reports.sent = reports.sent.filter((batch) => !batches.has(batch));
      reports.sentChars = reports.sent.reduce((sum, batch) => sum + batch.reports.length, 0);
      if (reports.sent.length + reports.waiting.length === 0) this.#progress.delete(id);
    }
  }

  /** completeEndings returns the calls with a complete ending. */
  #completeEndings(): string[] {
    return [...this.#endings].filter(([, ending]) => ending.whole).map(([id]) => id);
  }
}

function keepSent(reports: StoredReports, batch: ReportBatch): void {
  reports.sent.push(batch);
  reports.sentChars += batch.reports.length;
  while (reports.sentChars > SentChars && reports.sent.length > 1) {
    reports.sentChars -= reports.sent.shift()?.reports.length ?? 0;
  }
}

function progressFrame(id: string, { seq, reports, skipped }: ReportBatch): string {
  return encodeRawProgress(id, seq, reports, skipped);
}
