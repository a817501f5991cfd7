import type { FindArguments, FindMatch, ReadArguments, ReadResult } from '../../page/operations.ts';
import { readChoice, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { type Snapshots, StillLoadingNote } from './snapshots.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';
import { makeCallFailure } from './tool-failure.ts';

const DefaultMatches = 20;
const DefaultMaxTokens = 6000;
/** MaxCountedMatches is the number of matches in a frame at which the page script stops counting. */
const MaxCountedMatches = 1000;
/** A part of a page continues with the next frame only if at least MinFrameTokens of the part's tokens are unused. */
const MinFrameTokens = 200;

export function makeReadingTools(frames: TabFrames, snapshots: Snapshots): [string, BrowserTool][] {
  return [
    ['browser_snapshot', (call) => snapshots.takeSnapshot(call)],
    ['browser_find', (call) => find(frames, call)],
    ['browser_read_page', (call) => readPage(frames, call)],
  ];
}

/** The function `find` implements browser_find, which searches all frames, starting with the top frame. */
async function find(frames: TabFrames, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const limit = readNumber(args, 'limit') ?? DefaultMatches;
  const options: FindArguments = { ...readTextArguments(call, ['text', 'regex', 'role', 'selector']), limit };
  const [top, ...otherFrames] = await frames.list(call);
  if (!top) return {};
  const result = await frames.run(call, top, 'find', options);
  const childFrameResults = await Promise.all(
    otherFrames.slice(0, MaxFrames).map((frame) => frames.runInChildFrame(call, frame, 'find', options)),
  );
  const frameMatches = childFrameResults.flatMap((frameResult, i) =>
    frameResult ? [{ frame: otherFrames[i], ...frameResult }] : [],
  );
  const total = frameMatches.reduce((sum, frameResult) => sum + frameResult.total, result.total);
  const lines = result.matches.map((match) => formatMatch(match));
  for (const { frame, matches } of frameMatches) lines.push(...matches.map((match) => formatMatch(match, frame)));
  const shownLines = lines.slice(0, limit);
  const isTotalCapped = [result, ...frameMatches].some((frameResult) => frameResult.total >= MaxCountedMatches);
  const count = isTotalCapped ? `at least ${total}` : `${total}`;
  const text =
    total === 0
      ? 'Nothing matches. Try a shorter text, or take a snapshot.'
      : `${shownLines.length} of ${count} matches.`;
  const missingFrames = otherFrames.filter((_, i) => childFrameResults[i] === undefined).map(({ prefix }) => prefix);
  const missingFramesNote =
    missingFrames.length === 0 ? '' : ` Not searched, because they did not answer: frames ${missingFrames.join(', ')}.`;
  return { text: text + missingFramesNote, ...(shownLines.length > 0 ? { content: shownLines.join('\n') } : {}) };
}

function formatMatch({ line, path }: FindMatch, frame?: FrameTarget): string {
  const location = [...(frame ? [`frame ${frame.prefix}`] : []), ...path].join(' > ');
  return location === '' ? line : `${line} (in ${location})`;
}

/** ReadPosition is where reading continues: a frame, and a cursor of the page script in the frame. */
interface ReadPosition {
  readonly prefix: string;
  readonly cursor?: string;
}

/** The text of a child frame follows the text of its parent frame. */
async function readPage(frames: TabFrames, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const format = readChoice(args, 'format', ['markdown', 'text', 'html']) ?? 'markdown';
  const maxTokens = readNumber(args, 'maxTokens') ?? DefaultMaxTokens;
  const cursor = readText(args, 'cursor');
  const target = cursor === undefined ? readText(args, 'target') : undefined;
  const first = target === undefined ? undefined : await frames.findFrameByRef(call, target);
  const pendingPositions = cursor === undefined ? [{ prefix: first?.prefix ?? '' }] : parseCursor(cursor);
  const parts: string[] = [];
  const notes = new Set<string>();
  let remainingTokens = maxTokens;
  for (let position = pendingPositions.shift(); position; position = pendingPositions.shift()) {
    if (parts.length > 0 && remainingTokens < MinFrameTokens) {
      pendingPositions.unshift(position);
      break;
    }
    const isFirst = parts.length === 0;
    const frame = (await frames.list(call)).find(({ prefix }) => prefix === position.prefix);
    const options: ReadArguments = {
      format,
      maxTokens: remainingTokens,
      ...(isFirst && target !== undefined ? { target } : {}),
      ...(position.cursor === undefined ? {} : { cursor: position.cursor }),
    };
    const result = frame && (await readFrame(frames, call, frame, options, isFirst));
    if (!frame || !result) {
      if (frame) notes.add(`Frame ${frame.prefix} did not answer and is left out.`);
      continue;
    }
    if (result.loading) notes.add(StillLoadingNote);
    if (result.cut && result.cursor === undefined)
      notes.add('The page has more text than opentabs reads at once. Use target to read a part of the page.');
    if (isFirst || result.text.trim() !== '') {
      parts.push(frame.prefix === '' ? result.text : `[frame ${frame.prefix}]\n${result.text}`);
      remainingTokens -= result.tokens;
    }
    const children = await frames.findChildFrames(call, frame, result.frames);
    pendingPositions.unshift(...children.map((child) => ({ prefix: child.frame.prefix })));
    if (result.cursor === undefined) continue;
    pendingPositions.unshift({ prefix: frame.prefix, cursor: result.cursor });
    break;
  }
  if (parts.length === 0)
    throw makeCallFailure('invalid_arguments', 'the frame of this cursor is gone. Read the page again');
  if (pendingPositions.length > 0) notes.add(`More follows: repeat with cursor "${formatCursor(pendingPositions)}".`);
  else if (notes.size === 0) notes.add('This is the end of the page.');
  return { text: [...notes].join(' '), content: parts.join('\n\n') };
}

/**
 * If the first frame of a page cannot be read, browser_read_page fails. If a later frame of a page cannot be read,
 * browser_read_page omits the frame.
 */
async function readFrame(
  frames: TabFrames,
  call: BrowserCall,
  frame: FrameTarget,
  options: ReadArguments,
  isFirst: boolean,
): Promise<ReadResult | undefined> {
  return await (isFirst
    ? frames.run(call, frame, 'read', options)
    : frames.runInChildFrame(call, frame, 'read', options));
}

// The cursor of browser_read_page lists the positions at which reading continues, joined by "+". For example, the
// cursor "top:r1+f12:" continues in the top frame, and then reads frame f12.

function formatCursor(pendingPositions: readonly ReadPosition[]): string {
  return pendingPositions.map(({ prefix, cursor = '' }) => `${prefix === '' ? 'top' : prefix}:${cursor}`).join('+');
}

function parseCursor(text: string): ReadPosition[] {
  return text.split('+').map((item) => {
    const [, frame = '', cursor = ''] = /^(top|f\d+):(.*)$/.exec(item) ?? [];
    if (frame === '')
      throw makeCallFailure('invalid_arguments', 'the argument cursor must be a cursor from browser_read_page');
    const prefix = frame === 'top' ? '' : frame;
    return cursor === '' ? { prefix } : { prefix, cursor };
  });
}

function readTextArguments<K extends string>({ args }: BrowserCall, keys: readonly K[]): { [P in K]?: string } {
  const texts: { [P in K]?: string } = {};
  for (const key of keys) {
    const value = readText(args, key);
    if (value !== undefined) texts[key] = value;
  }
  return texts;
}
