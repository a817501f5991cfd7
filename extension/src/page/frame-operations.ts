// The operations that concern the child frames of a frame.
import type { Rect } from './operations.ts';

/** ChildFrame describes a child frame to its parent. */
export interface ChildFrame {
  /** The index of the frame, as in FactsResult.index of the child; -1 for a frame in a shadow root. */
  readonly index: number;
  /** The address and the size of the child's document, by which a frame in a shadow root is found. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export interface FramePointArguments extends ChildFrame {
  /** The point in the viewport of the child. */
  readonly x: number;
  readonly y: number;
  /** Scrolls the point into view. */
  readonly scroll: boolean;
}

export interface FramePointResult {
  /** The same point in the viewport of this frame; absent if the frame element is not found, or is rotated. */
  readonly point?: { readonly x: number; readonly y: number };
  /** Whether the point hits the frame element. */
  readonly hit: boolean;
  /** The line of the element that is in the way. */
  readonly covered?: string;
}

export interface FocusFrameResult {
  readonly focused: boolean;
}

export interface FrameAreasResult {
  /** Without frames in shadow roots, and without frames that are scaled or rotated. */
  readonly areas: readonly FrameArea[];
}

/** FrameArea is where a frame element shows its document. */
export interface FrameArea {
  /** The index of the frame in window.frames, as in FactsResult.index of the child. */
  readonly index: number;
  readonly area: Rect;
}
