// Defines the page script operations for the child frames of a frame.
import type { Rect } from './operations.ts';

/** ChildFrame identifies a child frame to its parent frame. */
export interface ChildFrame {
  /**
   * index is the index of the child frame in window.frames of its parent, as in FactsResult.index; -1 for a frame
   * in a shadow root.
   */
  readonly index: number;
  /**
   * url, width and height are the address and the size of the child's document, by which the parent finds a frame
   * in a shadow root.
   */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export interface FramePointArguments extends ChildFrame {
  /** x and y are a point in the viewport of the child frame. */
  readonly x: number;
  readonly y: number;
  /** scroll is true if the parent frame must scroll the point into view. */
  readonly scroll: boolean;
}

export interface FramePointResult {
  /**
   * point is the point converted to the viewport of the parent frame; absent if the frame element is not found or
   * is rotated.
   */
  readonly point?: { readonly x: number; readonly y: number };
  /** hit reports whether input at the point reaches the frame element. */
  readonly hit: boolean;
  /** covered is the snapshot line of the element that covers the frame at the point. */
  readonly covered?: string;
}

export interface FocusFrameResult {
  readonly focused: boolean;
}

export interface FrameAreasResult {
  /** areas do not include frames in shadow roots, scaled frames or rotated frames. */
  readonly areas: readonly FrameArea[];
}

/** FrameArea is the rectangle in which a frame element shows its document. */
export interface FrameArea {
  /** index is the index of the frame in window.frames, as in FactsResult.index of the child frame. */
  readonly index: number;
  readonly area: Rect;
}
