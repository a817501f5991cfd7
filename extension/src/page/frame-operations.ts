// Defines the page script operations that concern the child frames of a frame.
import type { Rect } from './operations.ts';

/** ChildFrame identifies a child frame in its parent frame. */
export interface ChildFrame {
  /** index is the index of the child frame in window.frames of the parent frame, or -1 for a frame in a shadow root. */
  readonly index: number;
  /**
   * url, width and height are the URL and the size of the child's document, which identify a frame in a shadow root.
   */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export interface FramePointArguments extends ChildFrame {
  /** x and y are the coordinates of a point in the viewport of the child frame. */
  readonly x: number;
  readonly y: number;
  /** scroll is true if the parent frame has to scroll the point into view. */
  readonly scroll: boolean;
}

export interface FramePointResult {
  /**
   * point is the given point in coordinates of the parent frame's viewport. If the page script does not find the frame
   * element, or if the frame element is rotated, `point` is absent.
   */
  readonly point?: { readonly x: number; readonly y: number };
  /** hit reports whether input at the point reaches the frame element. */
  readonly hit: boolean;
  /** covered is the snapshot line of the element that covers the frame at the given point. */
  readonly covered?: string;
}

export interface FocusFrameResult {
  readonly focused: boolean;
}

export interface FrameAreasResult {
  /** areas contains no frame that is in a shadow root, scaled or rotated. */
  readonly areas: readonly FrameArea[];
}

/** FrameArea is the rectangle in which a frame element shows its document. */
export interface FrameArea {
  /** index is the index of the frame in window.frames of its parent. */
  readonly index: number;
  readonly area: Rect;
}
