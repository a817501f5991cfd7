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
   * chooseNewLineMark returns the mark of a line that is not in the old snapshot: "+" new, "~" changed, or ">" revealed
   * by scrolling.
   */
  readonly chooseNewLineMark: (diffLine: New) => '+' | '~' | '>';
  /** maxTokens is the maximum size of the diff in tokens; lines beyond the limit are only counted. */
  readonly maxTokens: number;
}

export interface Diff {
  readonly text: string;
  readonly changes: number;
  readonly changedFraction: number;
}

/**
 * MaxRemovedLines and MaxRemovedCharacters limit the removed lines in a diff, because removed lines matter less than
 * present lines.
 */
const MaxRemovedLines = 8;
const MaxRemovedCharacters = 60;

/** diffLines marks each changed line: "+" new, "~" changed, "-" removed, ">" revealed by scrolling. */
export function diffLines<Old extends DiffLine, New extends DiffLine>(
  oldLines: readonly Old[],
  after: readonly New[],
  options: DiffOptions<Old, New>,
): Diff {
  const oldLineByKey = new Map(oldLines.map((diffLine) => [diffLine.key, diffLine]));
  const currentKeys = new Set(after.map((diffLine) => diffLine.key));
  const missingLines = oldLines.filter((diffLine) => !currentKeys.has(diffLine.key) && !options.isStillShown(diffLine));
  const replacedLines = matchReplacedLines(
    missingLines,
    after.filter((diffLine) => !oldLineByKey.has(diffLine.key)),
  );
  const markByKey = new Map<string, string>();
  const movedLines = findMovedLines(oldLines, after);
  for (const diffLine of after) {
    const lineMark = movedLines.has(diffLine.key)
      ? '~'
      : (chooseExistingLineMark(diffLine, oldLineByKey.get(diffLine.key), replacedLines.has(diffLine.key)) ??
        options.chooseNewLineMark(diffLine));
    if (lineMark) markByKey.set(diffLine.key, lineMark);
  }
  const removedLines = missingLines.filter((diffLine) => !replacedLines.removedKeys.has(diffLine.key));
  const output = new DiffText(options.maxTokens);
  printMarkedLines(after, markByKey, movedLines, output);
  const topmostRemovedLines = selectTopmost(removedLines, oldLines);
  for (const diffLine of topmostRemovedLines.slice(0, MaxRemovedLines))
    output.add(`- ${shorten(removeRefs(diffLine.text), MaxRemovedCharacters)}`);
  if (topmostRemovedLines.length > MaxRemovedLines)
    output.add(`- … ${topmostRemovedLines.length - MaxRemovedLines} more lines`);
  const changes = markByKey.size + removedLines.length;
  return { text: output.finish(), changes, changedFraction: after.length === 0 ? 1 : markByKey.size / after.length };
}

function chooseExistingLineMark(
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
function findMovedLines(oldLines: readonly DiffLine[], after: readonly DiffLine[]): ReadonlySet<string> {
  const oldIndexByKey = new Map(oldLines.map((diffLine, i) => [diffLine.key, i]));
  const keptLines = after.flatMap((diffLine) => {
    const oldIndex = oldIndexByKey.get(diffLine.key);
    return oldIndex === undefined ? [] : [{ key: diffLine.key, place: oldIndex }];
  });
  if (keptLines.every(({ place }, i) => i === 0 || place > (keptLines[i - 1]?.place ?? 0))) return new Set();
  const movedLines = new Set(keptLines.map(({ key }) => key));
  for (const i of findLongestIncreasingSubsequence(keptLines.map(({ place }) => place)))
    movedLines.delete(keptLines[i]?.key ?? '');
  return movedLines;
}

function findLongestIncreasingSubsequence(sequenceNumbers: readonly number[]): number[] {
  // runEndIndexes[n] is the index of the smallest number that ends an increasing run of n + 1 numbers.
  const runEndIndexes: number[] = [];
  const previousIndexes: number[] = [];
  for (const [i, currentNumber] of sequenceNumbers.entries()) {
    let [lowIndex, highIndex] = [0, runEndIndexes.length];
    while (lowIndex < highIndex) {
      const middleIndex = (lowIndex + highIndex) >> 1;
      if ((sequenceNumbers[runEndIndexes[middleIndex] ?? 0] ?? 0) < currentNumber) lowIndex = middleIndex + 1;
      else highIndex = middleIndex;
    }
    previousIndexes.push(lowIndex === 0 ? -1 : (runEndIndexes[lowIndex - 1] ?? -1));
    runEndIndexes[lowIndex] = i;
  }
  const increasingIndexes: number[] = [];
  for (let at = runEndIndexes.at(-1) ?? -1; at >= 0; at = previousIndexes[at] ?? -1) increasingIndexes.unshift(at);
  return increasingIndexes;
}

/** If the page recreates an element, the element's old line and new line have the same text. */
interface ReplacedLines {
  has(key: string): boolean;
  readonly removedKeys: ReadonlySet<string>;
}

function matchReplacedLines(missingLines: readonly DiffLine[], newLines: readonly DiffLine[]): ReplacedLines {
  const linesByText = new Map<string, DiffLine[]>();
  for (const diffLine of missingLines) {
    const text = removeRefs(diffLine.text);
    const list = linesByText.get(text);
    if (list) list.push(diffLine);
    else linesByText.set(text, [diffLine]);
  }
  const [keys, removedKeys] = [new Set<string>(), new Set<string>()];
  for (const diffLine of newLines) {
    const replacedLine = linesByText.get(removeRefs(diffLine.text))?.shift();
    if (!replacedLine) continue;
    keys.add(diffLine.key);
    removedKeys.add(replacedLine.key);
  }
  return { has: (key) => keys.has(key), removedKeys };
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
      const parentLine = path.at(-1);
      if (parentLine && !printedLines.has(parentLine) && !markByKey.has(parentLine.key))
        output.add(`in ${parentLine.text}`);
      for (const ancestorLine of path) printedLines.add(ancestorLine);
      const indentLevel = path.filter((ancestorLine) => markByKey.has(ancestorLine.key)).length;
      output.add(
        `${lineMark} ${' '.repeat(indentLevel)}${diffLine.text}${movedLines.has(diffLine.key) ? ' (moved)' : ''}`,
      );
    }
    path.push(diffLine);
  }
}

function selectTopmost(missingLines: readonly DiffLine[], oldLines: readonly DiffLine[]): DiffLine[] {
  const missingLineSet = new Set(missingLines);
  const top: DiffLine[] = [];
  let removedDepth = Number.POSITIVE_INFINITY;
  for (const diffLine of oldLines) {
    if (diffLine.depth <= removedDepth) removedDepth = Number.POSITIVE_INFINITY;
    if (!missingLineSet.has(diffLine) || diffLine.depth > removedDepth) continue;
    top.push(diffLine);
    removedDepth = diffLine.depth;
  }
  return top;
}

class DiffText {
  readonly #lines: string[] = [];
  readonly #maxTokens: number;
  #tokenCount = 0;
  #omittedLines = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  add(diffLine: string): void {
    const lineTokens = countTokens(diffLine) + 1;
    if (this.#omittedLines > 0 || this.#tokenCount + lineTokens > this.#maxTokens) {
      this.#omittedLines++;
      return;
    }
    this.#tokenCount += lineTokens;
    this.#lines.push(diffLine);
  }

  finish(): string {
    if (this.#omittedLines > 0) this.#lines.push(`… ${this.#omittedLines} more changed lines; take a snapshot`);
    return this.#lines.join('\n');
  }
}
