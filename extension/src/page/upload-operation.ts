// The arguments and the result of the operation upload.
import type { ActArguments, ActResult } from './operations.ts';

export interface UploadArguments extends ActArguments {
  /** A file field, its label, or an element to drop the files on; default the only file field of the frame. */
  readonly target?: string;
  readonly files: readonly UploadFile[];
}

export interface UploadFile {
  readonly name: string;
  /** The MIME type; empty if unknown. */
  readonly type: string;
  /** The content, as base64. */
  readonly base64: string;
}

export interface UploadResult extends ActResult {
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** How the page received the files. */
  readonly by: 'field' | 'drop';
}
