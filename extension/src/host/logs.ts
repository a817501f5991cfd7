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
 * `logEntries` is the JSON text of an array of `count` wire.LogEntry. `dropped` is the number of log entries that the
 * host dropped just before the first of `logEntries`.
 */
export type SendLogs = (count: number, dropped: number, logEntries: string) => void;

export type HostLogLevel = 'debug' | 'warning' | 'error';

export interface StackTrace {
  readonly stack: string;
  /** The field `origin` is the stack trace of an error that was created in the line before the adapter's first line. */
  readonly origin: string;
}

/** HostLogs is a bounded buffer of one adapter's log entries. The page cannot read the log entries of an adapter. */
export interface HostLogs {
  /**
   * The method `accept` adds the argument of the adapter's log transport to the log: a log entry {level, message,
   * data}, or an array of log entries. `accept` never throws.
   */
  accept(logEntries: unknown): void;
  /**
   * The method `write` adds an entry of the host itself to the adapter's log. For an error, `stack` is the stack trace
   * of the error (see {@link StackTrace}).
   */
  write(logLevel: HostLogLevel, logMessage: string, stack?: StackTrace): void;
  flush(): void;
}

/** All chunks of log entries form a linked list that begins with the oldest chunk. */
interface LogChunk {
  text: string;
  count: number;
  /** droppedCount is the number of log entries that the host dropped between the previous chunk and this chunk. */
  droppedCount: number;
  nextChunk: LogChunk | undefined;
}

/** The function `scheduleFlush` must schedule a call of flushLogs at the end of the current task. */
export function makeLogs(sendLogs: SendLogs, scheduleFlush: () => void): HostLogs {
  let firstChunk: LogChunk | undefined;
  let lastChunk: LogChunk | undefined;
  let waitingEntries = 0;
  let waitingChars = 0;

  const addEntry = (logEntry: string) => {
    if (waitingEntries === 0) scheduleFlush();
    if (!lastChunk || lastChunk.count >= MaxLogEntries) {
      const chunk: LogChunk = { text: '', count: 0, droppedCount: 0, nextChunk: undefined };
      if (lastChunk) lastChunk.nextChunk = chunk;
      else firstChunk = chunk;
      lastChunk = chunk;
    }
    lastChunk.text += lastChunk.count === 0 ? logEntry : `,${logEntry}`;
    lastChunk.count++;
    waitingEntries++;
    waitingChars += logEntry.length;
    while (waitingEntries > MaxWaitingEntries || waitingChars > MaxWaitingChars) if (!dropOldest()) break;
  };
  /** dropOldest never drops the only chunk of log entries, because the newest log entries are the most useful. */
  const dropOldest = (): boolean => {
    const oldestChunk = firstChunk;
    if (!oldestChunk?.nextChunk) return false;
    firstChunk = oldestChunk.nextChunk;
    firstChunk.droppedCount = oldestChunk.droppedCount + oldestChunk.count;
    waitingEntries -= oldestChunk.count;
    waitingChars -= oldestChunk.text.length;
    return true;
  };
  const flushLogs = () => {
    let chunk = firstChunk;
    firstChunk = undefined;
    lastChunk = undefined;
    waitingEntries = 0;
    waitingChars = 0;
    for (; chunk; chunk = chunk.nextChunk) sendLogs(chunk.count, chunk.droppedCount, `[${chunk.text}]`);
  };
  const acceptEntries = (logEntries: unknown) => {
    if (!isObject(logEntries)) return;
    if (!isArray(logEntries)) {
      addEntry(formatEntry(logEntries));
      return;
    }
    for (let i = 0; i < logEntries.length; i++) {
      const logEntry: unknown = hasOwn(logEntries, i) ? logEntries[i] : undefined;
      if (isObject(logEntry)) addEntry(formatEntry(logEntry));
    }
  };
  const writeEntry = (logLevel: HostLogLevel, logMessage: string, stack?: StackTrace) =>
    addEntry(formatLogEntry(logLevel, logMessage, '', stack));
  return { accept: acceptEntries, write: writeEntry, flush: flushLogs };
}

/** formatEntry returns a log entry as JSON text, and never throws. */
function formatEntry(logEntry: object): string {
  const logMessage = readField(logEntry, 'message');
  return formatLogEntry(
    toLevel(readField(logEntry, 'level')),
    toMessageText(logMessage),
    formatLogData(readField(logEntry, 'data')),
  );
}

function formatLogEntry(logLevel: LogLevel, logMessage: string, dataJson: string, stack?: StackTrace): string {
  const hasStack = stack !== undefined && stack.stack !== '';
  return makeObjectText<'LogEntry'>({
    level: `"${logLevel}"`,
    message: toJson(truncateMessage(logMessage, MaxLogChars)),
    data: dataJson === '' ? undefined : dataJson,
    atMs: `${dateNow()}`,
    stack: hasStack ? toJson(truncateMessage(stack.stack, MaxStackChars)) : undefined,
    stackOrigin: hasStack ? toJson(truncateMessage(stack.origin, MaxStackChars)) : undefined,
  });
}

function readField(logEntry: object, fieldName: string): unknown {
  try {
    return lookup(logEntry, fieldName);
  } catch {
    return undefined;
  }
}

function toLevel(logLevel: unknown): LogLevel {
  if (logLevel === 'debug' || logLevel === 'error') return logLevel;
  return logLevel === 'warning' || logLevel === 'warn' ? 'warning' : 'info';
}

function toMessageText(logMessage: unknown): string {
  if (logMessage === undefined) return '';
  return typeof logMessage === 'string' ? logMessage : toJsonOrPlaceholder(logMessage);
}

function formatLogData(dataJson: unknown): string {
  if (!isObject(dataJson) || !isArray(dataJson)) return '';
  let entriesText = '';
  let bytes = 2;
  for (let i = 0; i < dataJson.length && i < MaxLogArgs; i++) {
    const value: unknown = hasOwn(dataJson, i) ? dataJson[i] : undefined;
    let json = typeof value === 'string' ? toJson(truncateMessage(value, MaxLogChars)) : toJsonOrPlaceholder(value);
    let entryBytes = countUtf8Bytes(json, json.length) + 1;
    if (bytes + entryBytes > MaxLogDataBytes) {
      json = toJson(truncateMessage(json, MaxLogChars));
      entryBytes = countUtf8Bytes(json, json.length) + 1;
    }
    if (bytes + entryBytes > MaxLogDataBytes) break;
    entriesText += entriesText === '' ? json : `,${json}`;
    bytes += entryBytes;
  }
  return entriesText === '' ? '' : `[${entriesText}]`;
}

function toJsonOrPlaceholder(value: unknown): string {
  try {
    return writeJson(value) ?? toJson(`[${typeof value}]`);
  } catch {
    return '"[not JSON]"';
  }
}
