// Defines the arguments and the result of the page script operation `hit`.
import type { FrameInfo } from './operations.ts';

/** HitArguments is a point in the viewport of the frame, in CSS pixels. */
export interface HitArguments {
  readonly x: number;
  readonly y: number;
}

export interface HitResult {
  /**
   * line is the snapshot line of the element at the given point. If the point is outside of the viewport, `line` is
   * absent.
   */
  readonly line?: string;
  /** frame is set if the element at the point is a frame element. */
  readonly frame?: FrameInfo;
}
