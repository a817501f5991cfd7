import { isBag } from './runtime/value.ts';

/** What kind of failure a {@link ToolError} is. */
export type ErrorCategory = 'auth' | 'rate_limit' | 'not_found' | 'validation' | 'internal' | 'timeout';

export interface ToolErrorOptions {
  category?: ErrorCategory | undefined;
  /** Whether the same call may work later; false if absent. */
  retryable?: boolean | undefined;
  /** When to try again, in milliseconds from now. */
  retryAfterMs?: number | undefined;
  /** The error behind this one; it stays in the page. */
  cause?: unknown;
}

/**
 * A failure that an agent can act on. Its message, code, category and retry advice reach the agent; of any other thrown
 * error only the message does.
 */
export class ToolError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly category?: ErrorCategory;

  constructor(message: string, code: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.category !== undefined) this.category = options.category;
  }

  /** The person is not logged in, or may not do this. */
  static auth(message: string, code = 'AUTH_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'auth' });
  }

  /** The thing that was asked for does not exist. */
  static notFound(message: string, code = 'NOT_FOUND'): ToolError {
    return new ToolError(message, code, { category: 'not_found' });
  }

  /** The site asks to slow down. Pass its advice, in milliseconds, if it gave one. */
  static rateLimited(message: string, retryAfterMs?: number, code = 'RATE_LIMITED'): ToolError {
    return new ToolError(message, code, { category: 'rate_limit', retryable: true, retryAfterMs });
  }

  /** The parameters or the site's answer are not as they must be. */
  static validation(message: string, code = 'VALIDATION_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'validation' });
  }

  /** Something took too long. */
  static timeout(message: string, code = 'TIMEOUT'): ToolError {
    return new ToolError(message, code, { category: 'timeout', retryable: true });
  }

  /** Anything else. */
  static internal(message: string, code = 'INTERNAL_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'internal' });
  }

  /** The wait or the request was stopped by its signal; `reason` is the signal's. */
  static aborted(reason: unknown): ToolError {
    const detail = reason instanceof Error && reason.message ? `: ${reason.message}` : '';
    return new ToolError(`aborted${detail}`, 'aborted', { cause: reason });
  }
}

// What the context's `call` and `waitForUser` reject with is made by the extension, out of the page's reach, and not by
// this class. It is an instance of it all the same, so that a handler asks one question of every error.
Object.defineProperty(ToolError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    const own = Function.prototype[Symbol.hasInstance].call(this, error);
    // A class that extends ToolError has its own instances only.
    if (own || this !== ToolError) return own;
    return isBag(error) && error.name === 'ToolError' && typeof error.code === 'string';
  },
});
