// Finds a point at which input reaches an element, and waits until the element has a reachable point.
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
import { ChangeWaiter, waitForNextFrame } from './pace.ts';
import { computeRole } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { findTarget, type PageContext } from './state.ts';
import { isDisabled } from './states.ts';
import { unclobberedDocument } from './unclobbered.ts';
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
  readonly coveringElement?: Element;
}

export async function waitUntilReady(
  element: Element,
  timeoutMs: number | undefined,
  context: PageContext,
  maxMotionMs = MaxMotionMs,
): Promise<InputPoint> {
  const limit = checkTimeout(timeoutMs);
  const start = performance.now();
  const changeWaiter = new ChangeWaiter(listKnownRoots());
  try {
    let lastReportMs = start;
    for (let checkIndex = 0; ; checkIndex++) {
      if (unclobberedDocument.hidden) finishAnimations();
      const readiness = await findReadyPoint(element, checkIndex, performance.now() - start >= maxMotionMs, context);
      if ('hit' in readiness) return readiness;
      const now = performance.now();
      if (now - start > limit) throw makeNotHittableFailure(element, readiness, now - start, context);
      if (now - lastReportMs > ReportIntervalMs) {
        lastReportMs = now;
        context.report({ message: `waiting: ${readiness.why}`, progress: Math.round(now - start), total: limit });
      }
      if (checkIndex >= MaxFrameChecks && unclobberedDocument.hidden)
        await changeWaiter.wait(PollIntervalMs, context.signal);
      else await waitForNextFrame(context.signal);
    }
  } finally {
    changeWaiter.close();
  }
}

function checkTimeout(timeoutMs: number | undefined): number {
  const limit = timeoutMs ?? DefaultTimeoutMs;
  if (Number.isFinite(limit) && limit >= 0 && limit <= MaxTimeoutMs) return limit;
  throw new PageFailure('invalid_arguments', `timeoutMs is ${timeoutMs}. Use 0 to ${MaxTimeoutMs}.`);
}

async function findReadyPoint(
  element: Element,
  checkIndex: number,
  allowsMotion: boolean,
  context: PageContext,
): Promise<InputPoint | BlockedInput> {
  if (!element.isConnected) throw new PageFailure('stale_ref', 'The page removed the element. Take a new snapshot.');
  if (isDisabled(element)) return { why: 'it is disabled' };
  const boxes = listBoxes(element);
  const box = boxes[0];
  if (!box) return { why: explainInvisible(element) };
  const firstRect = box.getBoundingClientRect();
  await waitForNextFrame(context.signal);
  const secondRect = box.getBoundingClientRect();
  if (!isSameRect(firstRect, secondRect)) {
    if (!allowsMotion || !movesSlowly(firstRect, secondRect)) return { why: 'it is moving' };
    const next = findInputPoint(element, boxes);
    return 'hit' in next ? { ...next, isMoving: true } : next;
  }
  const point = findInputPoint(element, boxes);
  if ('hit' in point) return point;
  scrollToAlignment(box, checkIndex);
  const scrolled = findInputPoint(element, boxes);
  if (!('hit' in scrolled)) return scrolled;
  return isSameRect(secondRect, box.getBoundingClientRect()) ? scrolled : { why: 'it is scrolling' };
}

const MaxInnerBoxes = 50;

function listBoxes(element: Element): Element[] {
  if (element instanceof HTMLAreaElement) return findMappedImages(element).filter(hasBox);
  const boxes = [element].filter(hasBox);
  if (element instanceof HTMLInputElement) boxes.push(...[...(element.labels ?? [])].filter(hasBox));
  if (boxes.length === 0 && isRendered(element, { visibilityProperty: true })) {
    boxes.push(...findInnerBoxes(element));
    if (boxes.length === 0 && hasOwnText(element)) boxes.push(element);
    const visibleReplacement = findVisibleReplacement(element);
    if (visibleReplacement) boxes.push(visibleReplacement);
  }
  return boxes;
}

function findVisibleReplacement(element: Element): Element | undefined {
  return computeRole(element) === 'combobox' && !hasBox(element) ? findClosestInFlatTree(element, hasBox) : undefined;
}

function findInnerBoxes(element: Element): Element[] {
  const innerBoxes: Element[] = [];
  const uncheckedNodes = [...listFlatChildren(element)];
  for (let checkedBoxCount = 0; checkedBoxCount < MaxInnerBoxes; checkedBoxCount++) {
    const next = uncheckedNodes.shift();
    if (!next) break;
    if (!(next instanceof Element)) continue;
    if (hasBox(next)) innerBoxes.push(next);
    else uncheckedNodes.push(...listFlatChildren(next));
  }
  return innerBoxes;
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

/**
 * movesSlowly reports whether an element moves so slowly that input at its center still reaches the element some frames
 * later.
 */
function movesSlowly(a: DOMRect, b: DOMRect): boolean {
  const limit = Math.min(b.width, b.height) / 8;
  return Math.abs(a.x - b.x) <= limit && Math.abs(a.y - b.y) <= limit;
}

const ScrollAlignments = ['center', 'start', 'end'] as const;

function scrollToAlignment(box: Element, checkIndex: number): void {
  const block = ScrollAlignments[checkIndex % ScrollAlignments.length] ?? 'center';
  scrollWithEvents(box, () => box.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' }));
}

const ClickPointFractions = [
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

/**
 * findInputPoint returns a point at which input reaches an element, or the reason why input cannot reach the element.
 */
export function findInputPoint(element: Element, boxes = listBoxes(element)): InputPoint | BlockedInput {
  let blockedInput: BlockedInput =
    boxes.length === 0 ? { why: explainInvisible(element) } : { why: 'it is outside of the visible part of the page' };
  /**
   * The variable `nestedPoint` is a point on another control inside the element, which findInputPoint returns only as a
   * last resort.
   */
  let nestedPoint: InputPoint | undefined;
  for (const box of boxes) {
    for (const [x, y] of listCandidatePoints(element, box)) {
      const hit = findElementAtPoint(x, y);
      if (!hit) continue;
      const isElementHit = isHitOnElement(element, hit);
      if (isElementHit && !isOnOtherControl(element, hit)) return { x, y, hit };
      if (isElementHit && containsInFlatTree(element, hit)) nestedPoint ??= { x, y, hit };
      else if (!blockedInput.coveringElement)
        blockedInput = { why: 'another element is in front of it', coveringElement: hit };
    }
  }
  return nestedPoint ?? blockedInput;
}

/**
 * listCandidatePoints yields points in the visible part of a box, beginning with the center and ending with the centers
 * of its texts.
 */
function* listCandidatePoints(element: Element, box: Element): Generator<readonly [x: number, y: number]> {
  const rects = [...box.getClientRects()].slice(0, MaxBoxes);
  for (const rect of rects) {
    const visiblePart = intersectRects(rect, getViewportRect());
    if (visiblePart.width < 1 || visiblePart.height < 1) continue;
    if (element instanceof HTMLAreaElement) yield* listAreaPoints(element, rect);
    else
      for (const [fx, fy] of ClickPointFractions)
        yield [visiblePart.x + fx * visiblePart.width, visiblePart.y + fy * visiblePart.height];
  }
  if (element instanceof HTMLAreaElement) return;
  for (const rect of listOwnTextRects(box)) {
    const visiblePart = intersectRects(rect, getViewportRect());
    if (visiblePart.width >= 1 && visiblePart.height >= 1)
      yield [visiblePart.x + visiblePart.width / 2, visiblePart.y + visiblePart.height / 2];
  }
}

function isHitOnElement(element: Element, hit: Element): boolean {
  if (containsInFlatTree(element, hit)) return true;
  const label = findClosestInFlatTree(hit, (at) => at instanceof HTMLLabelElement);
  if (label instanceof HTMLLabelElement && label.control === element) return true;
  if (element instanceof HTMLInputElement && isVisibleReplacement(element, hit)) return true;
  const visibleReplacement = findVisibleReplacement(element);
  if (visibleReplacement && containsInFlatTree(visibleReplacement, hit)) return true;
  // An element inside a link, button or label can let clicks pass through to the link, button or label.
  const enclosingControl = findClosestInFlatTree(element, (at) => /^(a|button|summary|label)$/.test(at.localName));
  return enclosingControl !== undefined && enclosingControl === hit;
}

/**
 * MaxReplacementAncestorLevels is the number of ancestor levels that are searched for a visible replacement of a hidden
 * input.
 */
const MaxReplacementAncestorLevels = 2;

/** isVisibleReplacement reports whether `hit` is an ancestor that the page draws in place of an invisible input. */
function isVisibleReplacement(input: HTMLInputElement, hit: Element): boolean {
  const { opacity, clip, clipPath } = getComputedStyle(input);
  if (hasBox(input) && Number(opacity) > 0.05 && clip === 'auto' && clipPath === 'none') return false;
  let at: Element | null = getFlatParent(input);
  for (let level = 0; at && level < MaxReplacementAncestorLevels; level++, at = getFlatParent(at))
    if (at === hit) return true;
  return false;
}

function makeNotHittableFailure(
  element: Element,
  blockedInput: BlockedInput,
  waitedMs: number,
  context: PageContext,
): PageFailure {
  const line = element.isConnected ? `the element: ${describeElement(element, context)}` : '';
  const waitText = `after ${(waitedMs / 1000).toFixed(1)} s`;
  if (!blockedInput.coveringElement) {
    return new PageFailure('not_hittable', `Input cannot reach the element: ${blockedInput.why} ${waitText}.`, line);
  }
  const coveringElement = findMeaningfulElement(blockedInput.coveringElement);
  const coveringElementLine = describeElement(coveringElement, context);
  const ref = context.state.refs.getElementRef(coveringElement, context.prefix, computeRole(coveringElement), '');
  return new PageFailure(
    'not_hittable',
    `Input cannot reach the element: the element ${ref} is in front of it ${waitText}. Close or move that element first.`,
    `${line}\nin front of it: ${coveringElementLine}`.trim(),
    ref,
  );
}

/**
 * findMeaningfulElement returns the nearest element with a role that an agent recognizes: the element itself or an
 * ancestor.
 */
export function findMeaningfulElement(element: Element): Element {
  const meaningfulElement = findClosestInFlatTree(
    element,
    (at) => computeRole(at) !== '' && computeRole(at) !== 'paragraph',
  );
  return meaningfulElement && meaningfulElement !== unclobberedDocument.body ? meaningfulElement : element;
}

export async function locateElement(args: LocateArguments, context: PageContext): Promise<LocateResult> {
  const element = findTarget(args.target, context);
  const ready = args.ready ? await waitUntilReady(element, args.timeoutMs, context) : undefined;
  const inputPoint = ready ?? findInputPoint(element);
  const rect: Rect = toPlainRect((listBoxes(element)[0] ?? element).getBoundingClientRect());
  const base = {
    line: describeElement(element, context),
    rect,
    visible: listBoxes(element).length > 0,
    enabled: !isDisabled(element),
  };
  if ('hit' in inputPoint) return { ...base, point: { x: inputPoint.x, y: inputPoint.y }, hit: true };
  if (!inputPoint.coveringElement) return { ...base, hit: false };
  const coveringElement = findMeaningfulElement(inputPoint.coveringElement);
  const line = describeElement(coveringElement, context);
  return {
    ...base,
    hit: false,
    covered: {
      ref: context.state.refs.getElementRef(coveringElement, context.prefix, computeRole(coveringElement), ''),
      line,
    },
  };
}
