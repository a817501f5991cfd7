import { readText } from './arguments.ts';
import type { BrowserCall, BrowserResult } from './browser-tool.ts';
import { makeCallFailure } from './tool-failure.ts';

/** readCursor returns the list index at which the next part starts, from the argument `cursor`. */
export function readCursor({ args }: Pick<BrowserCall, 'args'>): number {
  const cursor = readText(args, 'cursor');
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw makeCallFailure('invalid_arguments', 'the cursor is not one of an earlier answer. Leave it out to begin again');
}

/** formatCursorHint returns a sentence that describes how to read the rest of a list. */
export function formatCursorHint(nextCursor: number | undefined): string {
  return nextCursor === undefined ? '' : ` The rest follows with cursor "${nextCursor}".`;
}

export function formatCount(count: number, noun: string, pluralNoun = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : pluralNoun}`;
}

/** makeListResult returns list lines in the field `content`, which the server marks as untrusted. */
export function makeListResult(
  call: BrowserCall,
  lines: readonly string[],
  noun: string,
  pageSize = 200,
): BrowserResult {
  const firstIndex = readCursor(call);
  const shownLines = lines.slice(firstIndex, firstIndex + pageSize);
  const nextCursor = firstIndex + pageSize < lines.length ? firstIndex + pageSize : undefined;
  const entriesText = `${formatCount(lines.length, noun, noun.replace(/y$/, 'ie').concat('s'))}.${formatCursorHint(nextCursor)}`;
  return { text: entriesText, ...(shownLines.length > 0 ? { content: shownLines.join('\n') } : {}) };
}
