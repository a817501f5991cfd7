import type { ProgressOptions, ToolHandlerContext } from '../context.ts';
import { ToolError } from '../tool-error.ts';
import { isSignal, makeController, signalOf } from './page-primordials.ts';
import { apply, bare, dataProperty, defineProperty, lookup } from './primordials.ts';
import { type Bag, isBag, isMethod } from './value.ts';

/**
 * Returns a context with all methods of {@link ToolHandlerContext}. The context of a host of this version is complete and
 * returned unchanged. Older hosts have no activities, nested calls and waitForUser; the oldest have `reportProgress` only.
 */
export function completeContext(given: unknown): ToolHandlerContext {
  if (isComplete(given)) return given;
  const host: Bag = isBag(given) ? given : bare();
  const report = lookup(host, 'reportProgress');
  const signal = lookup(host, 'signal');
  const reportProgress = (options: ProgressOptions): void => {
    if (isMethod(report)) apply(report, host, [forOlderHost(options)]);
  };
  const reportFields = (progress: unknown, total: unknown, percent: unknown, message: unknown, how: unknown) =>
    reportProgress(
      fieldsOf({ progress, total, percent, message, audience: isBag(how) ? lookup(how, 'audience') : undefined }),
    );
  return {
    reportProgress,
    reportPercent: (percent, message, options) => reportFields(undefined, undefined, percent, message, options),
    reportCount: (done, total, message, options) => reportFields(done, total, undefined, message, options),
    // An activity counts as a report, which keeps the call alive.
    reportActivity: (_type, _content, options) => reportFields(undefined, undefined, undefined, undefined, options),
    reportActivityDelta: (_type, _patch, options) => reportFields(undefined, undefined, undefined, undefined, options),
    endAudience: () => undefined,
    call: () => rejectUnsupported('call'),
    waitForUser: () => rejectUnsupported('waitForUser'),
    signal: isSignal(signal) ? signal : signalOf(makeController()),
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
];

function isComplete(given: unknown): given is ToolHandlerContext {
  if (!isBag(given) || !isSignal(lookup(given, 'signal'))) return false;
  for (let i = 0; i < methods.length; i++) if (!isMethod(lookup(given, methods[i] ?? ''))) return false;
  return true;
}

async function rejectUnsupported(name: string): Promise<never> {
  throw new ToolError(`the opentabs extension in this browser has no context.${name}; update it`, 'not_supported');
}

/** Returns a copy of the fields that are not undefined, without a prototype. */
function fieldsOf(fields: object): ProgressOptions {
  const made = bare();
  for (const key in fields) {
    const value = lookup(fields, key);
    if (value !== undefined) defineProperty(made, key, dataProperty(value));
  }
  return made;
}

/** Converts `percent` to `progress` and `total`, the only numbers that older hosts accept. */
function forOlderHost(options: ProgressOptions): ProgressOptions {
  const percent = lookup(options, 'percent');
  if (percent === undefined) return options;
  const made = fieldsOf(options);
  defineProperty(made, 'progress', dataProperty(percent));
  defineProperty(made, 'total', dataProperty(100));
  return made;
}
