// Compares two snapshots of one document.
import { countTokens, shorten } from './visible-text.ts';

export interface DiffLine {
  readonly depth: number;
  readonly text: string;
  readonly key: string;
  readonly folded: boolean;
}

export interface DiffOptions<Old extends DiffLine, New extends DiffLine> {
  /**
   * isStillShown reports whether the page still shows a line of the old snapshot that the new snapshot omits to save
   * space.
   */
  readonly isStillShown: (line: Old) => boolean;
  /**
   * The mark of a line that the old snapshot does not contain is "+" new, "~" changed, or ">" revealed by scrolling.
   */
  readonly markFresh: (line: New) => '+' | '~' | '>';
  /** maxTokens is the maximum size of the diff in tokens; lines beyond the limit are only counted. */
  readonly maxTokens: number;
}

export interface Diff {
  readonly text: string;
  readonly changes: number;
  readonly share: number;
}

/**
 * MaxRemovedLines and MaxRemovedCharacters limit the removed lines in a diff, because removed lines matter less than
 * present lines.
 */
const MaxRemovedLines = 8;
const MaxRemovedCharacters = 60;

/** diffLines marks each changed line: "+" new, "~" changed, "-" removed, ">" revealed by scrolling. */
export function diffLines<Old extends DiffLine, New extends DiffLine>(
  before: readonly Old[],
  after: readonly New[],
  options: DiffOptions<Old, New>,
): Diff {
  const old = new Map(before.map((line) => [line.key, line]));
  const current = new Set(after.map((line) => line.key));
  const gone = before.filter((line) => !current.has(line.key) && !options.isStillShown(line));
  const replaced = pairReplaced(
    gone,
    after.filter((line) => !old.has(line.key)),
  );
  const marks = new Map<string, string>();
  const moved = findMovedLines(before, after);
  for (const line of after) {
    const mark = moved.has(line.key)
      ? '~'
      : (markExistingLine(line, old.get(line.key), replaced.has(line.key)) ?? options.markFresh(line));
    if (mark) marks.set(line.key, mark);
  }
  const droppedGone = gone.filter((line) => !replaced.removedKeys.has(line.key));
  const output = new DiffText(options.maxTokens);
  printMarkedLines(after, marks, moved, output);
  const gonePlaces = selectTopmost(droppedGone, before);
  for (const line of gonePlaces.slice(0, MaxRemovedLines))
    output.add(`- ${shorten(removeRefs(line.text), MaxRemovedCharacters)}`);
  if (gonePlaces.length > MaxRemovedLines) output.add(`- … ${gonePlaces.length - MaxRemovedLines} more lines`);
  const changes = marks.size + droppedGone.length;
  return { text: output.finish(), changes, share: after.length === 0 ? 1 : marks.size / after.length };
}

function markExistingLine(line: DiffLine, previous: DiffLine | undefined, isReplaced: boolean): string | undefined {
  if (line.key.endsWith('…')) return '';
  if (previous) return isSameText(previous.text, line.text) ? '' : '~';
  if (isReplaced) return /\[ref=/.test(line.text) ? '~' : '';
  return undefined;
}

/** isSameText compares lines, but ignores the mark [focused], because almost every action moves the focus. */
function isSameText(a: string, b: string): boolean {
  return a === b || a.replace(' [focused]', '') === b.replace(' [focused]', '');
}

/** findMovedLines returns the keys of the lines whose order changed between two snapshots. */
function findMovedLines(before: readonly DiffLine[], after: readonly DiffLine[]): ReadonlySet<string> {
  const places = new Map(before.map((line, i) => [line.key, i]));
  const kept = after.flatMap((line) => {
    const place = places.get(line.key);
    return place === undefined ? [] : [{ key: line.key, place }];
  });
  if (kept.every(({ place }, i) => i === 0 || place > (kept[i - 1]?.place ?? 0))) return new Set();
  const moved = new Set(kept.map(({ key }) => key));
  for (const i of findLongestIncreasingSubsequence(kept.map(({ place }) => place))) moved.delete(kept[i]?.key ?? '');
  return moved;
}

function findLongestIncreasingSubsequence(numbers: readonly number[]): number[] {
  const ends: number[] = []; // ends[n] is the index of the smallest number that ends an increasing run of n + 1 numbers
  const previous: number[] = [];
  for (const [i, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : (ends[low - 1] ?? -1));
    ends[low] = i;
  }
  const rise: number[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) rise.unshift(at);
  return rise;
}

/** If the page recreates an element, the element's old line and new line have the same text. */
interface ReplacedLines {
  has(key: string): boolean;
  readonly removedKeys: ReadonlySet<string>;
}

function pairReplaced(gone: readonly DiffLine[], fresh: readonly DiffLine[]): ReplacedLines {
  const byText = new Map<string, DiffLine[]>();
  for (const line of gone) {
    const text = removeRefs(line.text);
    const list = byText.get(text);
    if (list) list.push(line);
    else byText.set(text, [line]);
  }
  const [keys, goneKeys] = [new Set<string>(), new Set<string>()];
  for (const line of fresh) {
    const pair = byText.get(removeRefs(line.text))?.shift();
    if (!pair) continue;
    keys.add(line.key);
    goneKeys.add(pair.key);
  }
  return { has: (key) => keys.has(key), removedKeys: goneKeys };
}

function removeRefs(text: string): string {
  return text.replace(/ ?\[ref=\w+\]| \[focused\]/g, '');
}

function printMarkedLines(
  lines: readonly DiffLine[],
  marks: ReadonlyMap<string, string>,
  moved: ReadonlySet<string>,
  output: DiffText,
): void {
  const path: DiffLine[] = [];
  const printed = new Set<DiffLine>();
  for (const line of lines) {
    while ((path.at(-1)?.depth ?? -1) >= line.depth) path.pop();
    const mark = marks.get(line.key);
    if (mark) {
      const around = path.at(-1);
      if (around && !printed.has(around) && !marks.has(around.key)) output.add(`in ${around.text}`);
      for (const outer of path) printed.add(outer);
      const indent = path.filter((outer) => marks.has(outer.key)).length;
      output.add(`${mark} ${' '.repeat(indent)}${line.text}${moved.has(line.key) ? ' (moved)' : ''}`);
    }
    path.push(line);
  }
}

function selectTopmost(gone: readonly DiffLine[], before: readonly DiffLine[]): DiffLine[] {
  const isGone = new Set(gone);
  const top: DiffLine[] = [];
  let goneDepth = Number.POSITIVE_INFINITY;
  for (const line of before) {
    if (line.depth <= goneDepth) goneDepth = Number.POSITIVE_INFINITY;
    if (!isGone.has(line) || line.depth > goneDepth) continue;
    top.push(line);
    goneDepth = line.depth;
  }
  return top;
}

class DiffText {
  readonly #lines: string[] = [];
  readonly #maxTokens: number;
  #tokens = 0;
  #omittedLines = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  add(line: string): void {
    const cost = countTokens(line) + 1;
    if (this.#omittedLines > 0 || this.#tokens + cost > this.#maxTokens) {
      this.#omittedLines++;
      return;
    }
    this.#tokens += cost;
    this.#lines.push(line);
  }

  finish(): string {
    if (this.#omittedLines > 0) this.#lines.push(`… ${this.#omittedLines} more changed lines; take a snapshot`);
    return this.#lines.join('\n');
  }
}
