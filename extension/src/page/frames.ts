// Frame elements in snapshots, and their places.
import type { FrameArea, FrameAreasResult, FrameInfo, Rect } from './operations.ts';
import { unclobbered } from './unclobbered.ts';
import { intersection, plainRect, viewportRect } from './view.ts';

/** frameInfo returns the facts about a frame element that the worker needs to find its frame. */
export function frameInfo(element: Element, ref: string, line: number): FrameInfo {
  const window = frameWindow(element);
  const visible = visiblePart(element);
  return {
    ref,
    line,
    index: window ? indexOf(window, globalThis.window) : -1,
    src: element instanceof HTMLIFrameElement && !element.hasAttribute('srcdoc') ? element.src : '',
    ...(visible ? { visible } : {}),
  };
}

function frameWindow(element: Element): Window | null {
  if (element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement) return element.contentWindow;
  return element instanceof HTMLObjectElement ? element.contentWindow : null;
}

/** indexInParent returns the index of this frame in window.frames of its parent, and -1 if it is not listed there. */
export function indexInParent(): number {
  return globalThis.window.parent === globalThis.window ? -1 : indexOf(globalThis.window, globalThis.window.parent);
}

function indexOf(frame: Window, parent: Window): number {
  for (let i = 0; i < parent.length; i++) if (parent[i] === frame) return i;
  return -1;
}

/** visiblePart returns the part of a frame element in view, in the coordinates of the frame's document. */
function visiblePart(element: Element): Rect | undefined {
  const rect = element.getBoundingClientRect();
  const seen = intersection(rect, viewportRect());
  if (seen.width === 0 || seen.height === 0) return undefined;
  const left = rect.x + element.clientLeft;
  const top = rect.y + element.clientTop;
  return plainRect({
    x: Math.max(0, seen.x - left),
    y: Math.max(0, seen.y - top),
    width: seen.width,
    height: seen.height,
  });
}

/** frameAreas is the operation of this name. */
export async function frameAreas(): Promise<FrameAreasResult> {
  return { areas: [...unclobbered.querySelectorAll('iframe,frame,object')].flatMap(areaOf) };
}

function areaOf(element: Element): FrameArea[] {
  const window = frameWindow(element);
  const index = window ? indexOf(window, globalThis.window) : -1;
  if (index < 0 || !(element instanceof HTMLElement)) return [];
  const rect = element.getBoundingClientRect();
  const isScaled = Math.abs(rect.width - element.offsetWidth) > 1 || Math.abs(rect.height - element.offsetHeight) > 1;
  if (isScaled) return [];
  const style = getComputedStyle(element);
  const [left, top, right, bottom] = [style.paddingLeft, style.paddingTop, style.paddingRight, style.paddingBottom].map(
    (text) => Number.parseFloat(text) || 0,
  );
  const area = {
    x: rect.x + element.clientLeft + (left ?? 0),
    y: rect.y + element.clientTop + (top ?? 0),
    width: Math.max(0, element.clientWidth - (left ?? 0) - (right ?? 0)),
    height: Math.max(0, element.clientHeight - (top ?? 0) - (bottom ?? 0)),
  };
  return [{ index, area }];
}
