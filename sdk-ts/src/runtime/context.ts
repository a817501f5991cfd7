import type { ProgressOptions, ToolHandlerContext } from '../context.ts';
import { ToolError } from '../tool-error.ts';
import { type Bag, isBag, isMethod } from './value.ts';

/**
 * Returns a context that has all that {@link ToolHandlerContext} promises. A host of this version gives it whole and gets
 * it back as it is; an older one has no activities and nobody to ask, and the oldest gives `reportProgress` alone.
 */
export function completeContext(given: unknown): ToolHandlerContext {
  if (isComplete(given)) return given;
  const host: Bag = isBag(given) ? given : {};
  const reportProgress = (options: ProgressOptions): void => {
    if (isMethod(host.reportProgress)) Reflect.apply(host.reportProgress, host, [forOlderHost(options)]);
  };
  return {
    reportProgress,
    reportPercent: (percent, message, options) => reportProgress({ percent, message, ...options }),
    reportCount: (done, total, message, options) => reportProgress({ progress: done, total, message, ...options }),
    // An activity counts as a report, which keeps the call alive.
    reportActivity: (_type, _content, options) => reportProgress({ audience: options?.audience }),
    reportActivityDelta: (_type, _patch, options) => reportProgress({ audience: options?.audience }),
    endAudience: () => undefined,
    call: () => notThere('call'),
    waitForUser: () => notThere('waitForUser'),
    signal: isSignal(host.signal) ? host.signal : new AbortController().signal,
  };
}

const methods = [
  'reportProgress',
  'reportPercent',
  'reportCount',
  'reportActivity',
  'reportActivityDelta',
  'endAudience',
  'call',
  'waitForUser',
] as const;

function isComplete(given: unknown): given is ToolHandlerContext {
  return isBag(given) && methods.every((name) => isMethod(given[name])) && isSignal(given.signal);
}

async function notThere(name: string): Promise<never> {
  throw new ToolError(`the opentabs extension in this browser has no context.${name}; update it`, 'not_supported');
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
