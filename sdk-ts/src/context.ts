/**
 * Who sees a report: with `internal` (the default), logs and programs; with `user`, also users. Later versions of the
 * SDK may add audiences; an unknown audience counts as `internal`.
 */
export type ProgressAudience = 'internal' | 'user' | (string & {});

/**
 * One progress report. All fields of a progress report are optional. Numbers must be finite and not negative: the
 * server drops invalid numbers and keeps the message.
 */
export interface ProgressOptions {
  /** The work done so far, in the same unit as `total`. */
  progress?: number | undefined;
  /** The whole amount of work, if the amount is known. */
  total?: number | undefined;
  /** The work done so far, from 0 to 100; the same as `progress` with a `total` of 100. */
  percent?: number | undefined;
  /** A count in addition to `progress`, such as bytes read. */
  loaded?: number | undefined;
  /** What the tool does now, for users. The message is truncated after 2,000 characters. */
  message?: string | undefined;
  /** A word for the state of the tool, such as `uploading`. */
  status?: string | undefined;
  /** Who sees the report; `internal` if absent. */
  audience?: ProgressAudience | undefined;
}

/** The options of `reportPercent`, `reportCount`, `reportActivity` and `reportActivityDelta`. */
export interface ReportOptions {
  /** Who sees the report; `internal` if absent. */
  audience?: ProgressAudience | undefined;
}

/**
 * One operation of a JSON Patch (RFC 6902). Paths are JSON Pointers: `''` is the document, `/rows/-` appends to `rows`.
 */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string };

export interface NestedCallOptions {
  /** The signal that stops the nested call. When the nested call is stopped, the calling tool continues. */
  signal?: AbortSignal | undefined;
  /** The tab in which the nested call runs; if absent, the server prefers the tab of the calling tool. */
  tabId?: number | undefined;
}

/** The request that `waitForUser` shows to the user. */
export interface UserRequest {
  /** What the user should do, as a sentence, such as `Log in to the site, then press Done.` */
  reason: string;
  /** A short title, such as `Log in`. */
  title?: string | undefined;
}

/** The user's approval of a call. */
export interface Decision {
  /** Whether the user allowed the call; always true in a handler, because a denied call does not run. */
  readonly allow: boolean;
  /**
   * How long the user's approval is valid: `once` is for one call. Later versions of the SDK may add values of `scope`.
   */
  readonly scope?: 'once' | 'session' | 'time' | 'always' | (string & {}) | undefined;
  /** Where the user decided, such as `the side panel`. */
  readonly by: string;
  /** Additional data of the decision; absent in most cases. */
  readonly data?: unknown;
}

/**
 * The second argument of a handler. Each context belongs to one call. The report functions and `endAudience` never
 * throw, and a lost report never changes the result.
 */
export interface ToolHandlerContext {
  /**
   * Reports the progress of the call. Each report, even an empty report, restarts the idle timeout of 30 s, but not the
   * deadline of 5 min. Reports are cheap: send a report at each change.
   */
  reportProgress(options: ProgressOptions): void;
  /** Reports a percentage from 0 to 100. */
  reportPercent(percent: number, message?: string, options?: ReportOptions): void;
  /** Reports that `done` of `total` items are done. */
  reportCount(done: number, total: number, message?: string, options?: ReportOptions): void;
  /**
   * Replaces the content of the activity `type` with `content`, any JSON value. The content of the types `text` and
   * `code` is a string. The content of the type `table` is an array of objects or `{columns, rows}`. The content of any
   * other type is shown as JSON. A tool call has up to 16 activities. Content that is larger than 256 KiB or not JSON
   * is dropped. Each report of an activity also counts as a progress report.
   */
  reportActivity(type: string, content: unknown, options?: ReportOptions): void;
  /**
   * Patches the content of the activity `type` with a JSON Patch (RFC 6902). The patch is one operation or an array of
   * operations, which applies completely or not at all. The limits of {@link reportActivity} apply to the patch and to
   * the patched content.
   */
  reportActivityDelta(type: string, patch: PatchOperation | readonly PatchOperation[], options?: ReportOptions): void;
  /**
   * Sets who sees the successful end of the call; `internal` if never set. Every audience sees a failure. Use the
   * audience of the reports, so that users who saw the progress also see the end.
   */
  endAudience(audience: ProgressAudience): void;
  /**
   * Calls another tool and returns its result: a tool of this plugin by its name, a tool of another plugin as
   * `<plugin>__<tool>`. The nested call has the checks of an agent's call: validated arguments, permissions and
   * separate time limits. Reports of the nested call also restart the idle timeout of this call. While the nested call
   * waits for the user, the time limits of the calling tool also pause. The nested call ends when this call ends.
   *
   * Rejects with a ToolError. The `code` of the ToolError is the code of the tool's error or of the server's error.
   * Examples of the `code` are `denied`, `invalid_arguments`, `idle_timeout` and `result_too_large` (more than 16 MiB).
   * The `code` of the ToolError is `nested_too_deep` for tools that call each other too deep, too often or in a circle.
   * The `code` of the ToolError is `aborted` when this call was stopped or `options.signal` aborted.
   */
  call(tool: string, input?: Record<string, unknown>, options?: NestedCallOptions): Promise<unknown>;
  /**
   * Asks the user to do something, such as logging in, and waits until the user confirms. While a call waits for the
   * user, its idle timeout and its deadline pause. After the user has confirmed, check whether the action is done: a
   * user can press Done too early.
   *
   * Rejects with a ToolError: `user_denied` if the user declines, `user_timeout` after 5 min without an answer,
   * `aborted` when the call was stopped.
   */
  waitForUser(request: UserRequest): Promise<void>;
  /** The user's approval of this call; absent if the call required no approval. */
  readonly decision?: Decision | undefined;
  /**
   * Aborts when the call is stopped: cancelled by the agent or the user, or timed out. The `reason` of the signal is a
   * `DOMException` named `AbortError`, whose message gives the cause.
   */
  readonly signal: AbortSignal;
}
