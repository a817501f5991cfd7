import { apply, clock, now } from './primordials.ts';

// Reports of all calls of one host wait here until the end of the task in
// which they were made; then they leave as few messages. A tool that reports
// in a long loop without ever ending its task sends now and then as well, so
// that the server hears of it while it works.

/** Send hands reports of one call, the JSON text of an array, to the bridge. */
export type Send = (call: number, count: number, skipped: number, reports: string) => void;

/** Limits of what waits. */
const MaxChunkReports = 1000;
const MaxChunkChars = 256 * 1024;
const MaxWaitingChars = 16 * 1024 * 1024;
/** BusyFlushMs is the time between two sends within one task, in milliseconds. */
const BusyFlushMs = 250;

/** Chunk is a run of reports of one call; chunks form a list, the oldest first. */
interface Chunk {
  readonly call: number;
  text: string;
  count: number;
  skipped: number;
  next: Chunk | undefined;
}

/** Flood collects reports. */
export interface Flood {
  /** add takes reports of a call: the JSON text of one, or of count of them joined by commas. */
  add(call: number, reports: string, count: number): void;
  /** flush sends all that waits. */
  flush(): void;
}

/** makeFlood returns a Flood that asks whenIdle, once per task, to call flush at the end of the task. */
export function makeFlood(send: Send, whenIdle: () => void): Flood {
  let first: Chunk | undefined;
  let last: Chunk | undefined;
  let waiting = 0;
  let scheduled = false;
  let flushedAt = 0;

  const flush = () => {
    scheduled = false;
    flushedAt = apply(now, clock, []);
    let chunk = first;
    first = undefined;
    last = undefined;
    waiting = 0;
    for (; chunk; chunk = chunk.next) send(chunk.call, chunk.count, chunk.skipped, `[${chunk.text}]`);
  };

  /** dropOldest makes room; the reports of the oldest chunk are counted in the next one of the same call. */
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
      // Nothing newer of that call: an empty chunk keeps the count.
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
    if (!scheduled) {
      scheduled = true;
      flushedAt = apply(now, clock, []);
      whenIdle();
    } else if (apply(now, clock, []) - flushedAt >= BusyFlushMs) {
      flush();
      // The end of the task is still awaited: what comes next must not ask for it again.
      scheduled = true;
    }
    while (waiting > MaxWaitingChars && first !== last) dropOldest();
  };

  return { add, flush };
}

function makeChunk(call: number): Chunk {
  return { call, text: '', count: 0, skipped: 0, next: undefined };
}
