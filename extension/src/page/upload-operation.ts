// Defines the arguments and the result of the page script operation `upload`.
import type { ActionArguments, PageActionResult } from './operations.ts';

export interface UploadArguments extends ActionArguments {
  /**
   * target is a file field, its label, or an element on which to drop the files. If target is absent, the operation
   * uses the file field of the frame, and fails if the frame has no file field or several.
   */
  readonly target?: string;
  readonly files: readonly UploadFile[];
}

export interface UploadFile {
  readonly name: string;
  /** type is the MIME type of the file; empty if unknown. */
  readonly type: string;
  /** base64 is the content of the file, encoded as base64. */
  readonly base64: string;
}

export interface UploadResult extends PageActionResult {
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** by describes how the page received the files: through a file field, or by a drop. */
  readonly by: 'field' | 'drop';
}
