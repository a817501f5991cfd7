import { apply, dataProperty, defineProperty, hiddenProperty, lookup } from './runtime/primordials.ts';
import { isBag, isMethod, messageOf } from './runtime/value.ts';

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
  declare readonly code: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly category?: ErrorCategory;

  constructor(message: string, code: string, options: ToolErrorOptions = {}) {
    super(message);
    // By definition, not by assignment: a page may have put a setter of that name on Error.prototype. What is absent is
    // defined too, so that no value there counts in its place.
    const define = (name: string, value: unknown) => defineProperty(this, name, dataProperty(value));
    const hide = (name: string, value: unknown) => defineProperty(this, name, hiddenProperty(value));
    hide('name', 'ToolError');
    define('code', code);
    define('retryable', lookup(options, 'retryable') === true);
    define('retryAfterMs', lookup(options, 'retryAfterMs'));
    define('category', lookup(options, 'category'));
    const cause = lookup(options, 'cause');
    if (cause !== undefined) hide('cause', cause);
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
    const why = isBag(reason) && !isMethod(reason) ? messageOf(reason) : '';
    return new ToolError(why === '' ? 'aborted' : `aborted: ${why}`, 'aborted', { cause: reason });
  }
}

// What the context's `call` and `waitForUser` reject with is made by the extension, out of the page's reach, and not by
// this class. It is an instance of it all the same, so that a handler asks one question of every error.
const { [Symbol.hasInstance]: hasInstance } = Function.prototype;
Object.defineProperty(ToolError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    const own = apply(hasInstance, this, [error]);
    // A class that extends ToolError has its own instances only.
    if (own || this !== ToolError) return own;
    return isBag(error) && lookup(error, 'name') === 'ToolError' && typeof lookup(error, 'code') === 'string';
  },
});
