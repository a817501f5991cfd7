import type { Activities } from './activity.ts';
import type { Asks } from './asks.ts';
import { detach } from './detach.ts';
import { freeze, setPrototypeOf } from './primordials.ts';
import { audienceOf, reportText } from './report.ts';

/** ContextOptions are what the context of one call works with. */
export interface ContextOptions {
  readonly signal: AbortSignal;
  /** decision is what a person decided before the tool began; undefined if nobody was asked. */
  readonly decision: unknown;
  readonly activities: Activities;
  readonly asks: Asks;
  /** report takes the JSON text of a wire.Report. */
  report(report: string): void;
  /** endAudience takes for whom the call's end is. */
  endAudience(audience: unknown): void;
}

/** makeContext returns what a handler gets as its second argument. Its functions never throw. */
export function makeContext(options: ContextOptions): object {
  const { report, activities, asks } = options;
  const send = (progress: unknown, total: unknown, percent: unknown, message: unknown, how: unknown) =>
    report(reportText(unprototyped({ progress, total, percent, message, audience: audienceOf(how) })));
  return freeze(
    unprototyped({
      reportProgress: (given: unknown) => report(reportText(given)),
      reportPercent: (percent: unknown, message?: unknown, how?: unknown) =>
        send(undefined, undefined, percent, message, how),
      reportCount: (done: unknown, total?: unknown, message?: unknown, how?: unknown) =>
        send(done, total, undefined, message, how),
      reportActivity: (type: unknown, content: unknown, how?: unknown) => report(activities.renew(type, content, how)),
      reportActivityDelta: (type: unknown, patch: unknown, how?: unknown) =>
        report(activities.change(type, patch, how)),
      endAudience: (audience: unknown) => options.endAudience(audience),
      call: (tool: unknown, input?: unknown, how?: unknown) => asks.callTool(tool, input, how),
      waitForUser: (what: unknown) => asks.waitForUser(what),
      decision: detach(options.decision),
      signal: options.signal,
    }),
  );
}

/** unprototyped takes the prototype of an object that was just made. */
function unprototyped<T extends object>(made: T): T {
  setPrototypeOf(made, null);
  return made;
}
