// Defines the arguments and the result of the page script operation `upload`.
import type { ActionArguments, PageActionResult } from './operations.ts';

export interface UploadArguments extends ActionArguments {
  /** Without `target`, the operation `upload` fails unless the frame has exactly one file field. */
  readonly target?: string;
  readonly files: readonly UploadFile[];
}

export interface UploadFile {
  readonly name: string;
  readonly type: string;
  readonly base64: string;
}

export interface UploadResult extends PageActionResult {
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** The field `by` describes how the page received the files: through a file field, or by a drop. */
  readonly by: 'field' | 'drop';
}
