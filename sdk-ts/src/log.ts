import { logData, logText } from './log-data.ts';
import { pristinely } from './runtime/pristine.ts';

/** How much an entry matters, in the words of MCP. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** One entry of the log. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Up to 4,096 characters. */
  readonly message: string;
  /** The arguments beside the message, up to 10, as JSON can hold them: each up to 64 KiB, a text up to 4,096 characters. */
  readonly data: readonly unknown[];
  /** When it was logged, as in `2026-01-31T12:00:00.000Z`. */
  readonly ts: string;
}

/** Takes each entry as it is logged. What it throws is dropped. */
export type LogTransport = (entry: LogEntry) => void;

/** What {@link log} is. */
export interface Log {
  debug(message: string, ...args: unknown[]): void;
  info(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

const consoleMethods = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;

/** Used where no platform is: in tests, and in a page where the adapter was started by hand. */
const toConsole: LogTransport = ({ level, message, data }) => {
  console[consoleMethods[level]](`[opentabs] ${message}`, ...data);
};

let transport = toConsole;

/** Sends all entries to `next`. Returns the function that puts back what was there. */
export function setLogTransport(next: LogTransport): () => void {
  const before = transport;
  transport = next;
  return () => {
    if (transport === next) transport = before;
  };
}

function entry(level: LogLevel, message: string, args: readonly unknown[]): void {
  try {
    const made = pristinely(() => ({
      level,
      message: logText(String(message)),
      data: logData(args),
      ts: new Date().toISOString(),
    }));
    transport(made);
  } catch {
    // A log must never be what fails.
  }
}

/**
 * Logs to the platform: `opentabs logs` shows it, and clients that ask for a plugin's logs get it. What stands beside the
 * message is made into what JSON can hold, errors, elements and circles included. It never throws. Never log passwords or
 * tokens.
 */
export const log: Log = Object.freeze({
  debug: (message: string, ...args: unknown[]) => entry('debug', message, args),
  info: (message: string, ...args: unknown[]) => entry('info', message, args),
  warn: (message: string, ...args: unknown[]) => entry('warning', message, args),
  error: (message: string, ...args: unknown[]) => entry('error', message, args),
});
