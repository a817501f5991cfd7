// page-answers.ts checks that the answers of page scripts are valid, because an attacker may control the renderer
// process of a page.

import type * as devtools from '../../page/devtools-operations.ts';
import type { FocusFrameResult, FrameArea, FrameAreasResult, FramePointResult } from '../../page/frame-operations.ts';
import type { HitTestResult } from '../../page/hit-operation.ts';
import type { InputRequest } from '../../page/input-request.ts';
import type * as page from '../../page/operations.ts';
import type { InspectResult, SecretKind } from '../../page/secret-kind.ts';
import type { StorageResult } from '../../page/storage-operation.ts';
import type { UploadResult } from '../../page/upload-operation.ts';
import { isRecord } from '../../record.ts';

type TypeGuard<T> = (value: unknown) => value is T;

const isText: TypeGuard<string> = (value) => typeof value === 'string';
const isBoolean: TypeGuard<boolean> = (value) => typeof value === 'boolean';
const isNumber: TypeGuard<number> = (value): value is number => typeof value === 'number' && Number.isFinite(value);

function makeOptionalGuard<T>(guard: TypeGuard<T>): TypeGuard<T | undefined> {
  return (value) => value === undefined || guard(value);
}

function makeListGuard<T>(guard: TypeGuard<T>): TypeGuard<readonly T[]> {
  return (value) => Array.isArray(value) && value.every((item: unknown) => guard(item));
}

function makeChoiceGuard<T extends string>(...texts: readonly T[]): TypeGuard<T> {
  return (value): value is T => texts.some((text) => text === value);
}

function makeShapeGuard<T extends object>(fieldGuards: { readonly [K in keyof T]-?: TypeGuard<T[K]> }): TypeGuard<T> {
  const entries = Object.entries<TypeGuard<unknown>>(fieldGuards);
  return (value): value is T => isRecord(value) && entries.every(([key, guard]) => guard(value[key]));
}

const rect = makeShapeGuard<page.Rect>({ x: isNumber, y: isNumber, width: isNumber, height: isNumber });
const point = makeShapeGuard<{ readonly x: number; readonly y: number }>({ x: isNumber, y: isNumber });
const size = makeShapeGuard<{ readonly width: number; readonly height: number }>({ width: isNumber, height: isNumber });
const frame = makeShapeGuard<page.FrameInfo>({
  ref: isText,
  line: isNumber,
  index: isNumber,
  src: isText,
  visible: makeOptionalGuard(rect),
});
const frames = makeListGuard(frame);

const secretKind = makeChoiceGuard<SecretKind>('password', 'card', 'code');

const pageError = makeShapeGuard<page.PageError>({
  code: makeChoiceGuard(
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
  pageText: makeOptionalGuard(isText),
  ref: makeOptionalGuard(isText),
  done: makeOptionalGuard(isText),
});

const actionResultGuards = {
  target: makeOptionalGuard(isText),
  input: makeChoiceGuard('trusted', 'synthetic', 'none'),
  changed: isBoolean,
  changes: makeOptionalGuard(isText),
  full: makeOptionalGuard(isBoolean),
  navigating: makeOptionalGuard(isText),
  snapshot: makeOptionalGuard(isText),
  url: makeOptionalGuard(isText),
  title: makeOptionalGuard(isText),
  busy: makeOptionalGuard(isBoolean),
  download: makeOptionalGuard(isText),
  notes: makeListGuard(isText),
} as const;
const isActionResult = makeShapeGuard<page.PageActionResult>(actionResultGuards);

export const isResult: { readonly [N in page.PageOperationName]: TypeGuard<page.PageResult<N>> } = {
  snapshot: makeShapeGuard<page.SnapshotResult>({
    snapshot: isText,
    text: isText,
    title: isText,
    url: isText,
    tokens: isNumber,
    folded: isNumber,
    frames,
    full: isBoolean,
    shortened: makeOptionalGuard(isNumber),
    loading: makeOptionalGuard(isBoolean),
  }),
  find: makeShapeGuard<page.FindResult>({
    matches: makeListGuard(makeShapeGuard<page.FindMatch>({ ref: isText, line: isText, path: makeListGuard(isText) })),
    total: isNumber,
  }),
  read: makeShapeGuard<page.ReadResult>({
    text: isText,
    title: isText,
    url: isText,
    tokens: isNumber,
    cursor: makeOptionalGuard(isText),
    total: isNumber,
    cut: makeOptionalGuard(isBoolean),
    loading: makeOptionalGuard(isBoolean),
    frames,
  }),
  click: makeShapeGuard<page.ClickResult>({
    ...actionResultGuards,
    link: makeOptionalGuard(
      makeShapeGuard<{ readonly href: string; readonly newTab: boolean }>({ href: isText, newTab: isBoolean }),
    ),
  }),
  type: makeShapeGuard<page.TypeResult>({ ...actionResultGuards, value: makeOptionalGuard(isText), exact: isBoolean }),
  fill: makeShapeGuard<page.FillResult>({
    ...actionResultGuards,
    fields: makeListGuard(
      makeShapeGuard<page.FillOutcome>({
        target: isText,
        ok: isBoolean,
        value: makeOptionalGuard(isText),
        error: makeOptionalGuard(pageError),
      }),
    ),
    submitted: isBoolean,
  }),
  select: makeShapeGuard<page.SelectResult>({
    ...actionResultGuards,
    chosen: makeListGuard(isText),
    shown: isBoolean,
  }),
  hover: isActionResult,
  drag: isActionResult,
  press: isActionResult,
  scroll: makeShapeGuard<page.ScrollResult>({ ...actionResultGuards, position: point, size, visible: size }),
  upload: makeShapeGuard<UploadResult>({
    ...actionResultGuards,
    files: makeListGuard(
      makeShapeGuard<{ readonly name: string; readonly bytes: number }>({ name: isText, bytes: isNumber }),
    ),
    by: makeChoiceGuard('field', 'drop'),
  }),
  waitFor: makeShapeGuard<page.WaitForResult>({
    message: isText,
    waitedMs: isNumber,
    line: makeOptionalGuard(isText),
  }),
  locate: makeShapeGuard<page.LocateResult>({
    line: isText,
    rect,
    point: makeOptionalGuard(point),
    hit: isBoolean,
    covered: makeOptionalGuard(
      makeShapeGuard<{ readonly ref: string; readonly line: string }>({ ref: isText, line: isText }),
    ),
    visible: isBoolean,
    enabled: isBoolean,
  }),
  describe: makeShapeGuard<page.DescribeResult>({
    line: isText,
    role: isText,
    elementName: isText,
    tag: isText,
    secret: isBoolean,
    href: makeOptionalGuard(isText),
    formAction: makeOptionalGuard(isText),
  }),
  inspect: makeShapeGuard<InspectResult>({ shown: makeListGuard(secretKind), typed: makeListGuard(secretKind) }),
  facts: makeShapeGuard<page.PageFactsResult>({
    url: isText,
    title: isText,
    readyState: makeChoiceGuard('loading', 'interactive', 'complete'),
    index: isNumber,
    hasFocus: isBoolean,
    visibility: makeChoiceGuard('visible', 'hidden'),
    size,
  }),
  frameAreas: makeShapeGuard<FrameAreasResult>({
    areas: makeListGuard(makeShapeGuard<FrameArea>({ index: isNumber, area: rect })),
  }),
  framePoint: makeShapeGuard<FramePointResult>({
    point: makeOptionalGuard(point),
    hit: isBoolean,
    covered: makeOptionalGuard(isText),
  }),
  focusFrame: makeShapeGuard<FocusFrameResult>({ focused: isBoolean }),
  watch: makeShapeGuard<page.ChangeWatchResult>({ snapshot: isText }),
  changes: isActionResult,
  hit: makeShapeGuard<HitTestResult>({ line: makeOptionalGuard(isText), frame: makeOptionalGuard(frame) }),
  storage: makeShapeGuard<StorageResult>({
    found: isBoolean,
    lines: makeOptionalGuard(makeListGuard(isText)),
    value: makeOptionalGuard(isText),
    total: makeOptionalGuard(isNumber),
    next: makeOptionalGuard(isNumber),
  }),
  lend: makeShapeGuard<devtools.ShareResult>({ name: isText }),
  styles: makeShapeGuard<devtools.StylesResult>({
    line: isText,
    values: makeListGuard(makeShapeGuard<devtools.StyleValue>({ property: isText, value: isText })),
  }),
};

export function readPageAnswer<N extends page.PageOperationName>(
  name: N,
  value: unknown,
): page.PageAnswer<N> | undefined {
  if (!isRecord(value)) return undefined;
  const { ok, result, error } = value;
  if (ok !== true) return pageError(error) ? { ok: false, error } : undefined;
  const isValid: TypeGuard<page.PageResult<N>> = isResult[name];
  return isValid(result) ? { ok: true, result } : undefined;
}

const modifiers = makeListGuard(makeChoiceGuard<page.Modifier>('Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'));
const isMouseRequest = makeShapeGuard<Extract<InputRequest, { kind: 'move' | 'press' | 'release' }>>({
  kind: makeChoiceGuard('move', 'press', 'release'),
  x: isNumber,
  y: isNumber,
  button: makeChoiceGuard('left', 'right', 'middle'),
  count: isNumber,
  modifiers,
});
const isKeyRequest = makeShapeGuard<Extract<InputRequest, { kind: 'key' }>>({
  kind: makeChoiceGuard('key'),
  key: isText,
  code: isText,
  keyCode: isNumber,
  text: isText,
  modifiers,
  commands: makeListGuard(isText),
});
const isTextRequest = makeShapeGuard<Extract<InputRequest, { kind: 'text' }>>({
  kind: makeChoiceGuard('text'),
  text: isText,
});
const isFocusRequest = makeShapeGuard<Extract<InputRequest, { kind: 'focus' | 'leave' }>>({
  kind: makeChoiceGuard('focus', 'leave'),
});

export const isInputRequest: TypeGuard<InputRequest> = (value): value is InputRequest =>
  isMouseRequest(value) || isKeyRequest(value) || isTextRequest(value) || isFocusRequest(value);

export const isProgress: TypeGuard<page.PageProgress> = makeShapeGuard<page.PageProgress>({
  message: isText,
  progress: makeOptionalGuard(isNumber),
  total: makeOptionalGuard(isNumber),
  doneSteps: makeOptionalGuard(isNumber),
});
