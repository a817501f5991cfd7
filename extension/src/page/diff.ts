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
  readonly isStillShown: (diffLine: Old) => boolean;
  /**
   * The mark of a line that the old snapshot does not contain is "+" new, "~" changed, or ">" revealed by scrolling.
   */
  readonly markFresh: (diffLine: New) => '+' | '~' | '>';
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
  const oldLineByKey = new Map(before.map((diffLine) => [diffLine.key, diffLine]));
  const currentKeys = new Set(after.map((diffLine) => diffLine.key));
  const goneLines = before.filter((diffLine) => !currentKeys.has(diffLine.key) && !options.isStillShown(diffLine));
  const replacedLines = pairReplaced(
    goneLines,
    after.filter((diffLine) => !oldLineByKey.has(diffLine.key)),
  );
  const markByKey = new Map<string, string>();
  const movedLines = findMovedLines(before, after);
  for (const diffLine of after) {
    const lineMark = movedLines.has(diffLine.key)
      ? '~'
      : (markExistingLine(diffLine, oldLineByKey.get(diffLine.key), replacedLines.has(diffLine.key)) ??
        options.markFresh(diffLine));
    if (lineMark) markByKey.set(diffLine.key, lineMark);
  }
  const droppedGone = goneLines.filter((diffLine) => !replacedLines.removedKeys.has(diffLine.key));
  const output = new DiffText(options.maxTokens);
  printMarkedLines(after, markByKey, movedLines, output);
  const gonePlaces = selectTopmost(droppedGone, before);
  for (const diffLine of gonePlaces.slice(0, MaxRemovedLines))
    output.add(`- ${shorten(removeRefs(diffLine.text), MaxRemovedCharacters)}`);
  if (gonePlaces.length > MaxRemovedLines) output.add(`- … ${gonePlaces.length - MaxRemovedLines} more lines`);
  const changes = markByKey.size + droppedGone.length;
  return { text: output.finish(), changes, share: after.length === 0 ? 1 : markByKey.size / after.length };
}

function markExistingLine(
  diffLine: DiffLine,
  previousLine: DiffLine | undefined,
  isReplaced: boolean,
): string | undefined {
  if (diffLine.key.endsWith('…')) return '';
  if (previousLine) return isSameText(previousLine.text, diffLine.text) ? '' : '~';
  if (isReplaced) return /\[ref=/.test(diffLine.text) ? '~' : '';
  return undefined;
}

/** isSameText compares lines, but ignores the mark [focused], because almost every action moves the focus. */
function isSameText(a: string, b: string): boolean {
  return a === b || a.replace(' [focused]', '') === b.replace(' [focused]', '');
}

/** findMovedLines returns the keys of the lines whose order changed between two snapshots. */
function findMovedLines(before: readonly DiffLine[], after: readonly DiffLine[]): ReadonlySet<string> {
  const placeByKey = new Map(before.map((diffLine, i) => [diffLine.key, i]));
  const keptLines = after.flatMap((diffLine) => {
    const place = placeByKey.get(diffLine.key);
    return place === undefined ? [] : [{ key: diffLine.key, place }];
  });
  if (keptLines.every(({ place }, i) => i === 0 || place > (keptLines[i - 1]?.place ?? 0))) return new Set();
  const movedLines = new Set(keptLines.map(({ key }) => key));
  for (const i of findLongestIncreasingSubsequence(keptLines.map(({ place }) => place)))
    movedLines.delete(keptLines[i]?.key ?? '');
  return movedLines;
}

function findLongestIncreasingSubsequence(sequenceNumbers: readonly number[]): number[] {
  const sequenceEnds: number[] = []; // ends[n] is the index of the smallest number that ends an increasing run of n + 1 numbers
  const previousLine: number[] = [];
  for (const [i, currentNumber] of sequenceNumbers.entries()) {
    let [lowIndex, highIndex] = [0, sequenceEnds.length];
    while (lowIndex < highIndex) {
      const middle = (lowIndex + highIndex) >> 1;
      if ((sequenceNumbers[sequenceEnds[middle] ?? 0] ?? 0) < currentNumber) lowIndex = middle + 1;
      else highIndex = middle;
    }
    previousLine.push(lowIndex === 0 ? -1 : (sequenceEnds[lowIndex - 1] ?? -1));
    sequenceEnds[lowIndex] = i;
  }
  const rise: number[] = [];
  for (let at = sequenceEnds.at(-1) ?? -1; at >= 0; at = previousLine[at] ?? -1) rise.unshift(at);
  return rise;
}

/** If the page recreates an element, the element's old line and new line have the same text. */
interface ReplacedLines {
  has(key: string): boolean;
  readonly removedKeys: ReadonlySet<string>;
}

function pairReplaced(goneLines: readonly DiffLine[], freshLines: readonly DiffLine[]): ReplacedLines {
  const byText = new Map<string, DiffLine[]>();
  for (const diffLine of goneLines) {
    const text = removeRefs(diffLine.text);
    const list = byText.get(text);
    if (list) list.push(diffLine);
    else byText.set(text, [diffLine]);
  }
  const [keys, goneKeys] = [new Set<string>(), new Set<string>()];
  for (const diffLine of freshLines) {
    const pair = byText.get(removeRefs(diffLine.text))?.shift();
    if (!pair) continue;
    keys.add(diffLine.key);
    goneKeys.add(pair.key);
  }
  return { has: (key) => keys.has(key), removedKeys: goneKeys };
}

function removeRefs(text: string): string {
  return text.replace(/ ?\[ref=\w+\]| \[focused\]/g, '');
}

function printMarkedLines(
  lines: readonly DiffLine[],
  markByKey: ReadonlyMap<string, string>,
  movedLines: ReadonlySet<string>,
  output: DiffText,
): void {
  const path: DiffLine[] = [];
  const printedLines = new Set<DiffLine>();
  for (const diffLine of lines) {
    while ((path.at(-1)?.depth ?? -1) >= diffLine.depth) path.pop();
    const lineMark = markByKey.get(diffLine.key);
    if (lineMark) {
      const around = path.at(-1);
      if (around && !printedLines.has(around) && !markByKey.has(around.key)) output.add(`in ${around.text}`);
      for (const outer of path) printedLines.add(outer);
      const indent = path.filter((outer) => markByKey.has(outer.key)).length;
      output.add(`${lineMark} ${' '.repeat(indent)}${diffLine.text}${movedLines.has(diffLine.key) ? ' (moved)' : ''}`);
    }
    path.push(diffLine);
  }
}

function selectTopmost(goneLines: readonly DiffLine[], before: readonly DiffLine[]): DiffLine[] {
  const isGone = new Set(goneLines);
  const top: DiffLine[] = [];
  let goneDepth = Number.POSITIVE_INFINITY;
  for (const diffLine of before) {
    if (diffLine.depth <= goneDepth) goneDepth = Number.POSITIVE_INFINITY;
    if (!isGone.has(diffLine) || diffLine.depth > goneDepth) continue;
    top.push(diffLine);
    goneDepth = diffLine.depth;
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

  add(diffLine: string): void {
    const lineTokens = countTokens(diffLine) + 1;
    if (this.#omittedLines > 0 || this.#tokens + lineTokens > this.#maxTokens) {
      this.#omittedLines++;
      return;
    }
    this.#tokens += lineTokens;
    this.#lines.push(diffLine);
  }

  finish(): string {
    if (this.#omittedLines > 0) this.#lines.push(`… ${this.#omittedLines} more changed lines; take a snapshot`);
    return this.#lines.join('\n');
  }
}
