import { apply, dataProperty, defineProperty, hiddenProperty, lookup } from './runtime/primordials.ts';
import { hasProperties, isMethod, messageOf } from './runtime/value.ts';

/** The kind of failure of a {@link ToolError}. */
export type ErrorCategory = 'auth' | 'rate_limit' | 'not_found' | 'validation' | 'internal' | 'timeout';

export interface ToolErrorOptions {
  category?: ErrorCategory | undefined;
  /** Whether a retry of the failed call may succeed; false if absent. */
  retryable?: boolean | undefined;
  /** The time until a retry makes sense, in milliseconds from now. */
  retryAfterMs?: number | undefined;
  /** The underlying error, which is never sent out of the page. */
  cause?: unknown;
}

/**
 * A failure that an agent can act on. The agent receives the message, code, category and retry advice of a ToolError.
 * If a tool throws an error that is not a ToolError, the agent receives only its message.
 */
export class ToolError extends Error {
  declare readonly code: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly category?: ErrorCategory;

  constructor(message: string, code: string, options: ToolErrorOptions = {}) {
    super(message);
    // The constructor defines the fields of a ToolError without assignments, because a page may have added setters to
    // Error.prototype. Absent fields of a ToolError are also defined, so that a value on Error.prototype does not
    // replace an absent field.
    const defineField = (name: string, value: unknown) => defineProperty(this, name, dataProperty(value));
    const defineHiddenField = (name: string, value: unknown) => defineProperty(this, name, hiddenProperty(value));
    defineHiddenField('name', 'ToolError');
    defineField('code', code);
    defineField('retryable', lookup(options, 'retryable') === true);
    defineField('retryAfterMs', lookup(options, 'retryAfterMs'));
    defineField('category', lookup(options, 'category'));
    const cause = lookup(options, 'cause');
    if (cause !== undefined) defineHiddenField('cause', cause);
  }

  /** Makes the error for a user who is not logged in or lacks the permission. */
  static auth(message: string, code = 'AUTH_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'auth' });
  }

  /** Makes the error for a requested object that does not exist. */
  static notFound(message: string, code = 'NOT_FOUND'): ToolError {
    return new ToolError(message, code, { category: 'not_found' });
  }

  /**
   * Makes the error for a site that limits the rate of requests. `retryAfterMs` is the delay that the site requested.
   */
  static rateLimited(message: string, retryAfterMs?: number, code = 'RATE_LIMITED'): ToolError {
    return new ToolError(message, code, { category: 'rate_limit', retryable: true, retryAfterMs });
  }

  /** Makes the error for invalid parameters, or for an invalid response of the site. */
  static validation(message: string, code = 'VALIDATION_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'validation' });
  }

  /** Makes the error for an operation that timed out. */
  static timeout(message: string, code = 'TIMEOUT'): ToolError {
    return new ToolError(message, code, { category: 'timeout', retryable: true });
  }

  /** Makes the error for a failure that has no more specific category. */
  static internal(message: string, code = 'INTERNAL_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'internal' });
  }

  /** Makes the error for a wait or request that a signal stopped; `reason` is the reason of the signal. */
  static aborted(reason: unknown): ToolError {
    const detail = hasProperties(reason) && !isMethod(reason) ? messageOf(reason) : '';
    return new ToolError(detail === '' ? 'aborted' : `aborted: ${detail}`, 'aborted', { cause: reason });
  }
}

// The extension makes the errors of the context's `call` and `waitForUser`, outside of the page's reach and without the
// class ToolError. The errors of the extension count as instances of ToolError, so that a handler can test every error
// with `instanceof ToolError`.
const { [Symbol.hasInstance]: nativeHasInstance } = Function.prototype;
Object.defineProperty(ToolError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    const isInstance = apply(nativeHasInstance, this, [error]);
    // For a subclass of ToolError, `instanceof` accepts only real instances.
    if (isInstance || this !== ToolError) return isInstance;
    return hasProperties(error) && lookup(error, 'name') === 'ToolError' && typeof lookup(error, 'code') === 'string';
  },
});
