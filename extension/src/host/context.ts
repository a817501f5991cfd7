import type { Activities } from './activity.ts';
import type { Asks } from './asks.ts';
import { detach } from './detach.ts';
import { freeze, setPrototypeOf } from './primordials.ts';
import { audienceOf, reportText } from './report.ts';

/** ContextOptions are the parts of one call that its context uses. */
export interface ContextOptions {
  readonly signal: AbortSignal;
  /** decision is the user's decision before the tool started; undefined if no approval was required. */
  readonly decision: unknown;
  readonly activities: Activities;
  readonly asks: Asks;
  /** report accepts the JSON text of a wire.Report. */
  report(report: string): void;
  /** endAudience sets the audience of the call's ending. */
  endAudience(audience: unknown): void;
}

/** makeContext returns the second argument of a handler. The functions of the context never throw. */
export function makeContext(options: ContextOptions): object {
  const { report, activities, asks } = options;
  const send = (progress: unknown, total: unknown, percent: unknown, message: unknown, how: unknown) =>
    report(reportText(removePrototype({ progress, total, percent, message, audience: audienceOf(how) })));
  return freeze(
    removePrototype({
      reportProgress: (given: unknown) => report(reportText(given)),
      reportPercent: (percent: unknown, message?: unknown, how?: unknown) =>
        send(undefined, undefined, percent, message, how),
      reportCount: (done: unknown, total?: unknown, message?: unknown, how?: unknown) =>
        send(done, total, undefined, message, how),
      reportActivity: (type: unknown, content: unknown, how?: unknown) =>
        report(activities.reportContent(type, content, how)),
      reportActivityDelta: (type: unknown, patch: unknown, how?: unknown) =>
        report(activities.reportPatch(type, patch, how)),
      endAudience: (audience: unknown) => options.endAudience(audience),
      call: (tool: unknown, input?: unknown, how?: unknown) => asks.callTool(tool, input, how),
      waitForUser: (what: unknown) => asks.waitForUser(what),
      decision: detach(options.decision),
      signal: options.signal,
    }),
  );
}

/** removePrototype removes the prototype of a new object. */
function removePrototype<T extends object>(made: T): T {
  setPrototypeOf(made, null);
  return made;
}
