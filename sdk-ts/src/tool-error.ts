import { apply, dataProperty, defineProperty, hiddenProperty, lookup } from './runtime/primordials.ts';
import { hasProperties, isMethod, messageOf } from './runtime/value.ts';

/** The kind of failure of a {@link ToolError}. */
export type ErrorCategory = 'auth' | 'rate_limit' | 'not_found' | 'validation' | 'internal' | 'timeout';

export interface ToolErrorOptions {
  category?: ErrorCategory | undefined;
  /** Whether the same call may work later; false if absent. */
  retryable?: boolean | undefined;
  /** The time until a retry makes sense, in milliseconds from now. */
  retryAfterMs?: number | undefined;
  /** The underlying error, which is never sent out of the page. */
  cause?: unknown;
}

/**
 * A failure that an agent can act on. The agent receives the message, code, category and retry advice of a ToolError.
 * Of any other thrown error, the agent receives only the message.
 */
export class ToolError extends Error {
  declare readonly code: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly category?: ErrorCategory;

  constructor(message: string, code: string, options: ToolErrorOptions = {}) {
    super(message);
    // The fields are defined, not assigned, because a page may have added a setter with the same name to
    // Error.prototype. Absent fields are defined too, so that a value on the prototype does not replace an absent
    // field.
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

  /** The user is not logged in, or lacks the permission. */
  static auth(message: string, code = 'AUTH_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'auth' });
  }

  /** The requested object does not exist. */
  static notFound(message: string, code = 'NOT_FOUND'): ToolError {
    return new ToolError(message, code, { category: 'not_found' });
  }

  /** The site limits the rate of requests. Pass its retry advice, in milliseconds, if the site gave such advice. */
  static rateLimited(message: string, retryAfterMs?: number, code = 'RATE_LIMITED'): ToolError {
    return new ToolError(message, code, { category: 'rate_limit', retryable: true, retryAfterMs });
  }

  /** The parameters or the response of the site are invalid. */
  static validation(message: string, code = 'VALIDATION_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'validation' });
  }

  /** An operation timed out. */
  static timeout(message: string, code = 'TIMEOUT'): ToolError {
    return new ToolError(message, code, { category: 'timeout', retryable: true });
  }

  /** Any other failure. */
  static internal(message: string, code = 'INTERNAL_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'internal' });
  }

  /** The signal stopped the wait or request; `reason` is the reason of the signal. */
  static aborted(reason: unknown): ToolError {
    const why = hasProperties(reason) && !isMethod(reason) ? messageOf(reason) : '';
    return new ToolError(why === '' ? 'aborted' : `aborted: ${why}`, 'aborted', { cause: reason });
  }
}

// The extension makes the errors of the context's `call` and `waitForUser`, out of the page's reach and without the
// class ToolError. The errors of the extension count as instances, so that a handler can test every error with
// `instanceof ToolError`.
const { [Symbol.hasInstance]: hasInstance } = Function.prototype;
Object.defineProperty(ToolError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    const isInstance = apply(hasInstance, this, [error]);
    // For a subclass of ToolError, `instanceof` accepts only real instances.
    if (isInstance || this !== ToolError) return isInstance;
    return hasProperties(error) && lookup(error, 'name') === 'ToolError' && typeof lookup(error, 'code') === 'string';
  },
});
