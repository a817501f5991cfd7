import { toLogData, truncateLogText } from './log-data.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

/** The level of a log entry, as in MCP. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** One entry of the log. */
export interface LogEntry {
  readonly level: LogLevel;
  /** The message of the entry, up to 4,096 characters. */
  readonly message: string;
  /** Up to 10 JSON values of the entry. Each value has up to 64 KiB, and a text has up to 4,096 characters. */
  readonly data: readonly unknown[];
  /** The time of the entry, such as `2026-01-31T12:00:00.000Z`. */
  readonly ts: string;
}

/** Receives each log entry when the plugin logs it. Errors that the transport throws are ignored. */
export type LogTransport = (entry: LogEntry) => void;

/** The type of {@link log}, with one method for each level. */
export interface Log {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

const consoleMethods = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;

/**
 * The default transport, used without a platform: in tests, and in a page where the author started the adapter
 * manually.
 */
const writeToConsole: LogTransport = ({ level, message, data }) => {
  console[consoleMethods[level]](`[opentabs] ${message}`, ...data);
};

let transport = writeToConsole;

/** Replaces the log transport by `newTransport`. Returns a function that restores the previous transport. */
export function setLogTransport(newTransport: LogTransport): () => void {
  const previous = transport;
  transport = newTransport;
  return () => {
    if (transport === newTransport) transport = previous;
  };
}

function sendEntry(level: LogLevel, message: string, args: readonly unknown[]): void {
  try {
    const entry = withPristineBuiltIns(() => ({
      level,
      message: truncateLogText(String(message)),
      data: toLogData(args),
      ts: new Date().toISOString(),
    }));
    transport(entry);
  } catch {
    // A tool must never fail because of its log.
  }
}

/**
 * Logs a message and up to 10 values. `opentabs logs` shows the entries, and clients that subscribed to logs receive
 * them. The values become JSON, including errors, elements and circular objects. Never throws. Do not log passwords or
 * tokens.
 */
export const log: Log = Object.freeze({
  debug: (message: string, ...args: unknown[]) => sendEntry('debug', message, args),
  info: (message: string, ...args: unknown[]) => sendEntry('info', message, args),
  warn: (message: string, ...args: unknown[]) => sendEntry('warning', message, args),
  error: (message: string, ...args: unknown[]) => sendEntry('error', message, args),
});
