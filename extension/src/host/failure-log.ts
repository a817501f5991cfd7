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
export function makeThrownFailure(tool: string, thrownValue: unknown): LoggedFailure {
  const thrownMessage = readMessage(thrownValue);
  const hint = makeFailureHint(thrownValue, thrownMessage);
  const failureMessage = `${tool} failed: ${thrownMessage}${hint === '' ? '' : `\n${hint}`}`;
  return {
    level: hint === '' && hasErrorCode(thrownValue) ? 'debug' : 'error',
    message: failureMessage,
    stack: readStack(thrownValue),
  };
}

function hasErrorCode(thrownValue: unknown): boolean {
  try {
    return isObject(thrownValue) && typeof lookup(thrownValue, 'code') === 'string';
  } catch {
    return false; // reading a field of a revoked proxy throws
  }
}
