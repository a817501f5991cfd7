import { toLogData, truncateLogText } from './log-data.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';

/** The severity of a log entry, as in MCP. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** One log entry of a plugin. */
export interface LogEntry {
  readonly level: LogLevel;
  /** The logged message, truncated to 4,096 characters. */
  readonly message: string;
  /**
   * Up to 10 logged values as JSON. Each logged value is limited to 64 KiB, and each string in a logged value to 4,096
   * characters.
   */
  readonly data: readonly unknown[];
  /** When the plugin logged the message, such as `2026-01-31T12:00:00.000Z`. */
  readonly ts: string;
}

/** A function that receives each log entry of the plugin. Errors that a LogTransport throws are ignored. */
export type LogTransport = (logEntry: LogEntry) => void;

/** The type of {@link log}, with one method for each severity. */
export interface Log {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

const consoleMethods = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;

/** Plugins log to the console when they run outside opentabs, for example in tests. */
const writeToConsole: LogTransport = ({ level: logLevel, message, data }) => {
  console[consoleMethods[logLevel]](`[opentabs] ${message}`, ...data);
};

let currentTransport = writeToConsole;

export function setLogTransport(newTransport: LogTransport): () => void {
  const previousTransport = currentTransport;
  currentTransport = newTransport;
  return () => {
    if (currentTransport === newTransport) currentTransport = previousTransport;
  };
}

function sendLogEntry(logLevel: LogLevel, message: string, args: readonly unknown[]): void {
  try {
    const logEntry = withPristineBuiltIns(() => ({
      level: logLevel,
      message: truncateLogText(String(message)),
      data: toLogData(args),
      ts: new Date().toISOString(),
    }));
    currentTransport(logEntry);
  } catch {
    // A tool must not fail because its log entry could not be sent.
  }
}

/**
 * Logs a message and up to 10 values. `opentabs logs` shows the plugin's log, and MCP clients can subscribe to it.
 * Logged values are converted to JSON, even errors, DOM elements and circular objects. A method of the log never
 * throws. Plugins must not log passwords or tokens.
 */
export const log: Log = Object.freeze({
  debug: (message: string, ...args: unknown[]) => sendLogEntry('debug', message, args),
  info: (message: string, ...args: unknown[]) => sendLogEntry('info', message, args),
  warn: (message: string, ...args: unknown[]) => sendLogEntry('warning', message, args),
  error: (message: string, ...args: unknown[]) => sendLogEntry('error', message, args),
});
