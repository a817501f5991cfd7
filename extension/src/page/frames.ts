// Frame elements in snapshots, and how the worker joins the snapshots of frames. joinFrames uses no DOM.
import type { FrameInfo, Rect, SnapshotResult } from './operations.ts';
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

/** ChildFrame is the snapshot of a child frame, by the ref of the frame element in its parent. */
export interface ChildFrame {
  readonly ref: string;
  readonly snapshot: SnapshotResult;
  readonly children: readonly ChildFrame[];
}

/** joinFrames returns the text of a snapshot with the texts of its child frames below their frame elements. */
export function joinFrames(snapshot: SnapshotResult, children: readonly ChildFrame[]): string {
  const byLine = new Map<number, ChildFrame>();
  for (const { ref, line } of snapshot.frames) {
    const child = children.find((candidate) => candidate.ref === ref);
    if (child && line >= 0) byLine.set(line, child);
  }
  if (byLine.size === 0) return snapshot.text;
  const lines: string[] = [];
  for (const [i, line] of snapshot.text.split('\n').entries()) {
    lines.push(line);
    const child = byLine.get(i);
    if (!child) continue;
    const indent = `${/^ */.exec(line)?.[0] ?? ''} `;
    const text = joinFrames(child.snapshot, child.children);
    if (text) for (const inner of text.split('\n')) lines.push(indent + inner);
  }
  return lines.join('\n');
}

/** pageHeader returns the first line of a snapshot: title, host and path, and the id of the snapshot. */
export function pageHeader(snapshot: Pick<SnapshotResult, 'title' | 'url' | 'snapshot'>): string {
  return `page ${JSON.stringify(snapshot.title)} ${shortAddress(snapshot.url)} [snapshot ${snapshot.snapshot}]`;
}

/** shortAddress returns host and path of an address. Query and fragment may contain secrets, so they are left out. */
function shortAddress(address: string): string {
  const url = URL.parse(address);
  if (!url || url.host === '') return address.slice(0, 100);
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.host}${path.slice(0, 120)}${url.search ? '?…' : ''}${url.hash ? '#…' : ''}`;
}
