import { makeFailureHint } from '../../../sdk-ts/src/runtime/hints.ts';
import { readMessage } from './failure.ts';
import type { HostLogLevel } from './logs.ts';
import { isObject, lookup } from './primordials.ts';
import { readStack } from './stack.ts';

/** LoggedFailure is a log entry about a failed call. */
export interface LoggedFailure {
  readonly level: HostLogLevel;
  readonly message: string;
  /** The field `stack` is the stack trace of the error that the tool threw, or an empty string. */
  readonly stack: string;
}

/** A tool throws errors with a code on purpose, so their log entries have the level debug. */
export function makeThrownFailure(tool: string, thrown: unknown): LoggedFailure {
  const text = readMessage(thrown);
  const hint = makeFailureHint(thrown, text);
  const message = `${tool} failed: ${text}${hint === '' ? '' : `\n${hint}`}`;
  return { level: hint === '' && hasErrorCode(thrown) ? 'debug' : 'error', message, stack: readStack(thrown) };
}

function hasErrorCode(thrown: unknown): boolean {
  try {
    return isObject(thrown) && typeof lookup(thrown, 'code') === 'string';
  } catch {
    return false; // reading a field of a revoked proxy throws
  }
}
