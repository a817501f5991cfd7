import { readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { callFailure } from './tool-failure.ts';

/**
 * readCursor returns the index at which the next part of a list begins, taken from the argument cursor; 0 without a
 * cursor.
 */
export function readCursor({ args }: Pick<BrowserCall, 'args'>): number {
  const cursor = readText(args, 'cursor');
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw callFailure('invalid_arguments', 'the cursor is not one of an earlier answer. Leave it out to begin again');
}

/**
 * cursorText describes how to read the rest of a list or a value. next is the index of the rest, or undefined at
 * the end.
 */
export function cursorText(next: number | undefined): string {
  return next === undefined ? '' : ` The rest follows with cursor "${next}".`;
}

/** countText returns a number with a noun, such as "1 cookie" or "2 cookies". */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/**
 * listResult returns one part of a list as a tool result that the server marks as untrusted. limit is the maximum
 * number of lines in a part.
 */
export function listResult(call: BrowserCall, lines: readonly string[], noun: string, limit = 200): BrowserResult {
  const from = readCursor(call);
  const part = lines.slice(from, from + limit);
  const next = from + limit < lines.length ? from + limit : undefined;
  const text = `${countText(lines.length, noun, noun.replace(/y$/, 'ie').concat('s'))}.${cursorText(next)}`;
  return { text, ...(part.length > 0 ? { content: part.join('\n') } : {}) };
}
