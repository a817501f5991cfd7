// Shortens a snapshot to a maximum number of tokens. Content in the visible area is never left out.
import type { Line } from './lines.ts';
import type { Rect } from './operations.ts';
import { getViewportRect, intersectRects } from './view.ts';
import { countTokens } from './visible-text.ts';

export interface FoldResult {
  readonly lines: readonly Line[];
  readonly removed: number;
}

/**
 * foldLines leaves out the snapshot lines that are farthest from the visible area, until the text has at most maxTokens
 * tokens.
 */
export function foldLines(lines: readonly Line[], maxTokens: number, view: Rect): FoldResult {
  const costs = lines.map((line) => (line.depth + 1) / 4 + countTokens(line.text));
  let total = costs.reduce((sum, cost) => sum + cost, 0);
  if (maxTokens === 0 || total <= maxTokens) return { lines, removed: 0 };
  const clip = intersectRects(view, getViewportRect());
  const far = lines
    .map((line, i) => ({
      i,
      distance: measureDistanceFromView(line.element, clip),
      children: hasIndentedLines(lines, i),
    }))
    .filter(({ distance }) => distance > 0)
    .sort((a, b) => b.distance - a.distance || b.i - a.i);
  const removed = new Set<number>();
  for (const passes of [false, true]) {
    for (const { i, children } of far) {
      if (total <= maxTokens - MarkerTokens) break;
      if (removed.has(i) || children !== passes || (children && !areAllChildrenRemoved(lines, i, removed))) continue;
      removed.add(i);
      total -= costs[i] ?? 0;
    }
  }
  return { lines: insertFoldMarkers(lines, removed), removed: removed.size };
}

const MarkerTokens = 40;

function hasIndentedLines(lines: readonly Line[], i: number): boolean {
  return (lines[i + 1]?.depth ?? 0) > (lines[i]?.depth ?? 0);
}

function areAllChildrenRemoved(lines: readonly Line[], i: number, removed: ReadonlySet<number>): boolean {
  const depth = lines[i]?.depth ?? 0;
  for (let j = i + 1; j < lines.length && (lines[j]?.depth ?? 0) > depth; j++) if (!removed.has(j)) return false;
  return true;
}

function measureDistanceFromView(element: Element, view: Rect): number {
  const rect = element.getBoundingClientRect();
  if (rect.width === 0 && rect.height === 0) return element.checkVisibility() ? 0 : Number.MAX_VALUE;
  const vertical = Math.max(rect.top - (view.y + view.height), view.y - rect.bottom, 0);
  const horizontal = Math.max(rect.left - (view.x + view.width), view.x - rect.right, 0);
  return vertical + horizontal;
}

function insertFoldMarkers(lines: readonly Line[], removed: ReadonlySet<number>): Line[] {
  const kept: Line[] = [];
  let run: { line: Line; count: number; depth: number } | undefined;
  const endRun = () => {
    if (run)
      kept.push({ ...run.line, depth: run.depth, text: `… ${run.count} lines`, key: `${run.line.key}…`, frame: '' });
    run = undefined;
  };
  for (const [i, line] of lines.entries()) {
    if (removed.has(i)) {
      run ??= { line, count: 0, depth: line.depth };
      run.count++;
      run.depth = Math.min(run.depth, line.depth);
    } else {
      endRun();
      kept.push(line);
    }
  }
  endRun();
  return kept;
}
