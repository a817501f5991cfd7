import { apply, clock, now } from './primordials.ts';

// Batches the reports of all calls of one host until the end of the task, to send few messages. If a task takes long,
// as in a loop that reports without awaiting, batches are also sent during the task, so that the server receives
// progress in time.

/** Send sends reports of one call, the JSON text of an array, to the bridge. */
export type Send = (call: number, count: number, skipped: number, reports: string) => void;

// Limits of one chunk, and of all waiting chunks.
const MaxChunkReports = 1000;
const MaxChunkChars = 256 * 1024;
const MaxWaitingChars = 16 * 1024 * 1024;
/** BusyFlushMs is the interval between two sends within one task, in milliseconds. */
const BusyFlushMs = 250;

/** Chunk is a sequence of reports of one call. Chunks form a linked list, the oldest first. */
interface Chunk {
  readonly call: number;
  text: string;
  count: number;
  skipped: number;
  next: Chunk | undefined;
}

/** Flood is a bounded buffer of reports. */
export interface Flood {
  /** add appends count reports of a call: their JSON texts, joined by commas. */
  add(call: number, reports: string, count: number): void;
  /** flush sends all waiting reports. */
  flush(): void;
}

/**
 * makeFlood returns a Flood. The Flood calls whenIdle once per task, and whenIdle must call flush at the end of the
 * task.
 */
export function makeFlood(send: Send, whenIdle: () => void): Flood {
  let first: Chunk | undefined;
  let last: Chunk | undefined;
  let waiting = 0;
  let isScheduled = false;
  let flushedAt = 0;

  const flush = () => {
    isScheduled = false;
    flushedAt = apply(now, clock, []);
    let chunk = first;
    first = undefined;
    last = undefined;
    waiting = 0;
    for (; chunk; chunk = chunk.next) send(chunk.call, chunk.count, chunk.skipped, `[${chunk.text}]`);
  };

  /** dropOldest drops the oldest chunk, and adds its number of reports to the next chunk of the same call. */
  const dropOldest = () => {
    const old = first;
    if (!old?.next) return;
    first = old.next;
    waiting -= old.text.length;
    let heir = old.next;
    while (heir.call !== old.call && heir.next) heir = heir.next;
    if (heir.call === old.call) {
      heir.skipped += old.count + old.skipped;
    } else {
      // The call has no newer chunk, so an empty chunk carries the number of dropped reports.
      const count = makeChunk(old.call);
      count.skipped = old.count + old.skipped;
      heir.next = count;
      last = count;
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
    waiting += reports.length;
    if (!isScheduled) {
      isScheduled = true;
      flushedAt = apply(now, clock, []);
      whenIdle();
    } else if (apply(now, clock, []) - flushedAt >= BusyFlushMs) {
      flush();
      // whenIdle still waits for the end of this task, so later reports in this task must not call whenIdle again.
      isScheduled = true;
    }
    while (waiting > MaxWaitingChars && first !== last) dropOldest();
  };

  return { add, flush };
}

function makeChunk(call: number): Chunk {
  return { call, text: '', count: 0, skipped: 0, next: undefined };
}
