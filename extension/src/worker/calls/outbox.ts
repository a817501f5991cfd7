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
 * The worker requests confirmation of results after DeliveryConfirmDelayMs milliseconds, or at once when
 * DeliveryConfirmThresholdChars UTF-16 code units are stored.
 */
const DeliveryConfirmDelayMs = 1000;
const DeliveryConfirmThresholdChars = 4 * 1024 * 1024;

/** StoredEnding contains the message frames that end a call: the parts of a large result, then the response. */
interface StoredEnding {
  frames: string[];
  isComplete: boolean;
  charCount: number;
  /** isDropped is true if the message frames were too large to store. */
  isDropped: boolean;
}

interface StoredReports {
  sentBatches: ReportBatch[];
  sentChars: number;
  readonly waitingBatches: ReportBatch[];
}

/**
 * MaxUnconfirmedReportChars limits the unconfirmed progress reports that are stored for each call, in UTF-16 code
 * units.
 */
const MaxUnconfirmedReportChars = 256 * 1024;

export interface OutboxOptions {
  send(frameText: string): boolean;
  /**
   * The promise of `requestConfirmation` resolves when the server has processed all message frames that were sent
   * before the call of `requestConfirmation`.
   */
  requestConfirmation(): Promise<unknown>;
}

/** Outbox sends the message frames of a call to the server in order: first the progress, then the result. */
export class Outbox {
  readonly deliverySignal = new Signal<[ids: readonly string[]]>();
  readonly #options: OutboxOptions;
  readonly #storedEndings = new Map<string, StoredEnding>();
  readonly #storedReports = new Map<string, StoredReports>();
  #storedChars = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isConfirmingDelivery = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  addProgress(id: string, reportBatch: ReportBatch): void {
    const reports = this.#storedReports.get(id) ?? { sentBatches: [], sentChars: 0, waitingBatches: [] };
    this.#storedReports.set(id, reports);
    const { seq, skipped, reports: frameText } = reportBatch;
    const storedBatch = { seq, skipped, reports: frameText };
    if (reports.waitingBatches.length === 0 && this.#options.send(makeProgressFrame(id, storedBatch))) {
      storeSentReports(reports, storedBatch);
      this.#scheduleConfirmation();
    } else {
      addToBoundedBuffer(reports.waitingBatches, storedBatch);
    }
  }

  addPart(id: string, seq: number, frameText: string): void {
    this.#addFrame(id, encodeNotification('tool.part', { dispatchId: id, seq, text: frameText }), false);
  }

  /** For a large result, the parameter `parts` is the number of parts that were already sent. */
  endWithResult(
    id: string,
    output: string | undefined,
    partCount: number | undefined,
    browserHops?: BrowserHops,
  ): void {
    const frame =
      partCount === undefined
        ? encodeRawResult(id, output, browserHops)
        : encodeResult(
            id,
            'tool.dispatch',
            browserHops ? { parts: partCount, hops: browserHops } : { parts: partCount },
          );
    this.#addFrame(id, frame, true);
  }

  /**
   * The parameter `browserHops` contains the step durations of a traced call that failed in its page, and is undefined
   * for other calls.
   */
  fail(id: string, error: CallError, browserHops?: BrowserHops): void {
    this.#addFrame(id, encodeCallError(id, error, browserHops), true);
  }

  isStored(id: string): boolean {
    return this.#storedEndings.has(id);
  }

  drop(id: string): void {
    this.#storedChars -= this.#storedEndings.get(id)?.charCount ?? 0;
    this.#storedEndings.delete(id);
    this.#storedReports.delete(id);
  }

  resume(): void {
    for (const [id, reports] of this.#storedReports) {
      for (const reportBatch of [...reports.sentBatches, ...reports.waitingBatches])
        this.#options.send(makeProgressFrame(id, reportBatch));
      for (const reportBatch of reports.waitingBatches.splice(0)) storeSentReports(reports, reportBatch);
    }
    for (const storedEnding of this.#storedEndings.values())
      for (const frame of storedEnding.frames) this.#options.send(frame);
    this.#scheduleConfirmation();
  }

  #addFrame(id: string, frame: string, isLastFrame: boolean): void {
    const storedEnding = this.#storedEndings.get(id) ?? {
      frames: [],
      isComplete: false,
      charCount: 0,
      isDropped: false,
    };
    if (storedEnding.isComplete) return;
    this.#storedEndings.set(id, storedEnding);
    storedEnding.isComplete = isLastFrame;
    const isSent = this.#options.send(frame);
    if (!storedEnding.isDropped) {
      storedEnding.frames.push(frame);
      storedEnding.charCount += frame.length;
      this.#storedChars += frame.length;
      if (this.#storedChars > MaxStoredChars) this.#replaceResultByError(id, storedEnding, isSent);
    }
    if (isLastFrame && isSent) this.#scheduleConfirmation();
  }

  /** #replaceResultByError replaces a result that is too large to store with a short error. */
  #replaceResultByError(id: string, storedEnding: StoredEnding, isSent: boolean): void {
    this.#storedChars -= storedEnding.charCount;
    storedEnding.isDropped = true;
    const message = isSent
      ? 'the result was lost with the link to the browser'
      : 'the link to the browser was lost, and the result is too large to be kept until it is back';
    storedEnding.frames = [encodeCallError(id, { code: 'link_lost', message })];
    storedEnding.charCount = 0;
  }

  #scheduleConfirmation(): void {
    if (this.#isConfirmingDelivery) return;
    if (this.#storedChars >= DeliveryConfirmThresholdChars) void this.#requestConfirmation();
    else this.#timer ??= setTimeout(() => void this.#requestConfirmation(), DeliveryConfirmDelayMs);
  }

  async #requestConfirmation(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const endedCalls = this.#listCompleteCallIds();
    const sentBatches = new Set([...this.#storedReports.values()].flatMap((reports) => reports.sentBatches));
    if (endedCalls.length === 0 && sentBatches.size === 0) return;
    this.#isConfirmingDelivery = true;
    try {
      await this.#options.requestConfirmation();
      this.#dropReportBatches(sentBatches);
      for (const id of endedCalls) this.drop(id);
      this.deliverySignal.emit(endedCalls);
    } catch {
      // After a lost link, the method `resume` sends all stored message frames again.
      return;
    } finally {
      this.#isConfirmingDelivery = false;
    }
    if (this.#listCompleteCallIds().length > 0 || this.#storedReports.size > 0) this.#scheduleConfirmation();
  }

  #dropReportBatches(droppedBatches: ReadonlySet<ReportBatch>): void {
    for (const [id, reports] of this.#storedReports) {
      reports.sentBatches = reports.sentBatches.filter((reportBatch) => !droppedBatches.has(reportBatch));
      reports.sentChars = reports.sentBatches.reduce((sum, reportBatch) => sum + reportBatch.reports.length, 0);
      if (reports.sentBatches.length + reports.waitingBatches.length === 0) this.#storedReports.delete(id);
    }
  }

  #listCompleteCallIds(): string[] {
    return [...this.#storedEndings].filter(([, storedEnding]) => storedEnding.isComplete).map(([id]) => id);
  }
}

function storeSentReports(reports: StoredReports, reportBatch: ReportBatch): void {
  reports.sentBatches.push(reportBatch);
  reports.sentChars += reportBatch.reports.length;
  while (reports.sentChars > MaxUnconfirmedReportChars && reports.sentBatches.length > 1) {
    reports.sentChars -= reports.sentBatches.shift()?.reports.length ?? 0;
  }
}

function makeProgressFrame(id: string, { seq, reports, skipped }: ReportBatch): string {
  return encodeRawProgress(id, seq, reports, skipped);
}
