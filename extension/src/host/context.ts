import type { Activities } from './activity.ts';
import { detachFromPagePrototypes } from './detach.ts';
import { freeze, setPrototypeOf } from './primordials.ts';
import { makeReportText, readAudience } from './report.ts';
import type { ToolRequests } from './tool-requests.ts';

export interface ContextOptions {
  readSignal(): unknown;
  /** The field `decision` is the user's decision about the call, or undefined if no approval was required. */
  readonly decision: unknown;
  readonly activities: Activities;
  readonly toolRequests: ToolRequests;
  sendReport(report: string): void;
  setEndAudience(audience: unknown): void;
}

/**
 * makeContext returns the context, which is the second argument of a tool's handler. The functions of the returned
 * context never throw.
 */
export function makeContext(options: ContextOptions): object {
  const { sendReport, activities, toolRequests } = options;
  const sendProgress = (
    progress: unknown,
    totalCount: unknown,
    percent: unknown,
    progressMessage: unknown,
    options: unknown,
  ) =>
    sendReport(
      makeReportText(
        removePrototype({
          progress,
          total: totalCount,
          percent,
          message: progressMessage,
          audience: readAudience(options),
        }),
      ),
    );
  return freeze(
    removePrototype({
      reportProgress: (progress: unknown) => sendReport(makeReportText(progress)),
      reportPercent: (percent: unknown, progressMessage?: unknown, options?: unknown) =>
        sendProgress(undefined, undefined, percent, progressMessage, options),
      reportCount: (doneCount: unknown, totalCount?: unknown, progressMessage?: unknown, options?: unknown) =>
        sendProgress(doneCount, totalCount, undefined, progressMessage, options),
      reportActivity: (type: unknown, content: unknown, options?: unknown) =>
        sendReport(activities.reportContent(type, content, options)),
      reportActivityDelta: (type: unknown, patch: unknown, options?: unknown) =>
        sendReport(activities.reportPatch(type, patch, options)),
      endAudience: (audience: unknown) => options.setEndAudience(audience),
      call: (tool: unknown, input?: unknown, options?: unknown) => toolRequests.callTool(tool, input, options),
      waitForUser: (request: unknown) => toolRequests.waitForUser(request),
      decision: detachFromPagePrototypes(options.decision),
      // The field `signal` is a getter, so that an AbortController is created only for handlers that read signal.
      // Creating an AbortController takes longer than creating the rest of the context.
      get signal() {
        return options.readSignal();
      },
    }),
  );
}

function removePrototype<T extends object>(object: T): T {
  setPrototypeOf(object, null);
  return object;
}
