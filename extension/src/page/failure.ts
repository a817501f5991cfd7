// Converts the errors of page script operations to the format that the worker receives.

import type { PageError, PageErrorCode } from './operations.ts';

export class PageFailure extends Error {
  readonly code: PageErrorCode;
  readonly ref: string | undefined;
  readonly pageText: string | undefined;

  /** `message` never contains text from the page, which could deceive the agent. */
  constructor(code: PageErrorCode, message: string, pageText?: string, ref?: string) {
    super(message);
    this.name = 'PageFailure';
    this.code = code;
    this.ref = ref;
    this.pageText = pageText;
  }
}

/** `done` describes what the operation did before it failed. */
export function toPageError(thrown: unknown, signal: AbortSignal, done: string): PageError {
  const progress = done === '' ? {} : { done };
  if (thrown instanceof PageFailure) {
    const { code, message, ref, pageText } = thrown;
    return { code, message, ...(ref ? { ref } : {}), ...(pageText ? { pageText } : {}), ...progress };
  }
  if (signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.', ...progress };
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return { code: 'internal', message: `The page script failed: ${message}`, ...progress };
}
