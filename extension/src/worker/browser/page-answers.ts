// Validates the answers of page scripts, because an attacker may control the renderer process of a page.

import type * as devtools from '../../page/devtools-operations.ts';
import type { FocusFrameResult, FrameArea, FrameAreasResult, FramePointResult } from '../../page/frame-operations.ts';
import type { HitResult } from '../../page/hit-operation.ts';
import type { InputRequest } from '../../page/input-request.ts';
import type * as page from '../../page/operations.ts';
import type { InspectResult, SecretKind } from '../../page/secret-kind.ts';
import type { StorageResult } from '../../page/storage-operation.ts';
import type { UploadResult } from '../../page/upload-operation.ts';
import { isRecord } from '../../record.ts';

/** TypeGuard reports whether a value has the type T. */
type TypeGuard<T> = (value: unknown) => value is T;

const isText: TypeGuard<string> = (value) => typeof value === 'string';
const isFlag: TypeGuard<boolean> = (value) => typeof value === 'boolean';
const isNumber: TypeGuard<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value);

function optional<T>(guard: TypeGuard<T>): TypeGuard<T | undefined> {
  return (value) => value === undefined || guard(value);
}

function listOf<T>(guard: TypeGuard<T>): TypeGuard<readonly T[]> {
  return (value) => Array.isArray(value) && value.every((item: unknown) => guard(item));
}

function oneOf<T extends string>(...texts: readonly T[]): TypeGuard<T> {
  return (value): value is T => texts.some((text) => text === value);
}

/** shapeOf returns a type guard that checks every property of an object. */
function shapeOf<T extends object>(guards: { readonly [K in keyof T]-?: TypeGuard<T[K]> }): TypeGuard<T> {
  const entries = Object.entries<TypeGuard<unknown>>(guards);
  return (value): value is T => isRecord(value) && entries.every(([key, guard]) => guard(value[key]));
}

const rect = shapeOf<page.Rect>({ x: isNumber, y: isNumber, width: isNumber, height: isNumber });
const point = shapeOf<{ readonly x: number; readonly y: number }>({ x: isNumber, y: isNumber });
const size = shapeOf<{ readonly width: number; readonly height: number }>({ width: isNumber, height: isNumber });
const frame = shapeOf<page.FrameInfo>({
  ref: isText,
  line: isNumber,
  index: isNumber,
  src: isText,
  visible: optional(rect),
});
const frames = listOf(frame);

const secretKind = oneOf<SecretKind>('password', 'card', 'code');

const pageError = shapeOf<page.PageError>({
  code: oneOf(
    'stale_ref',
    'not_hittable',
    'wrong_element',
    'rejected',
    'needs_approval',
    'invalid_arguments',
    'timeout',
    'cancelled',
    'internal',
  ),
  message: isText,
  pageText: optional(isText),
  ref: optional(isText),
  done: optional(isText),
});

const act = {
  target: optional(isText),
  input: oneOf('trusted', 'synthetic', 'none'),
  changed: isFlag,
  changes: optional(isText),
  full: optional(isFlag),
  navigating: optional(isText),
  snapshot: optional(isText),
  url: optional(isText),
  title: optional(isText),
  busy: optional(isFlag),
  download: optional(isText),
  notes: listOf(isText),
} as const;
const actResult = shapeOf<page.PageActionResult>(act);

/** isResult contains a type guard for the result of each page script operation. */
export const isResult: { readonly [N in page.PageOperationName]: TypeGuard<page.PageResult<N>> } = {
  snapshot: shapeOf<page.SnapshotResult>({
    snapshot: isText,
    text: isText,
    title: isText,
    url: isText,
    tokens: isNumber,
    folded: isNumber,
    frames,
    full: isFlag,
  }),
  find: shapeOf<page.FindResult>({
    matches: listOf(shapeOf<page.FindMatch>({ ref: isText, line: isText, path: listOf(isText) })),
    total: isNumber,
  }),
  read: shapeOf<page.ReadResult>({
    text: isText,
    title: isText,
    url: isText,
    tokens: isNumber,
    cursor: optional(isText),
    total: isNumber,
    frames,
  }),
  click: shapeOf<page.ClickResult>({
    ...act,
    link: optional(shapeOf<{ readonly href: string; readonly newTab: boolean }>({ href: isText, newTab: isFlag })),
  }),
  type: shapeOf<page.TypeResult>({ ...act, value: optional(isText), exact: isFlag }),
  fill: shapeOf<page.FillResult>({
    ...act,
    fields: listOf(
      shapeOf<page.FillOutcome>({ target: isText, ok: isFlag, value: optional(isText), error: optional(pageError) }),
    ),
    submitted: isFlag,
  }),
  select: shapeOf<page.SelectResult>({ ...act, chosen: listOf(isText) }),
  hover: actResult,
  drag: actResult,
  press: actResult,
  scroll: shapeOf<page.ScrollResult>({ ...act, position: point, size, visible: size }),
  upload: shapeOf<UploadResult>({
    ...act,
    files: listOf(shapeOf<{ readonly name: string; readonly bytes: number }>({ name: isText, bytes: isNumber })),
    by: oneOf('field', 'drop'),
  }),
  waitFor: shapeOf<page.WaitForResult>({ message: isText, afterMs: isNumber, line: optional(isText) }),
  locate: shapeOf<page.LocateResult>({
    line: isText,
    rect,
    point: optional(point),
    hit: isFlag,
    covered: optional(shapeOf<{ readonly ref: string; readonly line: string }>({ ref: isText, line: isText })),
    visible: isFlag,
    enabled: isFlag,
  }),
  describe: shapeOf<page.DescribeResult>({
    line: isText,
    role: isText,
    elementName: isText,
    tag: isText,
    secret: isFlag,
    href: optional(isText),
    formAction: optional(isText),
  }),
  inspect: shapeOf<InspectResult>({ shown: listOf(secretKind), typed: listOf(secretKind) }),
  facts: shapeOf<page.FactsResult>({
    url: isText,
    title: isText,
    readyState: oneOf('loading', 'interactive', 'complete'),
    index: isNumber,
    hasFocus: isFlag,
    visibility: oneOf('visible', 'hidden'),
    size,
  }),
  frameAreas: shapeOf<FrameAreasResult>({
    areas: listOf(shapeOf<FrameArea>({ index: isNumber, area: rect })),
  }),
  framePoint: shapeOf<FramePointResult>({ point: optional(point), hit: isFlag, covered: optional(isText) }),
  focusFrame: shapeOf<FocusFrameResult>({ focused: isFlag }),
  watch: shapeOf<page.WatchResult>({ snapshot: isText }),
  changes: actResult,
  hit: shapeOf<HitResult>({ line: optional(isText), frame: optional(frame) }),
  storage: shapeOf<StorageResult>({
    found: isFlag,
    lines: optional(listOf(isText)),
    value: optional(isText),
    total: optional(isNumber),
    next: optional(isNumber),
  }),
  lend: shapeOf<devtools.LendResult>({ name: isText }),
  styles: shapeOf<devtools.StylesResult>({
    line: isText,
    values: listOf(shapeOf<devtools.StyleValue>({ property: isText, value: isText })),
  }),
};

/** readAnswer returns the answer of an operation if the answer is valid, and undefined for an invalid answer. */
export function readAnswer<N extends page.PageOperationName>(name: N, value: unknown): page.PageAnswer<N> | undefined {
  if (!isRecord(value)) return undefined;
  const { ok, result, error } = value;
  if (ok !== true) return pageError(error) ? { ok: false, error } : undefined;
  const isValid: TypeGuard<page.PageResult<N>> = isResult[name];
  return isValid(result) ? { ok: true, result } : undefined;
}

const modifiers = listOf(oneOf<page.Modifier>('Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'));
const isMouseRequest = shapeOf<Extract<InputRequest, { kind: 'move' | 'press' | 'release' }>>({
  kind: oneOf('move', 'press', 'release'),
  x: isNumber,
  y: isNumber,
  button: oneOf('left', 'right', 'middle'),
  count: isNumber,
  modifiers,
});
const isKeyRequest = shapeOf<Extract<InputRequest, { kind: 'key' }>>({
  kind: oneOf('key'),
  key: isText,
  code: isText,
  keyCode: isNumber,
  text: isText,
  modifiers,
  commands: listOf(isText),
});
const isTextRequest = shapeOf<Extract<InputRequest, { kind: 'text' }>>({ kind: oneOf('text'), text: isText });
const isFocusRequest = shapeOf<Extract<InputRequest, { kind: 'focus' | 'leave' }>>({
  kind: oneOf('focus', 'leave'),
});

/** isInputRequest reports whether a page script's request for trusted input is valid. */
export const isInputRequest: TypeGuard<InputRequest> = (value): value is InputRequest =>
  isMouseRequest(value) || isKeyRequest(value) || isTextRequest(value) || isFocusRequest(value);

/** isProgress reports whether a page script's progress report is valid. */
export const isProgress: TypeGuard<page.PageProgress> = shapeOf<page.PageProgress>({
  message: isText,
  progress: optional(isNumber),
  total: optional(isNumber),
});
