// Computes the visible part of the frame, and finds the elements in it.
import { findElementAtPoint, getFlatParent } from './flat-tree.ts';
import type { Rect } from './operations.ts';

/** ClippedArea is the part of the viewport in which the content of a scroll container is visible. */
export class ClippedArea {
  readonly #element: Element | undefined;
  readonly #outer: ClippedArea | undefined;
  #rect: Rect | undefined;

  constructor(where: Rect | { readonly element: Element; readonly outer: ClippedArea }) {
    if ('element' in where) {
      this.#element = where.element;
      this.#outer = where.outer;
    } else this.#rect = where;
  }

  get rect(): Rect {
    if (!this.#rect && this.#element && this.#outer) {
      this.#rect = intersectRects(this.#element.getBoundingClientRect(), this.#outer.rect);
    }
    this.#rect ??= { x: 0, y: 0, width: 0, height: 0 };
    return this.#rect;
  }
}

export function intersectRects(a: Rect, b: Rect): Rect {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const width = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x);
  const height = Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y);
  return { x, y, width, height };
}

export function getViewportRect(): Rect {
  return { x: 0, y: 0, width: innerWidth, height: innerHeight };
}

export function toPlainRect(rect: Rect): Rect {
  const round = (n: number) => Math.round(n * 10) / 10;
  return { x: round(rect.x), y: round(rect.y), width: round(rect.width), height: round(rect.height) };
}

const GridPointsPerAxis = 6;

/** ViewportPart finds the elements in the visible part of the frame. */
export class ViewportPart {
  readonly clip: ClippedArea;
  #pinned: Set<Element> | undefined;

  constructor(rect: Rect) {
    this.clip = new ClippedArea(intersectRects(rect, getViewportRect()));
  }

  /** An element without a size counts as in view if it has children, because children can extend beyond its box. */
  intersects(element: Element, clip: ClippedArea): boolean {
    if (this.#findPinned().has(element)) return true;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0) return element.childElementCount > 0;
    const common = intersectRects(rect, clip.rect);
    return common.width > 0 && common.height > 0;
  }

  /** ViewportPart finds content with `position: fixed` only at the points of the grid. */
  #findPinned(): Set<Element> {
    if (this.#pinned) return this.#pinned;
    const pinned = new Set<Element>();
    const { x, y, width, height } = this.clip.rect;
    for (let i = 0; i < GridPointsPerAxis; i++) {
      for (let j = 0; j < GridPointsPerAxis; j++) {
        const hit = findElementAtPoint(
          x + ((i + 0.5) / GridPointsPerAxis) * width,
          y + ((j + 0.5) / GridPointsPerAxis) * height,
        );
        for (let at = hit; at && !pinned.has(at); at = getFlatParent(at)) pinned.add(at);
      }
    }
    this.#pinned = pinned;
    return pinned;
  }

  /** A binary search finds the rows in view among 50,000 rows, because rows are ordered from top to bottom. */
  findRows(rows: ArrayLike<Element>, clip: ClippedArea): IndexRange {
    const { y, height } = clip.rect;
    if (height === 0 || rows.length === 0) return EmptyRange;
    const first = rows[0];
    const last = rows[rows.length - 1];
    const isReversed = first && last && first.getBoundingClientRect().top > last.getBoundingClientRect().top;
    if (isReversed) return this.#findPinnedRows(rows);
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (findRowBottom(rows, middle, high) <= y) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < rows.length && end - low < MaxRowsInView && findRowTop(rows, end) < y + height) end++;
    while (end > low && !this.#isRowShown(rows[end - 1], clip)) end--;
    return { start: low, end };
  }

  #isRowShown(row: Element | undefined, clip: ClippedArea): boolean {
    return row !== undefined && this.intersects(row, clip);
  }

  #findPinnedRows(rows: ArrayLike<Element>): IndexRange {
    let [start, end] = [-1, 0];
    const pins = this.#findPinned();
    for (let i = 0; i < rows.length && i < MaxReversedRows; i++) {
      const row = rows[i];
      if (!row || !pins.has(row)) continue;
      if (start < 0) start = i;
      end = i + 1;
    }
    return start < 0 ? EmptyRange : { start, end };
  }
}

export interface IndexRange {
  readonly start: number;
  readonly end: number;
}

const EmptyRange: IndexRange = { start: 0, end: 0 };
const MaxRowsInView = 500;
const MaxReversedRows = 5_000;

function findRowBottom(rows: ArrayLike<Element>, index: number, end: number): number {
  for (let i = index; i < end; i++) {
    const rect = rows[i]?.getBoundingClientRect();
    if (rect && rect.height > 0) return rect.bottom;
  }
  return Number.POSITIVE_INFINITY;
}

function findRowTop(rows: ArrayLike<Element>, index: number): number {
  const rect = rows[index]?.getBoundingClientRect();
  return rect && rect.height > 0 ? rect.top : Number.NEGATIVE_INFINITY;
}
