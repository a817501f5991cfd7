import { readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { callFailure } from './tool-failure.ts';

/**
 * readCursor returns the number in the argument cursor: the list index at which the next part starts. If the argument
 * cursor is missing, readCursor returns 0.
 */
export function readCursor({ args }: Pick<BrowserCall, 'args'>): number {
  const cursor = readText(args, 'cursor');
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw callFailure('invalid_arguments', 'the cursor is not one of an earlier answer. Leave it out to begin again');
}

/**
 * formatCursorHint returns a sentence that describes how to read the rest of a list. The parameter next is the list
 * index at which the next part starts, or undefined if the list has no further part.
 */
export function formatCursorHint(next: number | undefined): string {
  return next === undefined ? '' : ` The rest follows with cursor "${next}".`;
}

/** formatCount returns a number with a noun, such as "1 cookie" or "2 cookies". */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/**
 * makeListResult returns one part of a list as a tool result. The server marks the lines of the list as untrusted. The
 * parameter limit is the maximum number of lines in one part of the list.
 */
export function makeListResult(call: BrowserCall, lines: readonly string[], noun: string, limit = 200): BrowserResult {
  const from = readCursor(call);
  const part = lines.slice(from, from + limit);
  const next = from + limit < lines.length ? from + limit : undefined;
  const text = `${formatCount(lines.length, noun, noun.replace(/y$/, 'ie').concat('s'))}.${formatCursorHint(next)}`;
  return { text, ...(part.length > 0 ? { content: part.join('\n') } : {}) };
}
