// Defines the arguments and the result of the page script operation `hit`.
import type { FrameInfo } from './operations.ts';

/** HitTestArguments is a point in the viewport of the frame, in CSS pixels. */
export interface HitTestArguments {
  readonly x: number;
  readonly y: number;
}

export interface HitTestResult {
  readonly line?: string;
  readonly frame?: FrameInfo;
}
