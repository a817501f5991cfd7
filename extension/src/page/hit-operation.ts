// Defines the arguments and the result of the page script operation `hit`.
import type { FrameInfo } from './operations.ts';

/** HitArguments is a point in the viewport of the frame, in CSS pixels. */
export interface HitArguments {
  readonly x: number;
  readonly y: number;
}

export interface HitResult {
  readonly line?: string;
  readonly frame?: FrameInfo;
}
