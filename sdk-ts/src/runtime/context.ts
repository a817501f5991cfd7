import type { ProgressOptions, ToolHandlerContext } from '../context.ts';
import { type Bag, isBag, isMethod } from './value.ts';

/**
 * Returns a context that has all that {@link ToolHandlerContext} promises. A host of this version gives it whole and gets
 * it back as it is; an older one gives `reportProgress` alone.
 */
export function completeContext(given: unknown): ToolHandlerContext {
  if (isComplete(given)) return given;
  const host: Bag = isBag(given) ? given : {};
  const reportProgress = (options: ProgressOptions): void => {
    if (isMethod(host.reportProgress)) Reflect.apply(host.reportProgress, host, [forOlderHost(options)]);
  };
  return {
    reportProgress,
    reportPercent: (percent, message) => reportProgress({ percent, message }),
    reportCount: (done, total, message) => reportProgress({ progress: done, total, message }),
    signal: isSignal(host.signal) ? host.signal : new AbortController().signal,
  };
}

function isComplete(given: unknown): given is ToolHandlerContext {
  return (
    isBag(given) &&
    isMethod(given.reportProgress) &&
    isMethod(given.reportPercent) &&
    isMethod(given.reportCount) &&
    isSignal(given.signal)
  );
}

/** Not `instanceof`: a page may have replaced the global that it would look at. */
function isSignal(value: unknown): value is AbortSignal {
  return isBag(value) && typeof value.aborted === 'boolean' && isMethod(value.addEventListener);
}

/** An older host knows `progress` and `total` only. */
function forOlderHost(options: ProgressOptions): ProgressOptions {
  const { percent } = options;
  return percent === undefined ? options : { ...options, progress: percent, total: 100 };
}
