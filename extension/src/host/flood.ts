import { apply, nativePerformance, performanceNow } from './primordials.ts';

// flood.ts collects the progress reports of a host's calls until the end of the task, so that the host sends few
// messages. During a long task, such as a loop without await, reports are sent at intervals, so that the server
// receives progress earlier.

/** `reports` is the JSON text of an array of wire.Report. */
export type SendReports = (call: number, count: number, skipped: number, reports: string) => void;

// MaxChunkReports and MaxChunkChars limit one chunk of reports. MaxWaitingChars limits the total size of all chunks
// that wait to be sent.
const MaxChunkReports = 1000;
const MaxChunkChars = 256 * 1024;
const MaxWaitingChars = 16 * 1024 * 1024;
/** BusyFlushIntervalMs is the interval at which reports are sent within one task, in milliseconds. */
const BusyFlushIntervalMs = 250;

/** All chunks of progress reports form a linked list that begins with the oldest chunk. */
interface ReportChunk {
  readonly call: number;
  text: string;
  count: number;
  skipped: number;
  next: ReportChunk | undefined;
}

/** ReportBuffer is a bounded buffer of progress reports. */
export interface ReportBuffer {
  /** `reports` contains the JSON texts of the reports, joined by commas. */
  add(call: number, reports: string, count: number): void;
  flush(): void;
}

/** whenIdle must call flush at the end of the task. */
export function makeReportBuffer(send: SendReports, whenIdle: () => void): ReportBuffer {
  let first: ReportChunk | undefined;
  let last: ReportChunk | undefined;
  let waitingChars = 0;
  let isScheduled = false;
  let flushedAt = 0;

  const flush = () => {
    isScheduled = false;
    flushedAt = apply(performanceNow, nativePerformance, []);
    let chunk = first;
    first = undefined;
    last = undefined;
    waitingChars = 0;
    for (; chunk; chunk = chunk.next) send(chunk.call, chunk.count, chunk.skipped, `[${chunk.text}]`);
  };

  /** dropOldest counts the dropped reports as skipped in the call's next chunk. */
  const dropOldest = () => {
    const oldest = first;
    if (!oldest?.next) return;
    first = oldest.next;
    waitingChars -= oldest.text.length;
    let nextOfCall = oldest.next;
    while (nextOfCall.call !== oldest.call && nextOfCall.next) nextOfCall = nextOfCall.next;
    if (nextOfCall.call === oldest.call) {
      nextOfCall.skipped += oldest.count + oldest.skipped;
    } else {
      // If the call has no newer chunk of reports, an empty chunk stores the number of the call's dropped reports.
      const emptyChunk = makeChunk(oldest.call);
      emptyChunk.skipped = oldest.count + oldest.skipped;
      nextOfCall.next = emptyChunk;
      last = emptyChunk;
    }
  };

  const add = (call: number, reports: string, count: number) => {
    if (!last || last.call !== call || last.count >= MaxChunkReports || last.text.length >= MaxChunkChars) {
      const chunk = makeChunk(call);
      if (last) last.next = chunk;
      else first = chunk;
      last = chunk;
    }
    last.text += last.count === 0 ? reports : `,${reports}`;
    last.count += count;
    waitingChars += reports.length;
    if (!isScheduled) {
      isScheduled = true;
      flushedAt = apply(performanceNow, nativePerformance, []);
      whenIdle();
    } else if (apply(performanceNow, nativePerformance, []) - flushedAt >= BusyFlushIntervalMs) {
      flush();
      // The host has already scheduled the callback whenIdle for the end of the current task, so more reports must not
      // schedule whenIdle again.
      isScheduled = true;
    }
    while (waitingChars > MaxWaitingChars && first !== last) dropOldest();
  };

  return { add, flush };
}

function makeChunk(call: number): ReportChunk {
  return { call, text: '', count: 0, skipped: 0, next: undefined };
}
