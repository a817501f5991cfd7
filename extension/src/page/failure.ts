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

/** `progressText` describes what the operation did before it failed. */
export function toPageError(thrownValue: unknown, signal: AbortSignal, progressText: string): PageError {
  const progress = progressText === '' ? {} : { done: progressText };
  if (thrownValue instanceof PageFailure) {
    const { code, message, ref, pageText } = thrownValue;
    return { code, message, ...(ref ? { ref } : {}), ...(pageText ? { pageText } : {}), ...progress };
  }
  if (signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.', ...progress };
  const message = thrownValue instanceof Error ? `${thrownValue.name}: ${thrownValue.message}` : String(thrownValue);
  return { code: 'internal', message: `The page script failed: ${message}`, ...progress };
}
