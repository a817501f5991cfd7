import type { ProgressOptions, ToolHandlerContext } from '../context.ts';
import { ToolError } from '../tool-error.ts';
import { isSignal, makeController, readSignal } from './page-primordials.ts';
import {
  apply,
  defineProperty,
  getOwnPropertyDescriptor,
  getSafeProperty,
  hasOwn,
  makeBareObject,
  makeDataDescriptor,
} from './primordials.ts';
import { hasProperties, isMethod, type Properties } from './value.ts';

/**
 * Returns a context with all methods of {@link ToolHandlerContext}, even under an older extension. Older versions of
 * the extension lack activities, nested calls and `waitForUser`; the oldest versions support only `reportProgress`.
 */
export function completeContext(hostContext: unknown): ToolHandlerContext {
  if (isComplete(hostContext)) return hostContext;
  const host: Properties = hasProperties(hostContext) ? hostContext : makeBareObject();
  const report = getSafeProperty(host, 'reportProgress');
  const signal = getSafeProperty(host, 'signal');
  const reportProgress = (options: ProgressOptions): void => {
    if (isMethod(report)) apply(report, host, [convertPercentToProgress(options)]);
  };
  const reportFields = (
    progress: unknown,
    total: unknown,
    percent: unknown,
    message: unknown,
    reportOptions: unknown,
  ) =>
    reportProgress(
      copyDefinedFields({
        progress,
        total,
        percent,
        message,
        audience: hasProperties(reportOptions) ? getSafeProperty(reportOptions, 'audience') : undefined,
      }),
    );
  return {
    reportProgress,
    reportPercent: (percent, message, options) => reportFields(undefined, undefined, percent, message, options),
    reportCount: (done, total, message, options) => reportFields(done, total, undefined, message, options),
    // Older extensions cannot show activities, but an empty progress report restarts the idle timeout.
    reportActivity: (_type, _content, options) => reportFields(undefined, undefined, undefined, undefined, options),
    reportActivityDelta: (_type, _patch, options) => reportFields(undefined, undefined, undefined, undefined, options),
    endAudience: () => undefined,
    call: () => rejectUnsupported('call'),
    waitForUser: () => rejectUnsupported('waitForUser'),
    signal: isSignal(signal) ? signal : readSignal(makeController()),
  };
}

const contextMethods = [
  'reportProgress',
  'reportPercent',
  'reportCount',
  'reportActivity',
  'reportActivityDelta',
  'endAudience',
  'call',
  'waitForUser',
];

function isComplete(hostContext: unknown): hostContext is ToolHandlerContext {
  if (!hasProperties(hostContext) || !hasSignal(hostContext)) return false;
  for (let i = 0; i < contextMethods.length; i++)
    if (!isMethod(getSafeProperty(hostContext, contextMethods[i] ?? ''))) return false;
  return true;
}

/** `hasSignal` does not read the signal, because the extension creates a context's signal when it is first read. */
function hasSignal(hostContext: Properties): boolean {
  const descriptor = getOwnPropertyDescriptor(hostContext, 'signal');
  if (descriptor && hasOwn(descriptor, 'get')) return isMethod(descriptor.get);
  return isSignal(getSafeProperty(hostContext, 'signal'));
}

async function rejectUnsupported(name: string): Promise<never> {
  throw new ToolError(
    `the opentabs extension in this browser has no context.${name}; update the extension`,
    'not_supported',
  );
}

function copyDefinedFields(optionalFields: object): ProgressOptions {
  const fieldsCopy = makeBareObject();
  for (const key in optionalFields) {
    const value = getSafeProperty(optionalFields, key);
    if (value !== undefined) defineProperty(fieldsCopy, key, makeDataDescriptor(value));
  }
  return fieldsCopy;
}

/** Converts `percent` to `progress` and `total`, because older extensions do not accept `percent`. */
function convertPercentToProgress(options: ProgressOptions): ProgressOptions {
  const percent = getSafeProperty(options, 'percent');
  if (percent === undefined) return options;
  const fieldsCopy = copyDefinedFields(options);
  defineProperty(fieldsCopy, 'progress', makeDataDescriptor(percent));
  defineProperty(fieldsCopy, 'total', makeDataDescriptor(100));
  return fieldsCopy;
}
