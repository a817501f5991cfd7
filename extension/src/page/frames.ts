// Describes the frame elements of a snapshot, and converts points between frames.
import { describeElement } from './describe.ts';
import { findElementAtPoint, getFlatParent, selectAll } from './flat-tree.ts';
import type {
  ChildFrame,
  FocusFrameResult,
  FrameArea,
  FrameAreasResult,
  FramePointArguments,
  FramePointResult,
} from './frame-operations.ts';
import type { FrameInfo, Rect } from './operations.ts';
import type { PageContext } from './state.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { getViewportRect, intersectRects, toPlainRect } from './view.ts';

export function makeFrameInfo(element: Element, frameRef: string, lineNumber: number): FrameInfo {
  const window = getFrameWindow(element);
  const visiblePart = findVisiblePart(element);
  return {
    ref: frameRef,
    line: lineNumber,
    index: window ? indexOfFrame(window, globalThis.window) : -1,
    src: element instanceof HTMLIFrameElement && !element.hasAttribute('srcdoc') ? element.src : '',
    ...(visiblePart ? { visible: visiblePart } : {}),
  };
}

function getFrameWindow(element: Element): Window | null {
  if (element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement) return element.contentWindow;
  return element instanceof HTMLObjectElement ? element.contentWindow : null;
}

export function findIndexInParent(): number {
  return globalThis.window.parent === globalThis.window
    ? -1
    : indexOfFrame(globalThis.window, globalThis.window.parent);
}

function indexOfFrame(frame: Window, parent: Window): number {
  for (let i = 0; i < parent.length; i++) if (parent[i] === frame) return i;
  return -1;
}

function findVisiblePart(element: Element): Rect | undefined {
  const rect = element.getBoundingClientRect();
  const visibleRect = intersectRects(rect, getViewportRect());
  if (visibleRect.width === 0 || visibleRect.height === 0) return undefined;
  const leftEdge = rect.x + element.clientLeft;
  const top = rect.y + element.clientTop;
  return toPlainRect({
    x: Math.max(0, visibleRect.x - leftEdge),
    y: Math.max(0, visibleRect.y - top),
    width: visibleRect.width,
    height: visibleRect.height,
  });
}

export async function listFrameAreas(): Promise<FrameAreasResult> {
  return { areas: [...unclobberedDocument.querySelectorAll('iframe,frame,object')].flatMap(findFrameArea) };
}

function findFrameArea(element: Element): FrameArea[] {
  const window = getFrameWindow(element);
  const index = window ? indexOfFrame(window, globalThis.window) : -1;
  if (index < 0 || !(element instanceof HTMLElement)) return [];
  const rect = element.getBoundingClientRect();
  const isScaled = Math.abs(rect.width - element.offsetWidth) > 1 || Math.abs(rect.height - element.offsetHeight) > 1;
  if (isScaled) return [];
  const content = measureContentArea(element);
  const area = { ...content, x: rect.x + content.x, y: rect.y + content.y };
  return [{ index, area }];
}

export async function findFramePoint(args: FramePointArguments, context: PageContext): Promise<FramePointResult> {
  const element = findFrame(args);
  if (!element) return { hit: false };
  const findPointInView = () => {
    const point = toParentPoint(element, args);
    return point && point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight ? point : undefined;
  };
  const isHit = () => {
    const point = findPointInView();
    return point !== undefined && findElementAtPoint(point.x, point.y) === element;
  };
  if (args.scroll && !isHit()) {
    if (!findPointInView()) element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const point = toParentPoint(element, args);
    if (point && !findPointInView())
      scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: 'instant' });
  }
  const point = toParentPoint(element, args);
  if (!point || isHit()) return { ...(point ? { point } : {}), hit: point !== undefined };
  const coveringElement = findElementAtPoint(point.x, point.y);
  return { point, hit: false, ...(coveringElement ? { covered: describeElement(coveringElement, context) } : {}) };
}

export async function focusFrame(args: ChildFrame): Promise<FocusFrameResult> {
  const element = findFrame(args);
  element?.focus({ preventScroll: true });
  return { focused: element !== undefined };
}

function findFrame({ index, url, width, height }: ChildFrame): HTMLElement | undefined {
  const elements = selectAll('iframe,frame,object').filter((element) => element instanceof HTMLElement);
  const foundFrames = elements.filter((element) => {
    const window = getFrameWindow(element);
    const ownIndex = window ? indexOfFrame(window, globalThis.window) : -1;
    if (index >= 0 || ownIndex >= 0) return ownIndex === index;
    const area = measureContentArea(element);
    return Math.abs(area.width - width) < 1 && Math.abs(area.height - height) < 1;
  });
  if (foundFrames.length <= 1) return foundFrames[0];
  const sameUrlFrames = foundFrames.filter((element) => element instanceof HTMLIFrameElement && element.src === url);
  return sameUrlFrames.length === 1 ? sameUrlFrames[0] : undefined;
}

/**
 * measureContentArea returns the position and size of a frame's document within the frame element, before CSS
 * transforms.
 */
function measureContentArea(element: HTMLElement): Rect {
  const style = getComputedStyle(element);
  const [leftEdge = 0, top = 0, right = 0, bottom = 0] = [
    style.paddingLeft,
    style.paddingTop,
    style.paddingRight,
    style.paddingBottom,
  ].map((text) => Number.parseFloat(text) || 0);
  return {
    x: element.clientLeft + leftEdge,
    y: element.clientTop + top,
    width: Math.max(0, element.clientWidth - leftEdge - right),
    height: Math.max(0, element.clientHeight - top - bottom),
  };
}

/** toParentPoint returns undefined for a rotated or skewed frame. */
function toParentPoint(element: HTMLElement, { x, y }: { readonly x: number; readonly y: number }) {
  const rect = element.getBoundingClientRect();
  const [scaleX, scaleY] = [rect.width / element.offsetWidth, rect.height / element.offsetHeight];
  if (!Number.isFinite(scaleX) || !Number.isFinite(scaleY) || isRotatedOrSkewed(element)) return undefined;
  const area = measureContentArea(element);
  return { x: rect.x + (area.x + x) * scaleX, y: rect.y + (area.y + y) * scaleY };
}

function isRotatedOrSkewed(element: Element): boolean {
  for (let at: Element | null = element; at; at = getFlatParent(at)) {
    const { transform, rotate } = getComputedStyle(at);
    if (rotate !== 'none' && Number.parseFloat(rotate) !== 0) return true;
    if (transform === 'none') continue;
    const matrix = new DOMMatrixReadOnly(transform);
    if (!matrix.is2D || matrix.b !== 0 || matrix.c !== 0) return true;
  }
  return false;
}
