/**
 * Who sees a progress report: `internal` (the default) is for logs and programs, `user` also for users. Later versions
 * of the SDK may add audiences; opentabs treats an unknown audience as `internal`.
 */
export type ProgressAudience = 'internal' | 'user' | (string & {});

/**
 * One progress report of a running tool. Each field of a progress report is optional. Numbers must be finite and not
 * negative: the server drops invalid numbers and keeps the message.
 */
export interface ProgressOptions {
  /** The work done so far, in the same unit as `total`. */
  progress?: number | undefined;
  /** The total amount of work, such as the number of items; omit `total` if the amount is unknown. */
  total?: number | undefined;
  /** The percentage of the work done so far, from 0 to 100. `percent: 40` is short for `progress: 40, total: 100`. */
  percent?: number | undefined;
  /** A second count beside `progress`, such as the number of bytes read. */
  loaded?: number | undefined;
  /** What the tool is doing now, as a sentence for users. The server truncates a longer message to 2,000 characters. */
  message?: string | undefined;
  /** The current phase of the tool as one word, such as `uploading`. */
  status?: string | undefined;
  /** Who sees the progress report; `internal` by default. */
  audience?: ProgressAudience | undefined;
}

/** Options of the context's methods `reportPercent`, `reportCount`, `reportActivity` and `reportActivityDelta`. */
export interface ReportOptions {
  /** Who sees the progress report; `internal` by default. */
  audience?: ProgressAudience | undefined;
}

/**
 * One operation of a JSON Patch (RFC 6902). Paths are JSON Pointers: `''` is the whole document, `/rows/-` appends to
 * `rows`.
 */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string };

export interface NestedCallOptions {
  /** Cancels the nested call when this signal is aborted; the calling tool continues. */
  signal?: AbortSignal | undefined;
  /**
   * The Chrome tab in which the nested call runs. By default, the nested call runs in the calling tool's tab if that
   * tab can run it.
   */
  tabId?: number | undefined;
}

/** The texts that the method `waitForUser` shows to the user. */
export interface UserRequest {
  /** Instructions for the user, such as `Log in to the site, then press Done.` */
  reason: string;
  /** A short title of the request to the user, such as `Log in`. */
  title?: string | undefined;
}

/** Describes how the user approved a call. */
export interface Decision {
  /** Whether the user allowed the call. In a handler, `allow` is always true, because a denied call never runs. */
  readonly allow: boolean;
  /**
   * What the user's approval covers: this call only (`once`), the session, a period of time, or all calls (`always`).
   * Later versions of the SDK may add values of `scope`.
   */
  readonly scope?: 'once' | 'session' | 'time' | 'always' | (string & {}) | undefined;
  /** Where the user decided, such as `the side panel`. */
  readonly by: string;
  /** Additional data of the user's decision, such as the values of a form; usually absent. */
  readonly data?: unknown;
}

/**
 * The second argument of a tool's handler: progress reports, calls of other tools, and the abort signal. Each call has
 * a separate context. The report methods and `endAudience` never throw, and a lost progress report never changes the
 * tool's result.
 */
export interface ToolHandlerContext {
  /**
   * Reports the progress of the call. Each report, even an empty one, restarts the idle timeout (30 s by default), but
   * not the hard timeout (5 min by default). A progress report takes very little time, so send one at each change.
   */
  reportProgress(options: ProgressOptions): void;
  /** Reports progress as a percentage from 0 to 100. */
  reportPercent(percent: number, message?: string, options?: ReportOptions): void;
  /** Reports progress as a count: `done` of `total` items are finished. */
  reportCount(done: number, total: number, message?: string, options?: ReportOptions): void;
  /**
   * Shows `content`, any JSON value, beside the progress of the call, and replaces earlier content of the same `type`.
   * For the types `text` and `code`, pass a string as `content`. For the type `table`, pass an array of objects, or
   * `{columns, rows}`, as `content`. Content of any other type is displayed as JSON. A call can have up to 16
   * activities, one of each type. Content larger than 256 KiB, or that JSON cannot represent, is dropped. Like a
   * progress report, `reportActivity` restarts the idle timeout.
   */
  reportActivity(type: string, content: unknown, options?: ReportOptions): void;
  /**
   * Applies a JSON Patch (RFC 6902) to the content that {@link reportActivity} set for `type`. If one operation in an
   * array fails, none of the array's operations is applied. Neither the JSON Patch nor the patched content may exceed
   * 256 KiB.
   */
  reportActivityDelta(type: string, patch: PatchOperation | readonly PatchOperation[], options?: ReportOptions): void;
  /**
   * Sets who is notified when the call succeeds; the default is `internal`. If the call fails, every audience is
   * notified. If the tool sends progress reports with the audience `user`, pass `user` here too, so that the user also
   * sees how the call ended.
   */
  endAudience(audience: ProgressAudience): void;
  /**
   * Calls another tool and returns its result: a tool of this plugin by its name, a tool of another plugin as
   * `<plugin>__<tool>`. A nested call is checked like an agent's call: its arguments are validated, and permissions and
   * time limits apply. Progress reports of the nested call also restart the idle timeout of the calling tool. While the
   * nested call waits for the user, the timeouts of the calling tool are paused. When the calling tool ends, its nested
   * calls are cancelled.
   *
   * Rejects with a ToolError, whose `code` comes from the called tool or from the server. The server's error codes
   * include `denied`, `invalid_arguments`, `idle_timeout` and `result_too_large` (more than 16 MiB). Tools that call
   * each other too deeply, too often or in a cycle fail with `nested_too_deep`. If the calling tool was stopped or
   * `options.signal` was aborted, the error code is `aborted`.
   */
  call(tool: string, input?: Record<string, unknown>, options?: NestedCallOptions): Promise<unknown>;
  /**
   * Asks the user to do something, such as logging in, and waits until the user confirms. While a call waits for the
   * user, its idle and hard timeouts are paused. After the user has confirmed, check the page: a user can press Done
   * too early.
   *
   * Rejects with a ToolError: `user_denied` if the user declines, `user_timeout` after 5 min without an answer,
   * `aborted` if the call was stopped.
   */
  waitForUser(request: UserRequest): Promise<void>;
  /** The user's approval of the running call. If the call required no approval, `decision` is absent. */
  readonly decision?: Decision | undefined;
  /**
   * Aborts when the call times out, or when the agent or the user cancels the call. The signal's `reason` is a
   * `DOMException` named `AbortError`, whose message describes the cause.
   */
  readonly signal: AbortSignal;
}
