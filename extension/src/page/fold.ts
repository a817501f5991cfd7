// Shortens a snapshot to a maximum number of tokens. Content in the visible area is never left out.
import type { Line } from './lines.ts';
import type { Rect } from './operations.ts';
import { getViewportRect, intersectRects } from './view.ts';
import { countTokens } from './visible-text.ts';

export interface FoldedLines {
  readonly lines: readonly Line[];
  readonly removed: number;
}

/**
 * foldLines leaves out the snapshot lines that are farthest from the visible area, until the text has at most maxTokens
 * tokens.
 */
export function foldLines(lines: readonly Line[], maxTokens: number, viewRect: Rect): FoldedLines {
  const lineTokenCounts = lines.map((line) => (line.depth + 1) / 4 + countTokens(line.text));
  let total = lineTokenCounts.reduce((sum, cost) => sum + cost, 0);
  if (maxTokens === 0 || total <= maxTokens) return { lines, removed: 0 };
  const visibleClip = intersectRects(viewRect, getViewportRect());
  const distantLines = lines
    .map((line, i) => ({
      i,
      distance: measureDistanceFromView(line.element, visibleClip),
      children: hasIndentedLines(lines, i),
    }))
    .filter(({ distance }) => distance > 0)
    .sort((a, b) => b.distance - a.distance || b.i - a.i);
  const removedRows = new Set<number>();
  for (const removesParents of [false, true]) {
    for (const { i, children } of distantLines) {
      if (total <= maxTokens - FoldMarkerTokens) break;
      if (
        removedRows.has(i) ||
        children !== removesParents ||
        (children && !areAllChildrenRemoved(lines, i, removedRows))
      )
        continue;
      removedRows.add(i);
      total -= lineTokenCounts[i] ?? 0;
    }
  }
  return { lines: insertFoldMarkers(lines, removedRows), removed: removedRows.size };
}

const FoldMarkerTokens = 40;

function hasIndentedLines(lines: readonly Line[], i: number): boolean {
  return (lines[i + 1]?.depth ?? 0) > (lines[i]?.depth ?? 0);
}

function areAllChildrenRemoved(lines: readonly Line[], i: number, removedRows: ReadonlySet<number>): boolean {
  const depth = lines[i]?.depth ?? 0;
  for (let j = i + 1; j < lines.length && (lines[j]?.depth ?? 0) > depth; j++) if (!removedRows.has(j)) return false;
  return true;
}

function measureDistanceFromView(element: Element, viewRect: Rect): number {
  const rect = element.getBoundingClientRect();
  if (rect.width === 0 && rect.height === 0) return element.checkVisibility() ? 0 : Number.MAX_VALUE;
  const vertical = Math.max(rect.top - (viewRect.y + viewRect.height), viewRect.y - rect.bottom, 0);
  const horizontal = Math.max(rect.left - (viewRect.x + viewRect.width), viewRect.x - rect.right, 0);
  return vertical + horizontal;
}

function insertFoldMarkers(lines: readonly Line[], removedRows: ReadonlySet<number>): Line[] {
  const keptLines: Line[] = [];
  let foldedRun: { line: Line; count: number; depth: number } | undefined;
  const flushFoldedRun = () => {
    if (foldedRun)
      keptLines.push({
        ...foldedRun.line,
        depth: foldedRun.depth,
        text: `… ${foldedRun.count} lines`,
        key: `${foldedRun.line.key}…`,
        frame: '',
      });
    foldedRun = undefined;
  };
  for (const [i, line] of lines.entries()) {
    if (removedRows.has(i)) {
      foldedRun ??= { line, count: 0, depth: line.depth };
      foldedRun.count++;
      foldedRun.depth = Math.min(foldedRun.depth, line.depth);
    } else {
      flushFoldedRun();
      keptLines.push(line);
    }
  }
  flushFoldedRun();
  return keptLines;
}
