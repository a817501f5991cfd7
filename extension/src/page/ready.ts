// Finds a point at which input reaches an element, and waits until there is such a point.
import { finishAnimations } from './animations.ts';
import { describeElement } from './describe.ts';
import { PageFailure } from './failure.ts';
import {
  containsInFlatTree,
  findClosestInFlatTree,
  findElementAtPoint,
  getFlatParent,
  listFlatChildren,
  listKnownRoots,
} from './flat-tree.ts';
import { findMappedImages, listAreaPoints } from './image-map.ts';
import { hasOwnText, isOnOtherControl, listOwnTextRects } from './nested-controls.ts';
import type { LocateArguments, LocateResult, Rect } from './operations.ts';
import { ChangeWait, waitForNextFrame } from './pace.ts';
import { computeRole } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { type Context, findTarget } from './state.ts';
import { isDisabled } from './states.ts';
import { unclobbered } from './unclobbered.ts';
import { getViewportRect, intersectRects, toPlainRect } from './view.ts';
import { isRendered } from './visibility.ts';

const DefaultTimeoutMs = 5_000;
const MaxTimeoutMs = 60_000;
const ReportIntervalMs = 1_000;
/**
 * In a hidden tab, waitUntilReady makes MaxFrameChecks checks, and afterward waits for a DOM change before each check.
 */
const MaxFrameChecks = 6;
const PollIntervalMs = 200;
/** An element that still moves after MaxMotionMs moves all the time, such as the items of a ticker. */
const MaxMotionMs = 2_000;

export interface InputPoint {
  readonly x: number;
  readonly y: number;
  /** The field `hit` is the deepest element at the point: the target, or an element inside the target or its label. */
  readonly hit: Element;
  readonly isMoving?: boolean;
}

interface BlockedInput {
  readonly why: string;
  readonly cover?: Element;
}

export async function waitUntilReady(
  element: Element,
  timeoutMs: number | undefined,
  context: Context,
  maxMotionMs = MaxMotionMs,
): Promise<InputPoint> {
  const limit = checkTimeout(timeoutMs);
  const start = performance.now();
  const wakeup = new ChangeWait(listKnownRoots());
  try {
    let reported = start;
    for (let check = 0; ; check++) {
      if (unclobbered.hidden) finishAnimations();
      const found = await tryReady(element, check, performance.now() - start >= maxMotionMs, context);
      if ('hit' in found) return found;
      const now = performance.now();
      if (now - start > limit) throw makeNotHittableFailure(element, found, now - start, context);
      if (now - reported > ReportIntervalMs) {
        reported = now;
        context.report({ message: `waiting: ${found.why}`, progress: Math.round(now - start), total: limit });
      }
      if (check >= MaxFrameChecks && unclobbered.hidden) await wakeup.wait(PollIntervalMs, context.signal);
      else await waitForNextFrame(context.signal);
    }
  } finally {
    wakeup.close();
  }
}

function checkTimeout(timeoutMs: number | undefined): number {
  const limit = timeoutMs ?? DefaultTimeoutMs;
  if (Number.isFinite(limit) && limit >= 0 && limit <= MaxTimeoutMs) return limit;
  throw new PageFailure('invalid_arguments', `timeoutMs is ${timeoutMs}. Use 0 to ${MaxTimeoutMs}.`);
}

async function tryReady(
  element: Element,
  check: number,
  mayMove: boolean,
  context: Context,
): Promise<InputPoint | BlockedInput> {
  if (!element.isConnected) throw new PageFailure('stale_ref', 'The page removed the element. Take a new snapshot.');
  if (isDisabled(element)) return { why: 'it is disabled' };
  const boxes = listBoxes(element);
  const box = boxes[0];
  if (!box) return { why: explainInvisible(element) };
  const first = box.getBoundingClientRect();
  await waitForNextFrame(context.signal);
  const second = box.getBoundingClientRect();
  if (!isSameRect(first, second)) {
    if (!mayMove || !movesSlowly(first, second)) return { why: 'it is moving' };
    const next = findInputPoint(element, boxes);
    return 'hit' in next ? { ...next, isMoving: true } : next;
  }
  const point = findInputPoint(element, boxes);
  if ('hit' in point) return point;
  scrollToAlignment(box, check);
  const scrolled = findInputPoint(element, boxes);
  if (!('hit' in scrolled)) return scrolled;
  return isSameRect(second, box.getBoundingClientRect()) ? scrolled : { why: 'it is scrolling' };
}

const MaxInnerBoxes = 50;

function listBoxes(element: Element): Element[] {
  if (element instanceof HTMLAreaElement) return findMappedImages(element).filter(hasBox);
  const boxes = [element].filter(hasBox);
  if (element instanceof HTMLInputElement) boxes.push(...[...(element.labels ?? [])].filter(hasBox));
  if (boxes.length === 0 && isRendered(element, { visibilityProperty: true })) {
    boxes.push(...findInnerBoxes(element));
    if (boxes.length === 0 && hasOwnText(element)) boxes.push(element);
    const picture = findDrawnReplacement(element);
    if (picture) boxes.push(picture);
  }
  return boxes;
}

function findDrawnReplacement(element: Element): Element | undefined {
  return computeRole(element) === 'combobox' && !hasBox(element) ? findClosestInFlatTree(element, hasBox) : undefined;
}

function findInnerBoxes(element: Element): Element[] {
  const found: Element[] = [];
  const pending = [...listFlatChildren(element)];
  for (let checked = 0; checked < MaxInnerBoxes; checked++) {
    const next = pending.shift();
    if (!next) break;
    if (!(next instanceof Element)) continue;
    if (hasBox(next)) found.push(next);
    else pending.push(...listFlatChildren(next));
  }
  return found;
}

function hasBox(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  return [...element.getClientRects()].some((rect) => rect.width >= 1 && rect.height >= 1);
}

function explainInvisible(element: Element): string {
  if (!isRendered(element)) return 'it is not displayed';
  return getComputedStyle(element).visibility === 'visible' ? 'it has no size' : 'it is hidden';
}

function isSameRect(a: DOMRect, b: DOMRect): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

/** movesSlowly reports whether input at the middle of an element still reaches the element some frames later. */
function movesSlowly(a: DOMRect, b: DOMRect): boolean {
  const limit = Math.min(b.width, b.height) / 8;
  return Math.abs(a.x - b.x) <= limit && Math.abs(a.y - b.y) <= limit;
}

const Alignments = ['center', 'start', 'end'] as const;

function scrollToAlignment(box: Element, check: number): void {
  const block = Alignments[check % Alignments.length] ?? 'center';
  scrollWithEvents(box, () => box.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' }));
}

const PointFractions = [
  [0.5, 0.5],
  [0.25, 0.5],
  [0.75, 0.5],
  [0.5, 0.25],
  [0.5, 0.75],
  [0.1, 0.1],
  [0.9, 0.9],
  [0.9, 0.1],
  [0.1, 0.9],
] as const;
const MaxBoxes = 4;

/** findInputPoint returns a point at which input reaches an element, or the reason why there is none. */
export function findInputPoint(element: Element, boxes = listBoxes(element)): InputPoint | BlockedInput {
  let blocked: BlockedInput =
    boxes.length === 0 ? { why: explainInvisible(element) } : { why: 'it is outside of the visible part of the page' };
  /**
   * The constant `nested` is a point on another control inside the element, which is used only if there is no other
   * point.
   */
  let nested: InputPoint | undefined;
  for (const box of boxes) {
    for (const [x, y] of listPoints(element, box)) {
      const hit = findElementAtPoint(x, y);
      if (!hit) continue;
      const isReached = isHit(element, hit);
      if (isReached && !isOnOtherControl(element, hit)) return { x, y, hit };
      if (isReached && containsInFlatTree(element, hit)) nested ??= { x, y, hit };
      else if (!blocked.cover) blocked = { why: 'another element is in front of it', cover: hit };
    }
  }
  return nested ?? blocked;
}

/** listPoints yields points in the visible part of a box, the center first and then the middles of its texts. */
function* listPoints(element: Element, box: Element): Generator<readonly [x: number, y: number]> {
  const rects = [...box.getClientRects()].slice(0, MaxBoxes);
  for (const rect of rects) {
    const seen = intersectRects(rect, getViewportRect());
    if (seen.width < 1 || seen.height < 1) continue;
    if (element instanceof HTMLAreaElement) yield* listAreaPoints(element, rect);
    else for (const [fx, fy] of PointFractions) yield [seen.x + fx * seen.width, seen.y + fy * seen.height];
  }
  if (element instanceof HTMLAreaElement) return;
  for (const rect of listOwnTextRects(box)) {
    const seen = intersectRects(rect, getViewportRect());
    if (seen.width >= 1 && seen.height >= 1) yield [seen.x + seen.width / 2, seen.y + seen.height / 2];
  }
}

function isHit(element: Element, hit: Element): boolean {
  if (containsInFlatTree(element, hit)) return true;
  const label = findClosestInFlatTree(hit, (at) => at instanceof HTMLLabelElement);
  if (label instanceof HTMLLabelElement && label.control === element) return true;
  if (element instanceof HTMLInputElement && isDrawnAround(element, hit)) return true;
  const picture = findDrawnReplacement(element);
  if (picture && containsInFlatTree(picture, hit)) return true;
  // An element inside a link, button or label can let clicks pass through to the link, button or label.
  const around = findClosestInFlatTree(element, (at) => /^(a|button|summary|label)$/.test(at.localName));
  return around !== undefined && around === hit;
}

/** MaxDrawnLevels is the number of ancestor levels that are searched for a visible replacement of a hidden input. */
const MaxDrawnLevels = 2;

/**
 * isDrawnAround reports whether `hit` is an ancestor of an invisible input, and the page draws the ancestor in place of
 * the input.
 */
function isDrawnAround(input: HTMLInputElement, hit: Element): boolean {
  const { opacity, clip, clipPath } = getComputedStyle(input);
  if (hasBox(input) && Number(opacity) > 0.05 && clip === 'auto' && clipPath === 'none') return false;
  let at: Element | null = getFlatParent(input);
  for (let level = 0; at && level < MaxDrawnLevels; level++, at = getFlatParent(at)) if (at === hit) return true;
  return false;
}

function makeNotHittableFailure(
  element: Element,
  blocked: BlockedInput,
  waitedMs: number,
  context: Context,
): PageFailure {
  const line = element.isConnected ? `the element: ${describeElement(element, context)}` : '';
  const waited = `after ${(waitedMs / 1000).toFixed(1)} s`;
  if (!blocked.cover) {
    return new PageFailure('not_hittable', `Input cannot reach the element: ${blocked.why} ${waited}.`, line);
  }
  const cover = findMeaningfulElement(blocked.cover);
  const coverLine = describeElement(cover, context);
  const ref = context.state.refs.refOf(cover, context.prefix, computeRole(cover), '');
  return new PageFailure(
    'not_hittable',
    `Input cannot reach the element: the element ${ref} is in front of it ${waited}. Close or move that element first.`,
    `${line}\nin front of it: ${coverLine}`.trim(),
    ref,
  );
}

/**
 * findMeaningfulElement returns the nearest element with a role that an agent recognizes: the element itself or an
 * ancestor.
 */
export function findMeaningfulElement(element: Element): Element {
  const found = findClosestInFlatTree(element, (at) => computeRole(at) !== '' && computeRole(at) !== 'paragraph');
  return found && found !== unclobbered.body ? found : element;
}

export async function locateElement(args: LocateArguments, context: Context): Promise<LocateResult> {
  const element = findTarget(args.target, context);
  const ready = args.ready ? await waitUntilReady(element, args.timeoutMs, context) : undefined;
  const found = ready ?? findInputPoint(element);
  const rect: Rect = toPlainRect((listBoxes(element)[0] ?? element).getBoundingClientRect());
  const base = {
    line: describeElement(element, context),
    rect,
    visible: listBoxes(element).length > 0,
    enabled: !isDisabled(element),
  };
  if ('hit' in found) return { ...base, point: { x: found.x, y: found.y }, hit: true };
  if (!found.cover) return { ...base, hit: false };
  const cover = findMeaningfulElement(found.cover);
  const line = describeElement(cover, context);
  return {
    ...base,
    hit: false,
    covered: { ref: context.state.refs.refOf(cover, context.prefix, computeRole(cover), ''), line },
  };
}
