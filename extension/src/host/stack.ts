import {
  dataProperty,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  isObject,
  lookup,
  NativeError,
  setPrototypeOf,
} from './primordials.ts';

/**
 * prepareStackTraceKey names the function of Error that Chrome calls when a stack trace is first read. The page can
 * define Error.prepareStackTrace.
 */
const prepareStackTraceKey = 'prepareStackTrace';

/**
 * readStack returns the stack trace of a thrown value, or an empty string. While reading a stack trace, readStack
 * removes the page's hook function, because the hook would receive the error. If the page's hook function for stack
 * traces is non-configurable, readStack returns an empty string.
 */
export function readStack(thrownValue: unknown): string {
  if (!isObject(thrownValue)) return '';
  const pageStackHook = getOwnPropertyDescriptor(NativeError, prepareStackTraceKey);
  if (!defineProperty(NativeError, prepareStackTraceKey, dataProperty(undefined))) return '';
  try {
    const stack = lookup(thrownValue, 'stack');
    return typeof stack === 'string' ? stack : '';
  } catch {
    return ''; // reading a field of a revoked proxy throws
  } finally {
    if (pageStackHook) {
      setPrototypeOf(pageStackHook, null);
      defineProperty(NativeError, prepareStackTraceKey, pageStackHook);
    } else deleteProperty(NativeError, prepareStackTraceKey);
  }
}
