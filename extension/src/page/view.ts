// Computes the visible part of the frame, and finds the elements in it.
import { findElementAtPoint, getFlatParent } from './flat-tree.ts';
import type { Rect } from './operations.ts';

/** ClippedArea is the part of the viewport in which the content of a scroll container is visible. */
export class ClippedArea {
  readonly #element: Element | undefined;
  readonly #containingArea: ClippedArea | undefined;
  #clipRect: Rect | undefined;

  constructor(areaSource: Rect | { readonly element: Element; readonly outer: ClippedArea }) {
    if ('element' in areaSource) {
      this.#element = areaSource.element;
      this.#containingArea = areaSource.outer;
    } else this.#clipRect = areaSource;
  }

  get rect(): Rect {
    if (!this.#clipRect && this.#element && this.#containingArea) {
      this.#clipRect = intersectRects(this.#element.getBoundingClientRect(), this.#containingArea.rect);
    }
    this.#clipRect ??= { x: 0, y: 0, width: 0, height: 0 };
    return this.#clipRect;
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
  const roundToTenth = (n: number) => Math.round(n * 10) / 10;
  return {
    x: roundToTenth(rect.x),
    y: roundToTenth(rect.y),
    width: roundToTenth(rect.width),
    height: roundToTenth(rect.height),
  };
}

const GridPointsPerAxis = 6;

/** ViewportElementFinder finds the elements in the visible part of the frame. */
export class ViewportElementFinder {
  readonly clip: ClippedArea;
  #pinnedElements: Set<Element> | undefined;

  constructor(rect: Rect) {
    this.clip = new ClippedArea(intersectRects(rect, getViewportRect()));
  }

  /**
   * An element without a size counts as in view if it has children, because children can extend beyond the element's
   * box.
   */
  intersects(element: Element, clippedArea: ClippedArea): boolean {
    if (this.#findPinnedElements().has(element)) return true;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0) return element.childElementCount > 0;
    const intersection = intersectRects(rect, clippedArea.rect);
    return intersection.width > 0 && intersection.height > 0;
  }

  /**
   * #findPinnedElements finds content with `position: fixed` by testing the points of a grid over the visible part of
   * the frame.
   */
  #findPinnedElements(): Set<Element> {
    if (this.#pinnedElements) return this.#pinnedElements;
    const pinnedElements = new Set<Element>();
    const { x, y, width, height } = this.clip.rect;
    for (let i = 0; i < GridPointsPerAxis; i++) {
      for (let j = 0; j < GridPointsPerAxis; j++) {
        const hit = findElementAtPoint(
          x + ((i + 0.5) / GridPointsPerAxis) * width,
          y + ((j + 0.5) / GridPointsPerAxis) * height,
        );
        for (let at = hit; at && !pinnedElements.has(at); at = getFlatParent(at)) pinnedElements.add(at);
      }
    }
    this.#pinnedElements = pinnedElements;
    return pinnedElements;
  }

  /** A binary search finds the rows in view among 50,000 rows, because rows are ordered from top to bottom. */
  findRows(rowElements: ArrayLike<Element>, clippedArea: ClippedArea): IndexRange {
    const { y, height } = clippedArea.rect;
    if (height === 0 || rowElements.length === 0) return EmptyRange;
    const firstRow = rowElements[0];
    const lastRow = rowElements[rowElements.length - 1];
    const isReversed =
      firstRow && lastRow && firstRow.getBoundingClientRect().top > lastRow.getBoundingClientRect().top;
    if (isReversed) return this.#findPinnedRows(rowElements);
    let [lowIndex, highIndex] = [0, rowElements.length];
    while (lowIndex < highIndex) {
      const middleIndex = (lowIndex + highIndex) >> 1;
      if (findRowBottom(rowElements, middleIndex, highIndex) <= y) lowIndex = middleIndex + 1;
      else highIndex = middleIndex;
    }
    let end = lowIndex;
    while (end < rowElements.length && end - lowIndex < MaxRowsInView && findRowTop(rowElements, end) < y + height)
      end++;
    while (end > lowIndex && !this.#isRowShown(rowElements[end - 1], clippedArea)) end--;
    return { start: lowIndex, end };
  }

  #isRowShown(row: Element | undefined, clippedArea: ClippedArea): boolean {
    return row !== undefined && this.intersects(row, clippedArea);
  }

  #findPinnedRows(rowElements: ArrayLike<Element>): IndexRange {
    let [start, end] = [-1, 0];
    const pinnedElements = this.#findPinnedElements();
    for (let i = 0; i < rowElements.length && i < MaxReversedRows; i++) {
      const row = rowElements[i];
      if (!row || !pinnedElements.has(row)) continue;
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

function findRowBottom(rowElements: ArrayLike<Element>, index: number, end: number): number {
  for (let i = index; i < end; i++) {
    const rect = rowElements[i]?.getBoundingClientRect();
    if (rect && rect.height > 0) return rect.bottom;
  }
  return Number.POSITIVE_INFINITY;
}

function findRowTop(rowElements: ArrayLike<Element>, index: number): number {
  const rect = rowElements[index]?.getBoundingClientRect();
  return rect && rect.height > 0 ? rect.top : Number.NEGATIVE_INFINITY;
}
