import { MaxLogBytes, MaxLogChars, MaxLogData, MaxLogEntries } from '../../../wire/wire.gen.ts';
import { bytesOf, writeJson } from './json.ts';
import { dateNow, hasOwn, isArray, isObject, lookup, toJson } from './primordials.ts';
import { cut } from './report.ts';

/** MaxWaiting is how many entries wait for the end of a task, and MaxWaitingChars their length; the oldest give way. */
const MaxWaiting = 1000;
const MaxWaitingChars = 4 * 1024 * 1024;

/** SendLogs hands entries to the bridge: the JSON text of an array of count wire.LogEntry, and how many before them were dropped. */
export type SendLogs = (count: number, dropped: number, entries: string) => void;

/** Logs collects what one adapter logs; nothing of it passes the page. */
export interface Logs {
  /** take takes what a logger hands to its transport: an entry {level, message, data}, or a list of them. It never throws. */
  take(given: unknown): void;
  /** say logs a line of the host's own. */
  say(level: 'warning' | 'error', message: string): void;
  /** flush sends all that waits. */
  flush(): void;
}

/** Chunk is a run of entries that leaves as one message; chunks form a list, the oldest first. */
interface Chunk {
  text: string;
  count: number;
  /** dropped is how many entries right before it gave way. */
  dropped: number;
  next: Chunk | undefined;
}

/** makeLogs returns a Logs that asks whenIdle, once per task, to call flush at the end of the task. */
export function makeLogs(send: SendLogs, whenIdle: () => void): Logs {
  let first: Chunk | undefined;
  let last: Chunk | undefined;
  let waiting = 0;
  let chars = 0;

  const add = (entry: string) => {
    if (waiting === 0) whenIdle();
    if (!last || last.count >= MaxLogEntries) {
      const chunk: Chunk = { text: '', count: 0, dropped: 0, next: undefined };
      if (last) last.next = chunk;
      else first = chunk;
      last = chunk;
    }
    last.text += last.count === 0 ? entry : `,${entry}`;
    last.count++;
    waiting++;
    chars += entry.length;
    while (waiting > MaxWaiting || chars > MaxWaitingChars) if (!dropOldest()) break;
  };
  /** dropOldest makes room: the end of a flood says more than its beginning. It keeps the last chunk. */
  const dropOldest = (): boolean => {
    const old = first;
    if (!old?.next) return false;
    first = old.next;
    first.dropped = old.dropped + old.count;
    waiting -= old.count;
    chars -= old.text.length;
    return true;
  };
  const flush = () => {
    let chunk = first;
    first = undefined;
    last = undefined;
    waiting = 0;
    chars = 0;
    for (; chunk; chunk = chunk.next) send(chunk.count, chunk.dropped, `[${chunk.text}]`);
  };
  const take = (given: unknown) => {
    if (!isObject(given)) return;
    if (!isArray(given)) {
      add(entryText(given));
      return;
    }
    for (let i = 0; i < given.length; i++) {
      const entry: unknown = hasOwn(given, i) ? given[i] : undefined;
      if (isObject(entry)) add(entryText(entry));
    }
  };
  const say = (level: 'warning' | 'error', message: string) => add(textOf(level, message, ''));
  return { take, say, flush };
}

/** entryText turns what an adapter logged into the JSON text of a wire.LogEntry. It never throws. */
function entryText(entry: object): string {
  const message = read(entry, 'message');
  return textOf(levelOf(read(entry, 'level')), messageText(message), dataText(read(entry, 'data')));
}

function textOf(level: string, message: string, data: string): string {
  const more = data === '' ? '' : `,"data":${data}`;
  return `{"level":"${level}","message":${toJson(cut(message, MaxLogChars))}${more},"atMs":${dateNow()}}`;
}

function read(entry: object, field: string): unknown {
  try {
    return lookup(entry, field);
  } catch {
    return undefined;
  }
}

function levelOf(level: unknown): string {
  if (level === 'debug' || level === 'error') return level;
  return level === 'warning' || level === 'warn' ? 'warning' : 'info';
}

function messageText(message: unknown): string {
  if (message === undefined) return '';
  return typeof message === 'string' ? message : jsonOf(message);
}

/** dataText returns the JSON text of the arguments beside a message, cut to the limits; empty if there are none. */
function dataText(data: unknown): string {
  if (!isObject(data) || !isArray(data)) return '';
  let text = '';
  let bytes = 2;
  for (let i = 0; i < data.length && i < MaxLogData; i++) {
    const value: unknown = hasOwn(data, i) ? data[i] : undefined;
    let one = typeof value === 'string' ? toJson(cut(value, MaxLogChars)) : jsonOf(value);
    let size = bytesOf(one, one.length) + 1;
    if (bytes + size > MaxLogBytes) {
      one = toJson(cut(one, MaxLogChars));
      size = bytesOf(one, one.length) + 1;
    }
    if (bytes + size > MaxLogBytes) break;
    text += text === '' ? one : `,${one}`;
    bytes += size;
  }
  return text === '' ? '' : `[${text}]`;
}

/** jsonOf writes a value as JSON; what JSON can't carry is said in a word. */
function jsonOf(value: unknown): string {
  try {
    return writeJson(value) ?? toJson(`[${typeof value}]`);
  } catch {
    return '"[not JSON]"';
  }
}
