/**
 * Who a report is for: `internal` (the default) is for logs and programs, `user` for people too. Later versions may know
 * more words; an unknown one counts as `internal`.
 */
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

/** What goes with a report that has its content in its own arguments. */
export interface ReportOptions {
  /** Who the report is for; `internal` if absent. */
  audience?: ProgressAudience | undefined;
}

/** One operation of a JSON Patch (RFC 6902). `path` and `from` are JSON Pointers: `''` is the whole, `/rows/-` its end. */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string };

export interface NestedCallOptions {
  /** Gives the nested call up when it aborts; the call that asked goes on. */
  signal?: AbortSignal | undefined;
  /** The tab to run in; the server prefers this one if absent. */
  tabId?: number | undefined;
}

/** What a person is asked to do. */
export interface UserRequest {
  /** A sentence that says what to do, such as `Log in to the site, then press Done.` */
  reason: string;
  /** A few words above it, such as `Log in`. */
  title?: string | undefined;
}

/** What a person decided before a call ran. */
export interface Decision {
  /** Always true in a handler: what was refused does not run. */
  readonly allow: boolean;
  /** How far it goes: `once` is for this call alone. Later versions may know more words. */
  readonly scope?: 'once' | 'session' | 'time' | 'always' | (string & {}) | undefined;
  /** Where they decided, such as `the side panel`. */
  readonly by: string;
  /** What they said besides; absent in most cases. */
  readonly data?: unknown;
}

/**
 * What a handler gets beside its parameters. It belongs to one call. The report functions and `endAudience` never throw,
 * and what becomes of them never changes the result.
 */
export interface ToolHandlerContext {
  /**
   * Tells how far the call is. Each report, whatever is in it, gives the call another 30 s; the 5-minute deadline stays.
   * It costs little: report as often as something changes.
   */
  reportProgress(options: ProgressOptions): void;
  /** Reports a percentage from 0 to 100. */
  reportPercent(percent: number, message?: string, options?: ReportOptions): void;
  /** Reports that `done` of `total` things are done. */
  reportCount(done: number, total: number, message?: string, options?: ReportOptions): void;
  /**
   * Shows `content`, any JSON value, in place of what the activity `type` showed before. `text` and `code` take a text,
   * `table` an array of objects or `{columns, rows}`; a surface shows any other type as JSON. A call has up to 16
   * activities. Content of more than 256 KiB, or that JSON can't hold, is dropped. It counts as a report.
   */
  reportActivity(type: string, content: unknown, options?: ReportOptions): void;
  /**
   * Changes what the activity `type` shows by a JSON Patch (RFC 6902), which applies whole or not at all. One operation
   * may stand without an array. It has the limits of {@link reportActivity}, and the content must stay below them.
   */
  reportActivityDelta(type: string, patch: PatchOperation | readonly PatchOperation[], options?: ReportOptions): void;
  /**
   * Says who the end of the call is for if it succeeds; `internal` if that is never said. A failure is for everybody. Use
   * it with reports for the same audience, so that whoever saw the call begin sees that it is done.
   */
  endAudience(audience: ProgressAudience): void;
  /**
   * Calls another tool and returns its result: one of this plugin by its name, one of another plugin as
   * `<plugin>__<tool>`. Its arguments are checked, its permissions are asked for and it has its own time limits, as if an
   * agent had called it; while it waits for a person or reports, so does this call. It ends when this call ends.
   *
   * Rejects with a ToolError whose `code` is that of the tool's own error, or of the server's: such as `denied`,
   * `invalid_arguments`, `idle_timeout`, `nested_too_deep` (tools that call each other too deep, too often or in a circle)
   * and `result_too_large` (more than 16 MiB). The code is `aborted` when this call or `options.signal` was stopped.
   */
  call(tool: string, input?: Record<string, unknown>, options?: NestedCallOptions): Promise<unknown>;
  /**
   * Waits until a person says that they did what was asked for, such as logging in. Both time limits stand still. Look
   * afterwards whether it is so: a person can press Done too early.
   *
   * Rejects with a ToolError: `user_denied` if the person refuses, `user_timeout` if nobody answers (5 minutes), `aborted`
   * when the call was stopped.
   */
  waitForUser(request: UserRequest): Promise<void>;
  /** What a person decided when they were asked whether this call may run; absent if nobody was. */
  readonly decision?: Decision | undefined;
  /**
   * Aborts when the call is stopped: cancelled by the agent or the person, or timed out. Its `reason` is a
   * `DOMException` named `AbortError` that says who stopped it.
   */
  readonly signal: AbortSignal;
}
