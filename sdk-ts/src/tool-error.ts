import {
  apply,
  defineProperty,
  getSafeProperty,
  makeDataDescriptor,
  makeHiddenDescriptor,
} from './runtime/primordials.ts';
import { hasProperties, isMethod, readMessage } from './runtime/value.ts';

/** The category of a tool's error, by which an agent decides what to do next; see {@link ToolError}. */
export type ErrorCategory = 'auth' | 'rate_limit' | 'not_found' | 'validation' | 'internal' | 'timeout';

export interface ToolErrorOptions {
  category?: ErrorCategory | undefined;
  /** Whether a repetition of the same call may succeed; false by default. */
  retryable?: boolean | undefined;
  /** How long the agent should wait before a retry, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The error that caused the ToolError, for debugging in the page. Agents never receive `cause`. */
  cause?: unknown;
}

/**
 * An error with a message, a code and retry advice, so that an agent can react to a failed call. The agent receives a
 * ToolError's message, code, category and retry advice, but only the message of any other error.
 */
export class ToolError extends Error {
  declare readonly code: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly category?: ErrorCategory;

  constructor(message: string, code: string, options: ToolErrorOptions = {}) {
    super(message);
    // The fields of a ToolError are defined instead of assigned, so that Error.prototype of the page cannot forge them.
    const defineField = (name: string, value: unknown) => defineProperty(this, name, makeDataDescriptor(value));
    const defineHiddenField = (name: string, value: unknown) => defineProperty(this, name, makeHiddenDescriptor(value));
    defineHiddenField('name', 'ToolError');
    defineField('code', code);
    defineField('retryable', getSafeProperty(options, 'retryable') === true);
    defineField('retryAfterMs', getSafeProperty(options, 'retryAfterMs'));
    defineField('category', getSafeProperty(options, 'category'));
    const cause = getSafeProperty(options, 'cause');
    if (cause !== undefined) defineHiddenField('cause', cause);
  }

  /** Creates the error for a user who is not logged in, or who lacks a permission on the site. */
  static auth(message: string, code = 'AUTH_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'auth' });
  }

  /** Creates the error for a requested object that does not exist, such as an unknown channel ID. */
  static notFound(message: string, code = 'NOT_FOUND'): ToolError {
    return new ToolError(message, code, { category: 'not_found' });
  }

  /**
   * Creates the error for a site that limits the rate of requests. `retryAfterMs` is the delay that the site requested,
   * for example in a Retry-After header.
   */
  static rateLimited(message: string, retryAfterMs?: number, code = 'RATE_LIMITED'): ToolError {
    return new ToolError(message, code, { category: 'rate_limit', retryable: true, retryAfterMs });
  }

  /** Creates the error for invalid parameters of a tool, or for an unexpected response of the site. */
  static validation(message: string, code = 'VALIDATION_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'validation' });
  }

  /**
   * Creates the error for an operation that timed out. An agent that receives a timeout error is advised that a retry
   * may succeed.
   */
  static timeout(message: string, code = 'TIMEOUT'): ToolError {
    return new ToolError(message, code, { category: 'timeout', retryable: true });
  }

  /** Creates the error for a failure that fits no other category. */
  static internal(message: string, code = 'INTERNAL_ERROR'): ToolError {
    return new ToolError(message, code, { category: 'internal' });
  }

  /**
   * Creates the error for a wait or HTTP request that an AbortSignal stopped. `reason` is the value with which the
   * signal was aborted.
   */
  static aborted(reason: unknown): ToolError {
    const detail = hasProperties(reason) && !isMethod(reason) ? readMessage(reason) : '';
    return new ToolError(detail === '' ? 'aborted' : `aborted: ${detail}`, 'aborted', { cause: reason });
  }
}

// `instanceof ToolError` is true for errors from the extension, so that a handler can test all errors in one way.
const { [Symbol.hasInstance]: nativeHasInstance } = Function.prototype;
Object.defineProperty(ToolError, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    const isInstance = apply(nativeHasInstance, this, [error]);
    // If the right operand of `instanceof` is a subclass of ToolError, only real instances of the subclass match.
    if (isInstance || this !== ToolError) return isInstance;
    return (
      hasProperties(error) &&
      getSafeProperty(error, 'name') === 'ToolError' &&
      typeof getSafeProperty(error, 'code') === 'string'
    );
  },
});
