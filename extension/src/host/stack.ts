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

/** hook is the function that Chrome calls with an error when its stack trace is first read. A page can set the hook. */
const hook = 'prepareStackTrace';

/**
 * readStack returns the stack trace of a thrown value, or the empty string. The page's hook for stack traces is removed
 * during the read, because the hook would receive the error. If the page has locked the hook, there is no stack trace.
 */
export function readStack(thrown: unknown): string {
  if (!isObject(thrown)) return '';
  const pageHook = getOwnPropertyDescriptor(NativeError, hook);
  if (!defineProperty(NativeError, hook, dataProperty(undefined))) return '';
  try {
    const stack = lookup(thrown, 'stack');
    return typeof stack === 'string' ? stack : '';
  } catch {
    return ''; // reading a field of a revoked proxy throws
  } finally {
    if (pageHook) {
      setPrototypeOf(pageHook, null);
      defineProperty(NativeError, hook, pageHook);
    } else deleteProperty(NativeError, hook);
  }
}
