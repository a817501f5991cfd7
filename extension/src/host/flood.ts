import { apply, nativePerformance, performanceNow } from './primordials.ts';

// flood.ts collects the progress reports of a host's calls until the end of the task, so that the host sends few
// messages. During a long task, such as a loop without await, reports are sent at intervals, so that the server
// receives progress earlier.

/** `reports` is the JSON text of an array of wire.Report. */
export type SendReports = (call: number, count: number, skippedReportCount: number, reports: string) => void;

// MaxReportsPerChunk and MaxChunkChars limit one chunk of reports. MaxWaitingChars limits the total size of all chunks
// that wait to be sent.
const MaxReportsPerChunk = 1000;
const MaxChunkChars = 256 * 1024;
const MaxWaitingChars = 16 * 1024 * 1024;
/** FlushIntervalWhenBusyMs is the interval at which reports are sent within one task, in milliseconds. */
const FlushIntervalWhenBusyMs = 250;

/** All chunks of progress reports form a linked list that begins with the oldest chunk. */
interface ReportChunk {
  readonly call: number;
  text: string;
  count: number;
  skippedReports: number;
  nextChunk: ReportChunk | undefined;
}

/** ReportBuffer is a bounded buffer of progress reports. */
export interface ReportBuffer {
  /** `reports` contains the JSON texts of the reports, joined by commas. */
  add(call: number, reports: string, count: number): void;
  flush(): void;
}

/** The function `scheduleFlush` must schedule a call of flushReports at the end of the current task. */
export function makeReportBuffer(sendReports: SendReports, scheduleFlush: () => void): ReportBuffer {
  let firstChunk: ReportChunk | undefined;
  let lastChunk: ReportChunk | undefined;
  let waitingChars = 0;
  let isScheduled = false;
  let flushedAtMs = 0;

  const flushReports = () => {
    isScheduled = false;
    flushedAtMs = apply(performanceNow, nativePerformance, []);
    let chunk = firstChunk;
    firstChunk = undefined;
    lastChunk = undefined;
    waitingChars = 0;
    for (; chunk; chunk = chunk.nextChunk)
      sendReports(chunk.call, chunk.count, chunk.skippedReports, `[${chunk.text}]`);
  };

  /** dropOldest counts the dropped reports as skipped in the call's next chunk. */
  const dropOldest = () => {
    const oldestChunk = firstChunk;
    if (!oldestChunk?.nextChunk) return;
    firstChunk = oldestChunk.nextChunk;
    waitingChars -= oldestChunk.text.length;
    let nextCallChunk = oldestChunk.nextChunk;
    while (nextCallChunk.call !== oldestChunk.call && nextCallChunk.nextChunk) nextCallChunk = nextCallChunk.nextChunk;
    if (nextCallChunk.call === oldestChunk.call) {
      nextCallChunk.skippedReports += oldestChunk.count + oldestChunk.skippedReports;
    } else {
      // If the call has no newer chunk of reports, an empty chunk stores the number of the call's dropped reports.
      const emptyChunk = makeChunk(oldestChunk.call);
      emptyChunk.skippedReports = oldestChunk.count + oldestChunk.skippedReports;
      nextCallChunk.nextChunk = emptyChunk;
      lastChunk = emptyChunk;
    }
  };

  const addReports = (call: number, reports: string, count: number) => {
    if (
      !lastChunk ||
      lastChunk.call !== call ||
      lastChunk.count >= MaxReportsPerChunk ||
      lastChunk.text.length >= MaxChunkChars
    ) {
      const chunk = makeChunk(call);
      if (lastChunk) lastChunk.nextChunk = chunk;
      else firstChunk = chunk;
      lastChunk = chunk;
    }
    lastChunk.text += lastChunk.count === 0 ? reports : `,${reports}`;
    lastChunk.count += count;
    waitingChars += reports.length;
    if (!isScheduled) {
      isScheduled = true;
      flushedAtMs = apply(performanceNow, nativePerformance, []);
      scheduleFlush();
    } else if (apply(performanceNow, nativePerformance, []) - flushedAtMs >= FlushIntervalWhenBusyMs) {
      flushReports();
      // The host has already scheduled scheduleFlush for the end of the current task, so more reports must not schedule
      // scheduleFlush again.
      isScheduled = true;
    }
    while (waitingChars > MaxWaitingChars && firstChunk !== lastChunk) dropOldest();
  };

  return { add: addReports, flush: flushReports };
}

function makeChunk(call: number): ReportChunk {
  return { call, text: '', count: 0, skippedReports: 0, nextChunk: undefined };
}
