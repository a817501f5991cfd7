import {
  type LogLevel,
  MaxLogArgs,
  MaxLogChars,
  MaxLogDataBytes,
  MaxLogEntries,
  MaxStackChars,
} from '../../../wire/wire.gen.ts';
import { countUtf8Bytes, makeObjectText, writeJson } from './json.ts';
import { dateNow, hasOwn, isArray, isObject, lookup, toJson } from './primordials.ts';
import { truncateMessage } from './report.ts';

/**
 * MaxWaitingEntries and MaxWaitingChars limit the number and the length of the log entries that wait for the end of a
 * task.
 */
const MaxWaitingEntries = 1000;
const MaxWaitingChars = 4 * 1024 * 1024;

/**
 * `entries` is the JSON text of an array of `count` wire.LogEntry. `dropped` is the number of log entries that the host
 * dropped just before the entries in `entries`.
 */
export type SendLogs = (count: number, dropped: number, entries: string) => void;

export type HostLogLevel = 'debug' | 'warning' | 'error';

export interface StackTrace {
  readonly stack: string;
  /** The field `origin` is the stack trace of an error that was created in the line before the adapter's first line. */
  readonly origin: string;
}

/** Logs is a bounded buffer of one adapter's log entries. The page cannot read the log entries of an adapter. */
export interface Logs {
  /**
   * The method `accept` adds what an adapter passes to its log transport: a log entry {level, message, data}, or an
   * array of log entries. `accept` never throws.
   */
  accept(given: unknown): void;
  /**
   * The method `write` adds the host's own entry to the adapter's log. For an error, `stack` is its stack trace (see
   * {@link StackTrace}).
   */
  write(level: HostLogLevel, message: string, stack?: StackTrace): void;
  flush(): void;
}

/** All chunks of log entries form a linked list that begins with the oldest chunk. */
interface LogChunk {
  text: string;
  count: number;
  /**
   * The field `dropped` is the number of log entries that the host dropped between the previous chunk and this chunk.
   */
  dropped: number;
  next: LogChunk | undefined;
}

/** whenIdle must call flush at the end of the task. */
export function makeLogs(send: SendLogs, whenIdle: () => void): Logs {
  let first: LogChunk | undefined;
  let last: LogChunk | undefined;
  let waitingEntries = 0;
  let waitingChars = 0;

  const add = (entry: string) => {
    if (waitingEntries === 0) whenIdle();
    if (!last || last.count >= MaxLogEntries) {
      const chunk: LogChunk = { text: '', count: 0, dropped: 0, next: undefined };
      if (last) last.next = chunk;
      else first = chunk;
      last = chunk;
    }
    last.text += last.count === 0 ? entry : `,${entry}`;
    last.count++;
    waitingEntries++;
    waitingChars += entry.length;
    while (waitingEntries > MaxWaitingEntries || waitingChars > MaxWaitingChars) if (!dropOldest()) break;
  };
  /** dropOldest never drops the only chunk of log entries, because the newest log entries are the most useful. */
  const dropOldest = (): boolean => {
    const oldest = first;
    if (!oldest?.next) return false;
    first = oldest.next;
    first.dropped = oldest.dropped + oldest.count;
    waitingEntries -= oldest.count;
    waitingChars -= oldest.text.length;
    return true;
  };
  const flush = () => {
    let chunk = first;
    first = undefined;
    last = undefined;
    waitingEntries = 0;
    waitingChars = 0;
    for (; chunk; chunk = chunk.next) send(chunk.count, chunk.dropped, `[${chunk.text}]`);
  };
  const accept = (entries: unknown) => {
    if (!isObject(entries)) return;
    if (!isArray(entries)) {
      add(formatEntry(entries));
      return;
    }
    for (let i = 0; i < entries.length; i++) {
      const entry: unknown = hasOwn(entries, i) ? entries[i] : undefined;
      if (isObject(entry)) add(formatEntry(entry));
    }
  };
  const writeEntry = (level: HostLogLevel, message: string, stack?: StackTrace) =>
    add(formatLogEntry(level, message, '', stack));
  return { accept, write: writeEntry, flush };
}

/** formatEntry never throws. */
function formatEntry(entry: object): string {
  const message = readField(entry, 'message');
  return formatLogEntry(
    toLevel(readField(entry, 'level')),
    toMessageText(message),
    toDataText(readField(entry, 'data')),
  );
}

function formatLogEntry(level: LogLevel, message: string, data: string, stack?: StackTrace): string {
  const hasStack = stack !== undefined && stack.stack !== '';
  return makeObjectText<'LogEntry'>({
    level: `"${level}"`,
    message: toJson(truncateMessage(message, MaxLogChars)),
    data: data === '' ? undefined : data,
    atMs: `${dateNow()}`,
    stack: hasStack ? toJson(truncateMessage(stack.stack, MaxStackChars)) : undefined,
    stackOrigin: hasStack ? toJson(truncateMessage(stack.origin, MaxStackChars)) : undefined,
  });
}

function readField(entry: object, field: string): unknown {
  try {
    return lookup(entry, field);
  } catch {
    return undefined;
  }
}

function toLevel(level: unknown): LogLevel {
  if (level === 'debug' || level === 'error') return level;
  return level === 'warning' || level === 'warn' ? 'warning' : 'info';
}

function toMessageText(message: unknown): string {
  if (message === undefined) return '';
  return typeof message === 'string' ? message : toJsonOrPlaceholder(message);
}

function toDataText(data: unknown): string {
  if (!isObject(data) || !isArray(data)) return '';
  let text = '';
  let bytes = 2;
  for (let i = 0; i < data.length && i < MaxLogArgs; i++) {
    const value: unknown = hasOwn(data, i) ? data[i] : undefined;
    let json = typeof value === 'string' ? toJson(truncateMessage(value, MaxLogChars)) : toJsonOrPlaceholder(value);
    let size = countUtf8Bytes(json, json.length) + 1;
    if (bytes + size > MaxLogDataBytes) {
      json = toJson(truncateMessage(json, MaxLogChars));
      size = countUtf8Bytes(json, json.length) + 1;
    }
    if (bytes + size > MaxLogDataBytes) break;
    text += text === '' ? json : `,${json}`;
    bytes += size;
  }
  return text === '' ? '' : `[${text}]`;
}

function toJsonOrPlaceholder(value: unknown): string {
  try {
    return writeJson(value) ?? toJson(`[${typeof value}]`);
  } catch {
    return '"[not JSON]"';
  }
}
