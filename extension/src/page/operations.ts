/**
 * The operations of the page script, which runs in the isolated world of each frame of a document.
 *
 * The worker injects the script, and calls run(operation, report, signal) of main.ts through a port. Operations,
 * answers and progress are plain JSON. All operations of one frame share the state of the document: refs, snapshots and
 * readings. The state ends with the document.
 *
 * # Frames
 *
 * Each frame has a separate page script, and each operation concerns one frame. The worker numbers the frames and gives
 * each operation the prefix of the frame: '' for the top frame, 'f3' for frame 3. A ref is the prefix, the letter e and
 * a number: e12, f3e12. A snapshot lists its frame elements in `frames`. The worker finds the frame of each entry by
 * FrameInfo.index, and joins the texts with joinFrames (join-frames.ts).
 *
 * # Targets
 *
 * A target is a ref from a snapshot, a find or an error. A ref of an element that is gone fails with stale_ref and names
 * the nearest match. An operation never acts on another element.
 */

import type { ClickedLink } from './clicked-link.ts';
import type { LendArguments, LendResult, StylesArguments, StylesResult } from './devtools-operations.ts';
import type * as frame from './frame-operations.ts';
import type { HitArguments, HitResult } from './hit-operation.ts';
import type { InspectArguments, InspectResult, SecretKind } from './secret-kind.ts';
import type { StorageArguments, StorageResult } from './storage-operation.ts';
import type { UploadArguments, UploadResult } from './upload-operation.ts';

/** PageCalls maps the name of each operation to its arguments and its result. */
export interface PageCalls {
  /** Returns the visible content as text, with refs. */
  snapshot: { arguments: SnapshotArguments; result: SnapshotResult };
  /** Returns the lines of the content that match. */
  find: { arguments: FindArguments; result: FindResult };
  /** Returns the content as Markdown, text or HTML, in parts. */
  read: { arguments: ReadArguments; result: ReadResult };
  click: { arguments: ClickArguments; result: ClickResult };
  type: { arguments: TypeArguments; result: TypeResult };
  fill: { arguments: FillArguments; result: FillResult };
  select: { arguments: SelectArguments; result: SelectResult };
  hover: { arguments: TargetArguments & ActArguments; result: ActResult };
  drag: { arguments: DragArguments; result: ActResult };
  press: { arguments: PressArguments; result: ActResult };
  scroll: { arguments: ScrollArguments; result: ScrollResult };
  upload: { arguments: UploadArguments; result: UploadResult };
  waitFor: { arguments: WaitForArguments; result: WaitForResult };
  /** Returns where an element is; with `ready`, waits until input can reach the element. */
  locate: { arguments: LocateArguments; result: LocateResult };
  /** Returns what an element is, for the question to the user. Acts on nothing. */
  describe: { arguments: TargetArguments; result: DescribeResult };
  /**
   * inspect returns the secret fields that the frame shows, and the secret fields into which a call will type.
   * inspect does not change the page.
   */
  inspect: { arguments: InspectArguments; result: InspectResult };
  /** Returns facts about the frame that the site policy needs. Cheap: reads no content. */
  facts: { arguments: FactsArguments; result: FactsResult };
  /** Returns where the child frames of the frame are. */
  frameAreas: { arguments: FactsArguments; result: frame.FrameAreasResult };
  /** framePoint converts a point of a child frame to this frame. */
  framePoint: { arguments: frame.FramePointArguments; result: frame.FramePointResult };
  /** focusFrame focuses the element of a child frame. */
  focusFrame: { arguments: frame.ChildFrame; result: frame.FocusFrameResult };
  /**
   * Returns what changed on the page since a `watch`. Level 2 brackets its trusted input with `watch` and `changes`;
   * the acting operations of this file bracket themselves.
   */
  watch: { arguments: FactsArguments; result: WatchResult };
  changes: { arguments: ChangesArguments; result: ActResult };
  /** storage reads and changes localStorage, sessionStorage and IndexedDB of the frame. */
  storage: { arguments: StorageArguments; result: StorageResult };
  /** hit returns the element at a point. */
  hit: { arguments: HitArguments; result: HitResult };
  /** lend shares an element or the document with code in another JavaScript world of the page. */
  lend: { arguments: LendArguments; result: LendResult };
  /** styles returns the computed styles of an element. */
  styles: { arguments: StylesArguments; result: StylesResult };
}

/** PageOperationName is the name of an operation. */
export type PageOperationName = keyof PageCalls;

/**
 * Operation is one operation as the worker sends it. `prefix` is the prefix of the frame. PageOperation is the union of
 * all operations.
 */
export type Operation<N extends PageOperationName> = {
  [P in N]: { readonly name: P; readonly prefix: string; readonly arguments: PageCalls[P]['arguments'] };
}[N];
export type PageOperation = Operation<PageOperationName>;

/** PageResult is the result of an operation by its name. */
export type PageResult<N extends PageOperationName> = PageCalls[N]['result'];

/** PageAnswer is the end of an operation. An answer is always sent, also after a cancel. */
export type PageAnswer<N extends PageOperationName = PageOperationName> =
  | { readonly ok: true; readonly result: PageResult<N> }
  | { readonly ok: false; readonly error: PageError };

/**
 * PageNumbers are the greatest numbers of refs and snapshots in a frame. The next document of the frame continues after
 * them, so that a ref of an earlier document never names an element of a later one.
 */
export interface PageNumbers {
  readonly ref: number;
  readonly snapshot: number;
}

/** PageErrorCode is why an operation failed. */
export type PageErrorCode =
  /** The element of the ref is gone, or the ref never existed in this document. */
  | 'stale_ref'
  /** Input cannot reach the element: hidden, disabled, moving, covered, or outside of the page. */
  | 'not_hittable'
  /** The element cannot do what the operation needs, such as typing into a picture. */
  | 'wrong_element'
  /** The page rejected the input: a field did not take the text, an option was not chosen. */
  | 'rejected'
  /** The field is a secret field, and the user has not approved that the call types into the field. */
  | 'needs_approval'
  /** The arguments are invalid. The message lists what is allowed. */
  | 'invalid_arguments'
  /** A wait ended without its condition. */
  | 'timeout'
  /** The signal was aborted. `done` is how far the operation came. */
  | 'cancelled'
  /** A defect of the page script, or a page that is torn down. */
  | 'internal';

/** PageError describes why an operation failed, and the next step. */
export interface PageError {
  readonly code: PageErrorCode;
  /** message contains no text of the page. */
  readonly message: string;
  /** pageText is text of the page about the error, such as the line of an element. */
  readonly pageText?: string;
  /** The ref of the nearest match (stale_ref), or of the element that is in the way (not_hittable). */
  readonly ref?: string;
  /** What the operation did before it failed, such as "typed 12 of 40 characters". Absent if it did nothing. */
  readonly done?: string;
}

/** PageProgress is one progress report. `total` is absent if unknown. */
export interface PageProgress {
  readonly message: string;
  readonly progress?: number;
  readonly total?: number;
}

/** Rect is in CSS pixels, relative to the viewport of the frame. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** SnapshotMode selects the lines of a snapshot. */
export type SnapshotMode =
  /** All visible content. */
  | 'full'
  /** Controls, headings and status messages. */
  | 'interactive'
  /** Only content in the visible part of the frame. */
  | 'viewport';

export interface SnapshotArguments {
  /** The root of the snapshot; default the whole frame. */
  readonly target?: string;
  /** Default full. */
  readonly mode?: SnapshotMode;
  /** The id of an earlier snapshot, such as s7: the answer contains only the changes since then. */
  readonly since?: string;
  /** The levels of lines below the root; default all. */
  readonly depth?: number;
  /** The size of the text in tokens (bytes / 4), default 6,000. 0 means the whole tree, with progress. */
  readonly maxTokens?: number;
  /** The visible part of the frame; default the viewport. The worker passes FrameInfo.visible to child frames. */
  readonly view?: Rect;
}

export interface SnapshotResult {
  /** The id of this snapshot, such as s7. Unique in the document. */
  readonly snapshot: string;
  /** The lines of the content, one space of indent for each level. With `since`, the changes. */
  readonly text: string;
  readonly title: string;
  /** The address of the frame. */
  readonly url: string;
  readonly tokens: number;
  /** The number of elements that the snapshot leaves out because of maxTokens, at least. 0 means a whole tree. */
  readonly folded: number;
  /** The frame elements in `text`, in order. */
  readonly frames: readonly FrameInfo[];
  /** True if `since` was given, but the text is a full snapshot because the base is gone or most of it changed. */
  readonly full: boolean;
}

/** FrameInfo is a frame element in a snapshot. */
export interface FrameInfo {
  readonly ref: string;
  /** The index of the line in the snapshot's text (split at newlines); -1 if the line is not in the text. */
  readonly line: number;
  /**
   * The index of the frame in window.frames of the parent. The page script in the child frame returns the same number
   * in FactsResult.index. -1 for a frame in a shadow root, which window.frames does not list.
   */
  readonly index: number;
  /** The address in the attribute src, absolute; empty for srcdoc. */
  readonly src: string;
  /** The part of the frame that is in view, in the coordinates of the child frame; absent if out of view. */
  readonly visible?: Rect;
}

export interface FindArguments {
  /** Part of a name, value or text, in any case. */
  readonly text?: string;
  /** A regular expression, in any case. No look-around and no back-references; matched in linear time. */
  readonly regex?: string;
  /** A role, such as button. */
  readonly role?: string;
  /** A CSS selector. The search includes shadow roots. */
  readonly selector?: string;
  /** The highest number of matches; default 20. */
  readonly limit?: number;
}

export interface FindResult {
  readonly matches: readonly FindMatch[];
  /** The number of all matches, at least: the search stops at 1,000. */
  readonly total: number;
}

export interface FindMatch {
  readonly ref: string;
  /** The line of a snapshot, with the ref. */
  readonly line: string;
  /** The lines above the match, from the root, such as ['main', 'table "Orders"']. */
  readonly path: readonly string[];
}

export interface ReadArguments {
  /** Default markdown. */
  readonly format?: 'markdown' | 'text' | 'html';
  readonly target?: string;
  /** The size of one part in tokens (bytes / 4), default 6,000. */
  readonly maxTokens?: number;
  /** The cursor of the last part. The other arguments except maxTokens are ignored. */
  readonly cursor?: string;
}

export interface ReadResult {
  readonly text: string;
  readonly title: string;
  readonly url: string;
  readonly tokens: number;
  /** The cursor of the next part; absent at the end. */
  readonly cursor?: string;
  /** The tokens of all parts. */
  readonly total: number;
  /** The frame elements in the content, which the worker can read too. `line` is -1. */
  readonly frames: readonly FrameInfo[];
}

export interface TargetArguments {
  readonly target: string;
}

/** ActArguments are the options of each operation that acts. */
export interface ActArguments {
  /** secrets are the kinds of secret fields into which the user allows typing; none by default. */
  readonly secrets?: readonly SecretKind[];
  /** What the answer contains about the page after the act; default diff. */
  readonly snapshot?: 'diff' | 'none' | 'full';
  /** How long the operation waits for the element to become ready, in milliseconds; default 5,000. */
  readonly timeoutMs?: number;
}

/** ActResult is the part of a result that all acts have. */
export interface ActResult {
  /** The line of the target, as in a snapshot; absent without target. */
  readonly target?: string;
  /** Whether the page could see a difference to the user's input. Only the debugger makes trusted input. */
  readonly input: 'trusted' | 'synthetic' | 'none';
  /** False if nothing changed on the page. */
  readonly changed: boolean;
  /** What changed, or a full snapshot, as text; absent with `snapshot: none`, and if nothing changed. */
  readonly changes?: string;
  /** True if `changes` is a full snapshot: most of the page changed, or `snapshot` is full. */
  readonly full?: boolean;
  /**
   * The address of a navigation to another document that began and has not replaced this document yet. The answer does
   * not wait for the navigation; the worker does.
   */
  readonly navigating?: string;
  /** The id of the snapshot after the act. Absent with `snapshot: none`. */
  readonly snapshot?: string;
  /** The address of the frame if it changed without a new document (pushState, hash). */
  readonly url?: string;
  /** The title of the document if it changed. */
  readonly title?: string;
  /** True if the page was still changing when the wait ended. */
  readonly busy?: boolean;
  /** download is the name of the file whose download began, or the address of the download. */
  readonly download?: string;
  /** notes are hints for the agent, such as "The page may need trusted input", without text of the page. */
  readonly notes: readonly string[];
}

export type MouseButton = 'left' | 'right' | 'middle';
export type Modifier = 'Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift';

export interface ClickArguments extends TargetArguments, ActArguments {
  readonly button?: MouseButton;
  readonly doubleClick?: boolean;
  readonly modifiers?: readonly Modifier[];
}

export interface ClickResult extends ActResult {
  readonly link?: ClickedLink;
}

export interface TypeArguments extends TargetArguments, ActArguments {
  /** May be empty, which empties the field. */
  readonly text: string;
  /** Keeps the text in the field and adds to its end; default false. */
  readonly append?: boolean;
  /** Sends a key for each character; default false. */
  readonly slowly?: boolean;
  /** Presses Enter afterwards; default false. */
  readonly submit?: boolean;
}

export interface TypeResult extends ActResult {
  /** The value of the field afterwards; absent for passwords, codes and card numbers. */
  readonly value?: string;
  /** True if the field contains exactly what was typed. */
  readonly exact: boolean;
}

export interface FillArguments extends ActArguments {
  readonly fields: readonly FillField[];
  readonly submit?: boolean;
}

/** FillField is a field and its new value: text, a date, a checkbox's state, or options by label or value. */
export interface FillField {
  readonly target: string;
  readonly value: string | boolean | readonly string[];
}

export interface FillResult extends ActResult {
  /** One entry per field, in order. A field that fails does not stop the others. */
  readonly fields: readonly FillOutcome[];
  readonly submitted: boolean;
}

export interface FillOutcome {
  readonly target: string;
  readonly ok: boolean;
  /** The value afterwards; absent for passwords, codes and card numbers. */
  readonly value?: string;
  readonly error?: PageError;
}

export interface SelectArguments extends TargetArguments, ActArguments {
  /** The labels or values of the options. More than one needs a list of multiple choice. */
  readonly values: readonly string[];
}

export interface SelectResult extends ActResult {
  /** The labels of the chosen options afterwards. */
  readonly chosen: readonly string[];
}

export interface DragArguments extends ActArguments {
  readonly startTarget: string;
  readonly endTarget?: string;
  /** endPoint replaces `endTarget`: a point in another frame, in the coordinates of this frame. */
  readonly endPoint?: { readonly x: number; readonly y: number };
}

export interface PressArguments extends ActArguments {
  /** A key with modifiers, such as Enter, ArrowDown, a, Control+A, Shift+Tab. */
  readonly key: string;
  /** The element that gets the key; default the focused element. */
  readonly target?: string;
}

export interface ScrollArguments extends ActArguments {
  /** Scrolls the element into view; with `direction`, scrolls the scrollable area around the element. */
  readonly target?: string;
  readonly direction?: 'up' | 'down' | 'left' | 'right' | 'top' | 'bottom';
  /** Pixels; default 80 % of the visible size. */
  readonly amount?: number;
}

export interface ScrollResult extends ActResult {
  readonly position: { readonly x: number; readonly y: number };
  /** The size of the scrolled content and of its visible part. */
  readonly size: { readonly width: number; readonly height: number };
  readonly visible: { readonly width: number; readonly height: number };
}

/** WaitForArguments: the operation waits until all given conditions hold. */
export interface WaitForArguments {
  readonly text?: string;
  readonly textGone?: string;
  readonly selector?: string;
  /** The state of the selector's first match; default visible. */
  readonly state?: 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled';
  /** A part of the address; with `*`, a pattern for the whole address. */
  readonly url?: string;
  readonly load?: 'domcontentloaded' | 'load';
  /** Only waits, in milliseconds. */
  readonly timeMs?: number;
  /** Default 30,000. */
  readonly timeoutMs?: number;
}

export interface WaitForResult {
  /** What came, such as `text "Done" after 1.2 s`. */
  readonly message: string;
  readonly afterMs: number;
  /** The line with the text or the element, as in a snapshot, if there is one. */
  readonly line?: string;
}

export interface LocateArguments extends TargetArguments {
  /** Scrolls the element into view and waits until it is visible, still, enabled and hit; default false. */
  readonly ready?: boolean;
  /** Default 5,000. */
  readonly timeoutMs?: number;
}

export interface LocateResult {
  readonly line: string;
  readonly rect: Rect;
  /** The point that input should hit; absent if the element has no visible part in the viewport. */
  readonly point?: { readonly x: number; readonly y: number };
  /** Whether the point hits the element, and otherwise what is in the way. */
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
  /** True for passwords, codes and card numbers. */
  readonly secret: boolean;
  /** The absolute URL of the link that contains the element. */
  readonly href?: string;
  /** The absolute address that the form around the element submits to. */
  readonly formAction?: string;
}

export type FactsArguments = Readonly<Record<string, never>>;

export interface FactsResult {
  readonly url: string;
  readonly title: string;
  readonly readyState: DocumentReadyState;
  /** The index of this frame in window.frames of its parent; -1 in the top frame and in shadow roots. */
  readonly index: number;
  readonly hasFocus: boolean;
  readonly visibility: DocumentVisibilityState;
  /** width and height are the size of the viewport of the frame. */
  readonly size: { readonly width: number; readonly height: number };
}

export interface WatchResult {
  /** The id of the snapshot before the act. */
  readonly snapshot: string;
}

export interface ChangesArguments extends ActArguments {
  /** The id of WatchResult. */
  readonly since: string;
}
