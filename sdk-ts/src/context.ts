/** Who a progress report is for: `internal` (the default) is for logs and programs, `user` for people too. */
export type ProgressAudience = 'internal' | 'user' | (string & {});

/**
 * One progress report. Every field may be absent. Numbers must be finite and not negative; others are dropped by the
 * server, the message is kept.
 */
export interface ProgressOptions {
  /** How much is done, in any unit; `total` has the same unit. */
  progress?: number | undefined;
  /** How much there is to do, if that is known. */
  total?: number | undefined;
  /** How much is done, from 0 to 100: short for `progress` with a `total` of 100. */
  percent?: number | undefined;
  /** An absolute count beside `progress`, such as bytes read. */
  loaded?: number | undefined;
  /** What is being done, for people. It is cut after 2,000 characters. */
  message?: string | undefined;
  /** A short word for the state the tool is in, such as `uploading`. */
  status?: string | undefined;
  /** Who it is for; `internal` if absent. */
  audience?: ProgressAudience | undefined;
}

/** What a handler gets beside its parameters. It belongs to one call. */
export interface ToolHandlerContext {
  /**
   * Tells how far the call is. Each report, whatever is in it, gives the call another 30 s; the 5-minute deadline stays.
   * It never throws and costs little: report as often as something changes.
   */
  reportProgress(options: ProgressOptions): void;
  /** Reports a percentage from 0 to 100. */
  reportPercent(percent: number, message?: string): void;
  /** Reports that `done` of `total` things are done. */
  reportCount(done: number, total: number, message?: string): void;
  /**
   * Aborts when the call is stopped: cancelled by the agent or the person, or timed out. Its `reason` is a
   * `DOMException` named `AbortError` that says who stopped it.
   */
  readonly signal: AbortSignal;
}
