// Joins the snapshots of a tab's frames into one text. The worker, which has no DOM, imports join-frames.ts. The module
// join-frames.ts and its imports must not use the DOM.
import type { SnapshotResult } from './operations.ts';

export interface ChildFrame {
  readonly ref: string;
  readonly snapshot: SnapshotResult;
  readonly children: readonly ChildFrame[];
}

/** joinFrames inserts the snapshots of child frames below their frame elements, and returns the joined text. */
export function joinFrames(snapshot: SnapshotResult, children: readonly ChildFrame[]): string {
  const framesByLine = new Map<number, ChildFrame>();
  for (const { ref, line } of snapshot.frames) {
    const child = children.find((candidate) => candidate.ref === ref);
    if (child && line >= 0) framesByLine.set(line, child);
  }
  if (framesByLine.size === 0) return snapshot.text;
  const joinedLines: string[] = [];
  for (const [i, line] of snapshot.text.split('\n').entries()) {
    joinedLines.push(line);
    const child = framesByLine.get(i);
    if (!child) continue;
    const indent = `${/^ */.exec(line)?.[0] ?? ''} `;
    const text = joinFrames(child.snapshot, child.children);
    if (text) for (const innerLine of text.split('\n')) joinedLines.push(indent + innerLine);
  }
  return joinedLines.join('\n');
}
