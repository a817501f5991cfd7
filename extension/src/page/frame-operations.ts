// Defines the page script operations that concern the child frames of a frame.
import type { Rect } from './operations.ts';

export interface ChildFrame {
  /**
   * The field `index` is the position of the child frame in window.frames of the parent frame, or -1 in a shadow root.
   */
  readonly index: number;
  /** The fields url, width and height describe the child's document, and identify a frame in a shadow root. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export interface FramePointArguments extends ChildFrame {
  readonly x: number;
  readonly y: number;
  readonly scroll: boolean;
}

export interface FramePointResult {
  /** `point` is absent if the frame element is rotated or not found. */
  readonly point?: { readonly x: number; readonly y: number };
  readonly hit: boolean;
  /** The field `covered` is the snapshot line of the element that covers the frame at the given point. */
  readonly covered?: string;
}

export interface FocusFrameResult {
  readonly focused: boolean;
}

export interface FrameAreasResult {
  /** The field `areas` contains no frame that is in a shadow root, scaled or rotated. */
  readonly areas: readonly FrameArea[];
}

export interface FrameArea {
  readonly index: number;
  readonly area: Rect;
}
