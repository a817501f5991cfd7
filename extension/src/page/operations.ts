/**
 * Defines the operations of the page script, which runs in the isolated world of each frame of a document.
 *
 * The worker injects the page script, and runs its operations over a port. Operations, answers and progress reports are
 * plain JSON. All operations in a frame share the state of the document, such as refs and snapshots. The state is lost
 * when the document is replaced.
 *
 * # Frames
 *
 * Each frame has a separate page script, and each operation acts in one frame. The worker numbers the frames, and gives
 * each operation the prefix of its frame: '' for the top frame, 'f3' for frame 3. A ref consists of the frame's prefix,
 * the letter e and a number, such as e12 or f3e12. A snapshot lists the frame elements that it contains in `frames`.
 * The worker finds each frame by FrameInfo.index, and joins the texts of the frames with joinFrames (join-frames.ts).
 *
 * # Targets
 *
 * A target is a ref from a snapshot, from a search result or from an error. If the element of a ref is gone, the
 * operation fails with stale_ref and names the most similar element. An operation never acts on an element other than
 * its target.
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
  /** snapshot returns the visible content as text, with refs. */
  snapshot: { arguments: SnapshotArguments; result: SnapshotResult };
  /** find returns the snapshot lines that match. */
  find: { arguments: FindArguments; result: FindResult };
  /** read returns the content as Markdown, text or HTML, in parts. */
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
  /** locate returns the position of an element; if `ready` is true, after input can reach the element. */
  locate: { arguments: LocateArguments; result: LocateResult };
  /** describe returns what an element is, so that the user can decide about a call. */
  describe: { arguments: TargetArguments; result: DescribeResult };
  /** inspect returns the kinds of secret fields that the frame shows, and of those into which a call would type. */
  inspect: { arguments: InspectArguments; result: InspectResult };
  /** facts returns the URL, title, size and state of the frame, which the site permissions need. */
  facts: { arguments: FactsArguments; result: FactsResult };
  /** frameAreas returns the positions of the child frames in the frame. */
  frameAreas: { arguments: FactsArguments; result: frame.FrameAreasResult };
  /** framePoint converts a point of a child frame to coordinates of this frame. */
  framePoint: { arguments: frame.FramePointArguments; result: frame.FramePointResult };
  /** focusFrame focuses the frame element of a child frame. */
  focusFrame: { arguments: frame.ChildFrame; result: frame.FocusFrameResult };
  /**
   * changes returns what changed on the page since the operation `watch`, which the worker calls before trusted input.
   */
  watch: { arguments: FactsArguments; result: WatchResult };
  changes: { arguments: ChangesArguments; result: ActResult };
  /** storage reads and changes the frame's localStorage, sessionStorage and IndexedDB. */
  storage: { arguments: StorageArguments; result: StorageResult };
  /** hit returns the element at a point of the viewport. */
  hit: { arguments: HitArguments; result: HitResult };
  /** lend shares an element or the document with code in another JavaScript world of the page. */
  lend: { arguments: LendArguments; result: LendResult };
  /** styles returns the computed styles of an element. */
  styles: { arguments: StylesArguments; result: StylesResult };
}

/** PageOperationName is the name of a page script operation, such as click. */
export type PageOperationName = keyof PageCalls;

/** Operation is a page script operation as the worker sends it. `prefix` is the prefix of the frame, such as f3. */
export type Operation<N extends PageOperationName> = {
  [P in N]: { readonly name: P; readonly prefix: string; readonly arguments: PageCalls[P]['arguments'] };
}[N];
export type PageOperation = Operation<PageOperationName>;

/** PageResult is the result type of the page script operation with the name N. */
export type PageResult<N extends PageOperationName> = PageCalls[N]['result'];

/** PageAnswer is the result or the error of a page script operation. Even a cancelled operation sends an answer. */
export type PageAnswer<N extends PageOperationName = PageOperationName> =
  | { readonly ok: true; readonly result: PageResult<N> }
  | { readonly ok: false; readonly error: PageError };

/**
 * PageNumbers are the highest element and snapshot numbers that a frame has used. The next document of the frame
 * continues these numbers, so that an old ref never names an element of a newer document.
 */
export interface PageNumbers {
  readonly ref: number;
  readonly snapshot: number;
}

/** PageErrorCode is the reason why a page script operation failed. */
export type PageErrorCode =
  /** The element of the ref is gone, or the ref never existed in the document. */
  | 'stale_ref'
  /** Input cannot reach the element, because it is hidden, disabled, moving, covered, or outside of the page. */
  | 'not_hittable'
  /** The element does not support the operation, such as typing into a picture. */
  | 'wrong_element'
  /** The page rejected the input: a field did not accept the text, or an option was not selected. */
  | 'rejected'
  /** The field is a secret field, and the user has not approved typing into it. */
  | 'needs_approval'
  /** The arguments of the operation are invalid. The error message lists what is allowed. */
  | 'invalid_arguments'
  /** The condition of a wait was not met within the time limit. */
  | 'timeout'
  /** The operation was cancelled. `done` describes what the operation did before the cancellation. */
  | 'cancelled'
  /** The page script has a defect, or the page is being unloaded. */
  | 'internal';

/** PageError describes why a page script operation failed, and what the agent can do next. */
export interface PageError {
  readonly code: PageErrorCode;
  /** message contains no text of the page, because an agent may trust it. */
  readonly message: string;
  /** pageText is text of the page about the error, such as the snapshot line of an element. */
  readonly pageText?: string;
  /** The ref of the most similar element (stale_ref), or of the element in front of the target (not_hittable). */
  readonly ref?: string;
  /** What the operation did before it failed, such as "typed 12 of 40 characters"; absent if it did nothing. */
  readonly done?: string;
}

/** PageProgress is one progress report of a page script operation. `total` is absent if the total is unknown. */
export interface PageProgress {
  readonly message: string;
  readonly progress?: number;
  readonly total?: number;
}

/** Rect is a rectangle in CSS pixels, relative to the viewport of the frame. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** SnapshotMode selects which content a snapshot contains. */
export type SnapshotMode =
  /** Contains all visible content. */
  | 'full'
  /** Contains only controls, headings and status messages. */
  | 'interactive'
  /** Contains only the content in the visible part of the frame. */
  | 'viewport';

export interface SnapshotArguments {
  /** The ref of the root element of the snapshot. By default, the root is the whole frame. */
  readonly target?: string;
  /** The default mode is full. */
  readonly mode?: SnapshotMode;
  /** The ID of an earlier snapshot, such as s7. The result then contains only the changes since that snapshot. */
  readonly since?: string;
  /** The maximum number of levels below the root. By default, the snapshot contains all levels. */
  readonly depth?: number;
  /**
   * The maximum size of the text in tokens (bytes / 4), 6,000 by default. With maxTokens 0, the snapshot is complete.
   */
  readonly maxTokens?: number;
  /** The visible part of the frame, by default the viewport. For a child frame, the worker passes FrameInfo.visible. */
  readonly view?: Rect;
}

export interface SnapshotResult {
  /** The ID of this snapshot, such as s7. Snapshot IDs are unique in the document. */
  readonly snapshot: string;
  /** The lines of the content, indented by one space per level. If `since` was given, the text contains the changes. */
  readonly text: string;
  readonly title: string;
  /** The URL of the frame. */
  readonly url: string;
  readonly tokens: number;
  /** The minimum number of elements that are left out because of maxTokens; 0 for a complete snapshot. */
  readonly folded: number;
  /** The frame elements in `text`, in order. */
  readonly frames: readonly FrameInfo[];
  /** True if `since` was given, but the text is a full snapshot, because the old one is gone or most lines changed. */
  readonly full: boolean;
}

/** FrameInfo describes a frame element in a snapshot. */
export interface FrameInfo {
  readonly ref: string;
  /** The index of the frame's line in the snapshot's text; -1 if the text does not contain the line. */
  readonly line: number;
  /**
   * The index of the frame in window.frames of its parent, as in FactsResult.index; -1 for a frame in a shadow root.
   */
  readonly index: number;
  /** The absolute URL in the attribute src; empty for srcdoc. */
  readonly src: string;
  /** The part of the frame in view, in the coordinates of the child frame; absent if the frame is out of view. */
  readonly visible?: Rect;
}

export interface FindArguments {
  /** A part of a name, value or text. The search ignores case. */
  readonly text?: string;
  /** A regular expression without look-around and back-references, which ignores case and is matched in linear time. */
  readonly regex?: string;
  /** An ARIA role, such as button. */
  readonly role?: string;
  /** A CSS selector. The search by CSS selector includes shadow roots. */
  readonly selector?: string;
  /** The maximum number of matches, 20 by default. */
  readonly limit?: number;
}

export interface FindResult {
  readonly matches: readonly FindMatch[];
  /** The number of all matches. The search stops at 1,000 matches. */
  readonly total: number;
}

export interface FindMatch {
  readonly ref: string;
  /** The snapshot line of the match, with the ref. */
  readonly line: string;
  /** The snapshot lines of the ancestors of the match, outermost first, such as ['main', 'table "Orders"']. */
  readonly path: readonly string[];
}

export interface ReadArguments {
  /** The default format is markdown. */
  readonly format?: 'markdown' | 'text' | 'html';
  readonly target?: string;
  /** The maximum size of one part in tokens (bytes / 4), 6,000 by default. */
  readonly maxTokens?: number;
  /** The cursor that the previous part returned. With a cursor, all other arguments except maxTokens are ignored. */
  readonly cursor?: string;
}

export interface ReadResult {
  readonly text: string;
  readonly title: string;
  readonly url: string;
  readonly tokens: number;
  /** The cursor of the next part; absent after the last part. */
  readonly cursor?: string;
  /** The number of tokens in all parts together. */
  readonly total: number;
  /**
   * The frame elements in the content, which the worker can read separately. The field `line` of each FrameInfo is -1.
   */
  readonly frames: readonly FrameInfo[];
}

export interface TargetArguments {
  readonly target: string;
}

/** ActArguments are the options of each operation that acts on the page. */
export interface ActArguments {
  /** secrets are the kinds of secret fields into which the user allows typing. By default, no kind is allowed. */
  readonly secrets?: readonly SecretKind[];
  /** What the result contains about the page after the action, by default the changes (diff). */
  readonly snapshot?: 'diff' | 'none' | 'full';
  /** How long the operation waits until input can reach the element, in milliseconds, 5,000 by default. */
  readonly timeoutMs?: number;
}

/** ActResult contains the fields that the results of all acting operations have. */
export interface ActResult {
  /** The snapshot line of the target; absent if the operation has no target. */
  readonly target?: string;
  /** Whether the page received trusted input (through the debugger), synthetic input, or no input. */
  readonly input: 'trusted' | 'synthetic' | 'none';
  /** False if nothing changed on the page. */
  readonly changed: boolean;
  /** The changes on the page, or a full snapshot, as text; absent with `snapshot: none` and if nothing changed. */
  readonly changes?: string;
  /** True if `changes` is a full snapshot, because most of the page changed or because `snapshot` is full. */
  readonly full?: boolean;
  /** The URL of a started navigation that has not replaced the document yet. Only the worker waits for navigations. */
  readonly navigating?: string;
  /** The ID of the snapshot after the action. The ID is absent with `snapshot: none`. */
  readonly snapshot?: string;
  /** The URL of the frame, if the URL changed without a new document (pushState, hash). */
  readonly url?: string;
  /** The title of the document, if the title changed. */
  readonly title?: string;
  /** True if the page was still changing when the operation stopped waiting. */
  readonly busy?: boolean;
  /** download is the file name or the URL of a download that the action started. */
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
  /** The text to type. An empty text clears the field. */
  readonly text: string;
  /** If true, the text is appended to the text in the field, instead of replacing it; false by default. */
  readonly append?: boolean;
  /** If true, key events are sent for each character; false by default. */
  readonly slowly?: boolean;
  /** If true, Enter is pressed after typing; false by default. */
  readonly submit?: boolean;
}

export interface TypeResult extends ActResult {
  /** The value of the field after typing; absent for passwords, codes and card numbers. */
  readonly value?: string;
  /** True if the field contains exactly the text that was typed. */
  readonly exact: boolean;
}

export interface FillArguments extends ActArguments {
  readonly fields: readonly FillField[];
  readonly submit?: boolean;
}

/** FillField is a field and its new value: a text, a date, the state of a checkbox, or options by label or value. */
export interface FillField {
  readonly target: string;
  readonly value: string | boolean | readonly string[];
}

export interface FillResult extends ActResult {
  /** One outcome per field, in order. If one field fails, the other fields are still filled. */
  readonly fields: readonly FillOutcome[];
  readonly submitted: boolean;
}

export interface FillOutcome {
  readonly target: string;
  readonly ok: boolean;
  /** The value of the field after filling; absent for passwords, codes and card numbers. */
  readonly value?: string;
  readonly error?: PageError;
}

export interface SelectArguments extends TargetArguments, ActArguments {
  /** The labels or values of the options to select. Several values require a list that allows multiple selection. */
  readonly values: readonly string[];
}

export interface SelectResult extends ActResult {
  /** The labels of the options that are selected after the operation. */
  readonly chosen: readonly string[];
}

export interface DragArguments extends ActArguments {
  readonly startTarget: string;
  readonly endTarget?: string;
  /** endPoint replaces `endTarget` for a drag to another frame, in the coordinates of the start element's frame. */
  readonly endPoint?: { readonly x: number; readonly y: number };
}

export interface PressArguments extends ActArguments {
  /** A key with optional modifiers, such as Enter, ArrowDown, a, Control+A or Shift+Tab. */
  readonly key: string;
  /** The element that receives the key, by default the focused element. */
  readonly target?: string;
}

export interface ScrollArguments extends ActArguments {
  /**
   * The element to scroll into view. If `direction` is set, the scrollable area around the element is scrolled instead.
   */
  readonly target?: string;
  readonly direction?: 'up' | 'down' | 'left' | 'right' | 'top' | 'bottom';
  /** The distance in pixels, by default 80 % of the visible size. */
  readonly amount?: number;
}

export interface ScrollResult extends ActResult {
  readonly position: { readonly x: number; readonly y: number };
  /** The size of the scrolled content, and the size of its visible part. */
  readonly size: { readonly width: number; readonly height: number };
  readonly visible: { readonly width: number; readonly height: number };
}

/** WaitForArguments are the conditions of a wait. The operation waits until all given conditions are met. */
export interface WaitForArguments {
  readonly text?: string;
  readonly textGone?: string;
  readonly selector?: string;
  /** The state that the first match of `selector` must reach, by default visible. */
  readonly state?: 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled';
  /** A part of the URL. If url contains `*`, url is a pattern for the whole URL. */
  readonly url?: string;
  readonly load?: 'domcontentloaded' | 'load';
  /** Waits only for a fixed time, in milliseconds. */
  readonly timeMs?: number;
  /** The time limit in milliseconds, 30,000 by default. */
  readonly timeoutMs?: number;
}

export interface WaitForResult {
  /** The condition that was met, such as `text "Done" after 1.2 s`. */
  readonly message: string;
  readonly afterMs: number;
  /** The snapshot line that contains the awaited text or element, if any. */
  readonly line?: string;
}

export interface LocateArguments extends TargetArguments {
  /** If true, scrolls the element into view and waits until input can reach it; false by default. */
  readonly ready?: boolean;
  /** The time limit in milliseconds, 5,000 by default. */
  readonly timeoutMs?: number;
}

export interface LocateResult {
  readonly line: string;
  readonly rect: Rect;
  /** The point at which input reaches the element; absent if no part of the element is in the viewport. */
  readonly point?: { readonly x: number; readonly y: number };
  /** True if input at the point reaches the element. Otherwise, `covered` describes the element in front. */
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
  /** The absolute URL to which the enclosing form submits. */
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
  /** width and height are the size of the frame's viewport. */
  readonly size: { readonly width: number; readonly height: number };
}

export interface WatchResult {
  /** The ID of the snapshot before the action. */
  readonly snapshot: string;
}

export interface ChangesArguments extends ActArguments {
  /** The snapshot ID from WatchResult. */
  readonly since: string;
}
