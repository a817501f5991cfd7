// The arguments and the result of the operation hit of operations.ts.
import type { FrameInfo } from './operations.ts';

/** HitArguments are a point in the viewport of the frame, in CSS pixels. */
export interface HitArguments {
  readonly x: number;
  readonly y: number;
}

export interface HitResult {
  /** The line of the element at the point, as in a snapshot; absent if the point is outside of the viewport. */
  readonly line?: string;
  /** Set if the element at the point is a frame element. */
  readonly frame?: FrameInfo;
}
