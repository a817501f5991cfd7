import { readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { callFailure } from './tool-failure.ts';

/** readCursor returns the number in the argument cursor: the list index at which the next part starts. */
export function readCursor({ args }: Pick<BrowserCall, 'args'>): number {
  const cursor = readText(args, 'cursor');
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw callFailure('invalid_arguments', 'the cursor is not one of an earlier answer. Leave it out to begin again');
}

/** formatCursorHint returns a sentence that describes how to read the rest of a list. */
export function formatCursorHint(next: number | undefined): string {
  return next === undefined ? '' : ` The rest follows with cursor "${next}".`;
}

export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** The server marks the lines of the list as untrusted. */
export function makeListResult(call: BrowserCall, lines: readonly string[], noun: string, limit = 200): BrowserResult {
  const from = readCursor(call);
  const part = lines.slice(from, from + limit);
  const next = from + limit < lines.length ? from + limit : undefined;
  const text = `${formatCount(lines.length, noun, noun.replace(/y$/, 'ie').concat('s'))}.${formatCursorHint(next)}`;
  return { text, ...(part.length > 0 ? { content: part.join('\n') } : {}) };
}
