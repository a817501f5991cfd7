import { failureHint } from '../../../sdk-ts/src/runtime/hints.ts';
import { messageOf } from './failure.ts';
import type { HostLogLevel } from './logs.ts';
import { isObject, lookup } from './primordials.ts';
import { readStack } from './stack.ts';

/** Failure is a log entry about a failed call. */
export interface Failure {
  readonly level: HostLogLevel;
  readonly message: string;
  /** stack is the stack trace of the thrown error, or an empty string. */
  readonly stack: string;
}

/**
 * thrownFailure describes an error that a tool threw. An error with a code is thrown on purpose, so its log entry has
 * the level debug.
 */
export function thrownFailure(tool: string, thrown: unknown): Failure {
  const text = messageOf(thrown);
  const hint = failureHint(thrown, text);
  const message = `${tool} failed: ${text}${hint === '' ? '' : `\n${hint}`}`;
  return { level: hint === '' && hasCode(thrown) ? 'debug' : 'error', message, stack: readStack(thrown) };
}

function hasCode(thrown: unknown): boolean {
  try {
    return isObject(thrown) && typeof lookup(thrown, 'code') === 'string';
  } catch {
    return false; // reading a field of a revoked proxy throws
  }
}
