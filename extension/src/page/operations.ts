/**
 * Defines the operations of the page script, which runs in the isolated world of each frame.
 *
 * Operations, answers and progress reports are plain JSON. When another document replaces a document, the refs and
 * snapshots of the old document become invalid.
 *
 * # Frames
 *
 * Each frame has a separate page script, and each operation acts in one frame. A ref consists of the frame's prefix,
 * the letter e and a number, such as e12 or f3e12.
 *
 * # Targets
 *
 * A target is a ref from a snapshot, from a search result or from an error. If the element of a ref is gone, the
 * operation fails with stale_ref and names the most similar element. An operation never acts on an element other than
 * its target.
 */

import type { ClickedLink } from './clicked-link.ts';
import type { ShareArguments, ShareResult, StylesArguments, StylesResult } from './devtools-operations.ts';
import type * as frame from './frame-operations.ts';
import type { HitTestArguments, HitTestResult } from './hit-operation.ts';
import type { InspectArguments, InspectResult, SecretKind } from './secret-kind.ts';
import type { StorageArguments, StorageResult } from './storage-operation.ts';
import type { UploadArguments, UploadResult } from './upload-operation.ts';

export interface PageCalls {
  snapshot: { arguments: SnapshotArguments; result: SnapshotResult };
  find: { arguments: FindArguments; result: FindResult };
  read: { arguments: ReadArguments; result: ReadResult };
  click: { arguments: ClickArguments; result: ClickResult };
  type: { arguments: TypeArguments; result: TypeResult };
  fill: { arguments: FillArguments; result: FillResult };
  select: { arguments: SelectArguments; result: SelectResult };
  hover: { arguments: TargetArguments & ActionArguments; result: PageActionResult };
  drag: { arguments: DragArguments; result: PageActionResult };
  press: { arguments: PressArguments; result: PageActionResult };
  scroll: { arguments: ScrollArguments; result: ScrollResult };
  upload: { arguments: UploadArguments; result: UploadResult };
  waitFor: { arguments: WaitForArguments; result: WaitForResult };
  /** With the option `ready`, the operation `locate` first waits until input can reach the element. */
  locate: { arguments: LocateArguments; result: LocateResult };
  describe: { arguments: TargetArguments; result: DescribeResult };
  inspect: { arguments: InspectArguments; result: InspectResult };
  facts: { arguments: PageFactsArguments; result: PageFactsResult };
  frameAreas: { arguments: PageFactsArguments; result: frame.FrameAreasResult };
  framePoint: { arguments: frame.FramePointArguments; result: frame.FramePointResult };
  focusFrame: { arguments: frame.ChildFrame; result: frame.FocusFrameResult };
  watch: { arguments: PageFactsArguments; result: ChangeWatchResult };
  changes: { arguments: ChangesArguments; result: PageActionResult };
  storage: { arguments: StorageArguments; result: StorageResult };
  hit: { arguments: HitTestArguments; result: HitTestResult };
  lend: { arguments: ShareArguments; result: ShareResult };
  styles: { arguments: StylesArguments; result: StylesResult };
}

export type PageOperationName = keyof PageCalls;

/** `prefix` is the prefix of the frame's refs, such as f3. */
export type PageOperationOf<N extends PageOperationName> = {
  [P in N]: { readonly name: P; readonly prefix: string; readonly arguments: PageCalls[P]['arguments'] };
}[N];
export type PageOperation = PageOperationOf<PageOperationName>;

export type PageResult<N extends PageOperationName> = PageCalls[N]['result'];

/** The page script sends a PageAnswer even after the worker has cancelled the operation. */
export type PageAnswer<N extends PageOperationName = PageOperationName> =
  | { readonly ok: true; readonly result: PageResult<N> }
  | { readonly ok: false; readonly error: PageError };

/**
 * The next document of a frame continues the numbers of the previous document, so that an old ref never names a newer
 * element.
 */
export interface LastUsedNumbers {
  readonly ref: number;
  readonly snapshot: number;
}

export type PageErrorCode =
  /** stale_ref: the element of the ref is no longer in the document, or the ref never existed in the document. */
  | 'stale_ref'
  /**
   * not_hittable: input cannot reach the element, because the element is hidden, disabled, moving, covered, or outside
   * of the page.
   */
  | 'not_hittable'
  /** wrong_element: the element does not support the operation, such as typing into a picture. */
  | 'wrong_element'
  /** rejected: the page rejected the input, so a field did not accept the text, or an option was not selected. */
  | 'rejected'
  /** needs_approval: the user has not approved typing into the secret field. */
  | 'needs_approval'
  /** invalid_arguments: the arguments of the operation are invalid. */
  | 'invalid_arguments'
  /** timeout: the page did not meet the condition that the agent waited for within the time limit. */
  | 'timeout'
  /** cancelled: the page script operation was cancelled. */
  | 'cancelled'
  /** internal: the page script has a defect, or the page is being unloaded. */
  | 'internal';

export interface PageError {
  readonly code: PageErrorCode;
  /** The field `message` contains no text from the page, which could deceive the agent. */
  readonly message: string;
  /** pageText is text from the page that explains the error, such as the line that describes an element. */
  readonly pageText?: string;
  /**
   * The field `ref` is the ref of the most similar element (stale_ref), or of the element that blocks the input
   * (not_hittable).
   */
  readonly ref?: string;
  /**
   * The field `done` describes what the operation did before it failed, such as "typed 12 of 40 characters". If the
   * operation did nothing, `done` is absent.
   */
  readonly done?: string;
}

export type { PageProgress } from './progress.ts';

/** Rect is a rectangle in CSS pixels, relative to the viewport of the frame. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type SnapshotMode =
  /** A snapshot in the mode `full` contains all visible content. */
  | 'full'
  /** A snapshot in the mode `interactive` contains only controls, headings and status messages. */
  | 'interactive'
  /** A snapshot in the mode `viewport` contains only the content in the visible part of the frame. */
  | 'viewport';

export interface SnapshotArguments {
  /** The field `target` is the ref of the root element of the snapshot, by default the whole frame. */
  readonly target?: string;
  /** The field `mode` selects the content of the snapshot, `full` by default. */
  readonly mode?: SnapshotMode;
  /**
   * The field `since` is the ID of an earlier snapshot, such as s7; the result contains only the changes since then.
   */
  readonly since?: string;
  /** The field `depth` is the maximum number of levels below the root of the snapshot, by default all levels. */
  readonly depth?: number;
  /** maxTokens is the maximum size of the text in tokens (bytes / 4), 6,000 by default. The value 0 means no limit. */
  readonly maxTokens?: number;
  /**
   * The field `view` is the part of the frame that is visible, such as FrameInfo.visible; the default is the whole
   * viewport.
   */
  readonly view?: Rect;
}

export interface SnapshotResult {
  /** The field `snapshot` is the ID of the new snapshot, such as s7, which is unique in the document. */
  readonly snapshot: string;
  /**
   * The field `text` contains the content as lines, indented by one space per level. If the agent passed `since`,
   * `text` contains only the changes since the earlier snapshot.
   */
  readonly text: string;
  readonly title: string;
  readonly url: string;
  readonly tokens: number;
  /** The field `folded` is the approximate number of elements that were left out because of maxTokens. */
  readonly folded: number;
  /** The field `frames` lists the frame elements that `text` contains, in the same order. */
  readonly frames: readonly FrameInfo[];
  /**
   * The field `full` is true if text is complete despite `since`, because the old snapshot is gone or most lines
   * changed.
   */
  readonly full: boolean;
  /** The field `shortened` is the number of lines with truncated text, each of which ends with "…". */
  readonly shortened?: number | undefined;
  /** loading is true if the browser has not received the whole document yet. */
  readonly loading?: boolean | undefined;
}

export interface FrameInfo {
  readonly ref: string;
  /** The field `line` is the index of the frame element's line in the snapshot's text, or -1 without such a line. */
  readonly line: number;
  /** The field `index` is the index of the frame in window.frames of its parent, or -1 for a frame in a shadow root. */
  readonly index: number;
  /** The field `src` is the absolute URL in the frame element's attribute src, or empty for a frame with srcdoc. */
  readonly src: string;
  /**
   * The field `visible` is the visible part of the frame, in the child frame's coordinates; absent if the frame is out
   * of view.
   */
  readonly visible?: Rect;
}

export interface FindArguments {
  /** The field `text` is a text to find in the names, values and texts of elements; the search ignores case. */
  readonly text?: string;
  /** The field `regex` is a case-insensitive regular expression without look-around and back-references. */
  readonly regex?: string;
  readonly role?: string;
  /** The field `selector` is a CSS selector, which also matches elements in shadow roots. */
  readonly selector?: string;
  /** The field `limit` is the maximum number of matches, 20 by default. */
  readonly limit?: number;
}

export interface FindResult {
  readonly matches: readonly FindMatch[];
  /** The field `total` is the number of all matches; the search stops at 1,000 matches. */
  readonly total: number;
}

export interface FindMatch {
  readonly ref: string;
  readonly line: string;
  /**
   * The field `path` contains the snapshot lines of the ancestors, outermost first, such as ['main', 'table "Orders"'].
   */
  readonly path: readonly string[];
}

export interface ReadArguments {
  /** The field `format` is the format of the returned content, `markdown` by default. */
  readonly format?: 'markdown' | 'text' | 'html';
  readonly target?: string;
  /** maxTokens is the maximum size of one part in tokens (bytes / 4), 6,000 by default. */
  readonly maxTokens?: number;
  /**
   * The field `cursor` is the cursor of the previous part; with a cursor, only the argument maxTokens has an effect.
   */
  readonly cursor?: string;
}

export interface ReadResult {
  readonly text: string;
  readonly title: string;
  readonly url: string;
  readonly tokens: number;
  /**
   * The field `cursor` is the value of the argument `cursor` that reads the next part of the content; absent after the
   * last part.
   */
  readonly cursor?: string;
  /** The field `total` is the number of tokens in all parts together. */
  readonly total: number;
  /** The field `cut` is true if the content exceeds the limit of the operation, so that its end is missing. */
  readonly cut?: boolean | undefined;
  /** loading is true if the browser has not received the whole document yet. */
  readonly loading?: boolean | undefined;
  /** The field `frames` contains the frame elements in the content; the field `line` of each is -1. */
  readonly frames: readonly FrameInfo[];
}

export interface TargetArguments {
  readonly target: string;
}

export interface ActionArguments {
  /**
   * The field `secrets` contains the kinds of secret fields, such as passwords, into which the user allows typing. By
   * default, the user allows none.
   */
  readonly secrets?: readonly SecretKind[];
  /**
   * The field `snapshot` selects how the result describes the page after the action: `diff` (default) means only the
   * changes.
   */
  readonly snapshot?: 'diff' | 'none' | 'full';
  /** timeoutMs is how long the operation waits until input can reach the element, in milliseconds, 5,000 by default. */
  readonly timeoutMs?: number;
}

export interface PageActionResult {
  /** The field `target` is the snapshot line of the element on which the operation acted, or absent without one. */
  readonly target?: string;
  /**
   * The field `input` is the kind of input that the page received: trusted (through the debugger), synthetic, or none.
   */
  readonly input: 'trusted' | 'synthetic' | 'none';
  /** The field `changed` is false if the action changed nothing on the page. */
  readonly changed: boolean;
  /**
   * The field `changes` is a list of the changes on the page, or a full snapshot. If nothing changed or `snapshot` is
   * `none`, `changes` is absent.
   */
  readonly changes?: string;
  readonly full?: boolean;
  /** The field `navigating` is the URL of a started navigation that has not replaced the document yet. */
  readonly navigating?: string;
  /** The field `snapshot` is the ID of the snapshot after the action; absent if the agent passed `snapshot: none`. */
  readonly snapshot?: string;
  readonly url?: string;
  readonly title?: string;
  /** The field `busy` is true if the page was still changing when the operation stopped waiting. */
  readonly busy?: boolean;
  /** The field `download` is the file name or the URL of a download that the action started. */
  readonly download?: string;
  /**
   * The field `notes` contains hints for the agent, such as "The page may need trusted input", without text from the
   * page.
   */
  readonly notes: readonly string[];
}

export type MouseButton = 'left' | 'right' | 'middle';
export type Modifier = 'Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift';

export interface ClickArguments extends TargetArguments, ActionArguments {
  readonly button?: MouseButton;
  readonly doubleClick?: boolean;
  readonly modifiers?: readonly Modifier[];
}

export interface ClickResult extends PageActionResult {
  readonly link?: ClickedLink;
}

export interface TypeArguments extends TargetArguments, ActionArguments {
  /** If `text` is empty, the operation `type` clears the field. */
  readonly text: string;
  /**
   * The field `append` adds the new text to the text in the field, instead of replacing the old text; false by default.
   */
  readonly append?: boolean;
  /** If `slowly` is true, the operation types each character with key events; false by default. */
  readonly slowly?: boolean;
  /** If the field `submit` is true, the operation presses Enter after typing; false by default. */
  readonly submit?: boolean;
}

export interface TypeResult extends PageActionResult {
  /** The field `value` is the value of the field after typing; absent for passwords, codes and card numbers. */
  readonly value?: string;
  /** The field `exact` is true if the field contains exactly the text that was typed. */
  readonly exact: boolean;
}

export interface FillArguments extends ActionArguments {
  readonly fields: readonly FillField[];
  readonly submit?: boolean;
}

/** FillField is a field and its new value: a text, a date, the state of a checkbox, or options by label or value. */
export interface FillField {
  readonly target: string;
  readonly value: string | boolean | readonly string[];
}

export interface FillResult extends PageActionResult {
  /** If one field fails, the operation `fill` still fills the other fields. */
  readonly fields: readonly FillOutcome[];
  readonly submitted: boolean;
}

export interface FillOutcome {
  readonly target: string;
  readonly ok: boolean;
  /** The field `value` is the value of the field after filling; absent for passwords, codes and card numbers. */
  readonly value?: string;
  readonly error?: PageError;
}

export interface SelectArguments extends TargetArguments, ActionArguments {
  /** The field `values` contains the labels or values of the options to select; most lists accept only one option. */
  readonly values: readonly string[];
}

export interface SelectResult extends PageActionResult {
  /** The field `chosen` contains the labels of the options that are selected after the operation. */
  readonly chosen: readonly string[];
  /** The field `shown` is false if the page does not show all requested options as selected. */
  readonly shown: boolean;
}

export interface DragArguments extends ActionArguments {
  readonly startTarget: string;
  readonly endTarget?: string;
  /** endPoint replaces `endTarget` in a drag to another frame; the point is relative to the start element's frame. */
  readonly endPoint?: { readonly x: number; readonly y: number };
  /** The field `offset` replaces `endTarget`: the distance of the drag in CSS pixels. */
  readonly offset?: { readonly x: number; readonly y: number };
}

export interface PressArguments extends ActionArguments {
  /** The field `key` is a key with optional modifiers, such as Enter, ArrowDown, a, Control+A or Shift+Tab. */
  readonly key: string;
  /** The field `target` is the element that receives the key, by default the focused element. */
  readonly target?: string;
}

export interface ScrollArguments extends ActionArguments {
  /**
   * The field `target` is the element that the operation scrolls into view. If `direction` is given, the operation
   * `scroll` instead scrolls the scrollable area around `target`.
   */
  readonly target?: string;
  readonly direction?: 'up' | 'down' | 'left' | 'right' | 'top' | 'bottom';
  /** The field `amount` is the distance in pixels, by default 80 % of the visible size. */
  readonly amount?: number;
}

export interface ScrollResult extends PageActionResult {
  readonly position: { readonly x: number; readonly y: number };
  readonly size: { readonly width: number; readonly height: number };
  readonly visible: { readonly width: number; readonly height: number };
}

/** The operation `waitFor` waits until all given conditions are met. */
export interface WaitForArguments {
  readonly text?: string;
  readonly textGone?: string;
  readonly selector?: string;
  /**
   * The field `state` is the state that a match of `selector` must reach, by default visible. The state hidden means
   * that no match is visible, and detached that no match is in the document.
   */
  readonly state?: 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled';
  /** The field `url` is a part of the URL to wait for. If `url` contains `*`, it is a pattern for the whole URL. */
  readonly url?: string;
  readonly load?: 'domcontentloaded' | 'load';
  /** timeMs is a fixed time to wait, in milliseconds. */
  readonly timeMs?: number;
  /** timeoutMs is the time limit in milliseconds, 30,000 by default. */
  readonly timeoutMs?: number;
}

export interface WaitForResult {
  readonly message: string;
  readonly waitedMs: number;
  /** The field `line` is the snapshot line that contains the awaited text or element, if any. */
  readonly line?: string;
}

export interface LocateArguments extends TargetArguments {
  /** If `ready` is true, the operation scrolls the element into view and waits until input can reach the element. */
  readonly ready?: boolean;
  /** timeoutMs is the time limit in milliseconds, 5,000 by default. */
  readonly timeoutMs?: number;
}

export interface LocateResult {
  readonly line: string;
  readonly rect: Rect;
  /**
   * The field `point` is a point at which input reaches the element; absent if no part of the element is in the
   * viewport.
   */
  readonly point?: { readonly x: number; readonly y: number };
  /** The field `hit` is true if input at the point reaches the element; else, `covered` is the element in front. */
  readonly hit: boolean;
  readonly covered?: { readonly ref: string; readonly line: string };
  readonly visible: boolean;
  readonly enabled: boolean;
}

export interface DescribeResult {
  readonly line: string;
  readonly role: string;
  readonly elementName: string;
  readonly tag: string;
  readonly secret: boolean;
  readonly href?: string;
  readonly formAction?: string;
}

export type PageFactsArguments = Readonly<Record<string, never>>;

export interface PageFactsResult {
  readonly url: string;
  readonly title: string;
  readonly readyState: DocumentReadyState;
  /**
   * The field `index` is the position of the page script's frame in window.frames of its parent, or -1 for the top
   * frame and for frames in shadow roots.
   */
  readonly index: number;
  readonly hasFocus: boolean;
  readonly visibility: DocumentVisibilityState;
  readonly size: { readonly width: number; readonly height: number };
}

export interface ChangeWatchResult {
  readonly snapshot: string;
}

export interface ChangesArguments extends ActionArguments {
  readonly since: string;
}
