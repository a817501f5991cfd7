// Finds a point at which input reaches an element, and waits until there is such a point.
import { finishAnimations } from './animations.ts';
import { lineOf } from './describe.ts';
import { PageFailure } from './failure.ts';
import {
  closestInFlatTree,
  containsInFlatTree,
  elementAt,
  flatChildren,
  flatParent,
  watchableRoots,
} from './flat-tree.ts';
import { areaPoints, findMappedImages } from './image-map.ts';
import type { LocateArguments, LocateResult, Rect } from './operations.ts';
import { ChangeWait, nextFrame } from './pace.ts';
import { roleOf } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { type Context, targetElement } from './state.ts';
import { isDisabled } from './states.ts';
import { unclobbered } from './unclobbered.ts';
import { intersection, plainRect, viewportRect } from './view.ts';

const DefaultTimeoutMs = 5_000;
const MaxTimeoutMs = 60_000;
const ReportMs = 1_000;
/** QuickChecks is the number of checks after which a hidden tab waits for DOM changes instead of frames. */
const QuickChecks = 6;
const PollMs = 200;

/** Point is a point of the viewport at which input reaches an element. */
export interface Point {
  readonly x: number;
  readonly y: number;
  /**
   * hit is the deepest element at the point: the target itself, or an element inside the target or inside its label.
   */
  readonly hit: Element;
}

/** Blocked is the reason why input cannot reach an element. */
interface Blocked {
  readonly why: string;
  /** cover is the element in front of the target. */
  readonly cover?: Element;
}

/**
 * waitReady scrolls an element into view, and waits until the element is visible, enabled, not moving and not covered.
 */
export async function waitReady(element: Element, timeoutMs: number | undefined, context: Context): Promise<Point> {
  const limit = checkTimeout(timeoutMs);
  const start = performance.now();
  const wakeup = new ChangeWait(watchableRoots());
  try {
    let reported = start;
    for (let check = 0; ; check++) {
      if (unclobbered.hidden) finishAnimations();
      const found = await tryReady(element, check, context);
      if ('hit' in found) return found;
      const now = performance.now();
      if (now - start > limit) throw notHittable(element, found, now - start, context);
      if (now - reported > ReportMs) {
        reported = now;
        context.report({ message: `waiting: ${found.why}`, progress: Math.round(now - start), total: limit });
      }
      if (check >= QuickChecks && unclobbered.hidden) await wakeup.wait(PollMs, context.signal);
      else await nextFrame(context.signal);
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

async function tryReady(element: Element, check: number, context: Context): Promise<Point | Blocked> {
  if (!element.isConnected) throw new PageFailure('stale_ref', 'The page removed the element. Take a new snapshot.');
  if (isDisabled(element)) return { why: 'it is disabled' };
  const boxes = boxesOf(element);
  const box = boxes[0];
  if (!box) return { why: whyInvisible(element) };
  const first = box.getBoundingClientRect();
  await nextFrame(context.signal);
  const second = box.getBoundingClientRect();
  if (!isSameRect(first, second)) return { why: 'it is moving' };
  const point = findPoint(element, boxes);
  if ('hit' in point) return point;
  scrollTo(box, check);
  const scrolled = findPoint(element, boxes);
  if (!('hit' in scrolled)) return scrolled;
  return isSameRect(second, box.getBoundingClientRect()) ? scrolled : { why: 'it is scrolling' };
}

/** MaxInnerBoxes limits how many descendants of an element without a size are searched for a visible box. */
const MaxInnerBoxes = 50;

/**
 * boxesOf returns the elements that a user would click to use an element. Examples are the label of a hidden control,
 * the image of an image map area, and the content of an element without a size.
 */
function boxesOf(element: Element): Element[] {
  if (element instanceof HTMLAreaElement) return findMappedImages(element).filter(hasBox);
  const boxes = [element].filter(hasBox);
  if (element instanceof HTMLInputElement) boxes.push(...[...(element.labels ?? [])].filter(hasBox));
  if (boxes.length === 0 && element.checkVisibility({ visibilityProperty: true })) {
    boxes.push(...innerBoxes(element));
    const picture = drawnReplacementOf(element);
    if (picture) boxes.push(picture);
  }
  return boxes;
}

/**
 * drawnReplacementOf returns the element that the page draws in place of a combobox without a size. A combobox without a size
 * receives only key presses.
 */
function drawnReplacementOf(element: Element): Element | undefined {
  return roleOf(element) === 'combobox' && !hasBox(element) ? closestInFlatTree(element, hasBox) : undefined;
}

/** innerBoxes returns the nearest descendants with a visible box, for an element that has no box. */
function innerBoxes(element: Element): Element[] {
  const found: Element[] = [];
  const pending = [...flatChildren(element)];
  for (let checked = 0; checked < MaxInnerBoxes; checked++) {
    const next = pending.shift();
    if (!next) break;
    if (!(next instanceof Element)) continue;
    if (hasBox(next)) found.push(next);
    else pending.push(...flatChildren(next));
  }
  return found;
}

function hasBox(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  return [...element.getClientRects()].some((rect) => rect.width >= 1 && rect.height >= 1);
}

function whyInvisible(element: Element): string {
  if (!element.checkVisibility()) return 'it is not displayed';
  return getComputedStyle(element).visibility === 'visible' ? 'it has no size' : 'it is hidden';
}

function isSameRect(a: DOMRect, b: DOMRect): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

const Alignments = ['center', 'start', 'end'] as const;

function scrollTo(box: Element, check: number): void {
  const block = Alignments[check % Alignments.length] ?? 'center';
  scrollWithEvents(box, () => box.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' }));
}

/** Fractions are the relative positions in a box that findPoint tries, the center first. */
const Fractions = [
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

/** findPoint returns a point at which input reaches an element, or the reason why there is none. */
export function findPoint(element: Element, boxes = boxesOf(element)): Point | Blocked {
  let blocked: Blocked =
    boxes.length === 0 ? { why: whyInvisible(element) } : { why: 'it is outside of the visible part of the page' };
  for (const box of boxes) {
    for (const rect of [...box.getClientRects()].slice(0, MaxBoxes)) {
      const seen = intersection(rect, viewportRect());
      if (seen.width < 1 || seen.height < 1) continue;
      const places = Fractions.map(([fx, fy]) => [seen.x + fx * seen.width, seen.y + fy * seen.height] as const);
      for (const [x, y] of element instanceof HTMLAreaElement ? areaPoints(element, rect) : places) {
        const hit = elementAt(x, y);
        if (hit && isHit(element, hit)) return { x, y, hit };
        if (hit && !blocked.cover) blocked = { why: 'another element is in front of it', cover: hit };
      }
    }
  }
  return blocked;
}

/** isHit reports whether a click on the element `hit` reaches the target element. */
function isHit(element: Element, hit: Element): boolean {
  if (containsInFlatTree(element, hit)) return true;
  const label = closestInFlatTree(hit, (at) => at instanceof HTMLLabelElement);
  if (label instanceof HTMLLabelElement && label.control === element) return true;
  if (element instanceof HTMLInputElement && isDrawnAround(element, hit)) return true;
  const picture = drawnReplacementOf(element);
  if (picture && containsInFlatTree(picture, hit)) return true;
  // An element inside a link, button or label may let clicks pass through to the link, button or label.
  const around = closestInFlatTree(element, (at) => /^(a|button|summary|label)$/.test(at.localName));
  return around !== undefined && around === hit;
}

/** MaxDrawnLevels is the number of ancestor levels that are searched for a visible replacement of a hidden input. */
const MaxDrawnLevels = 2;

/** isDrawnAround reports whether `hit` is an ancestor that the page draws in place of an invisible input. */
function isDrawnAround(input: HTMLInputElement, hit: Element): boolean {
  const { opacity, clip, clipPath } = getComputedStyle(input);
  if (hasBox(input) && Number(opacity) > 0.05 && clip === 'auto' && clipPath === 'none') return false;
  let at: Element | null = flatParent(input);
  for (let level = 0; at && level < MaxDrawnLevels; level++, at = flatParent(at)) if (at === hit) return true;
  return false;
}

function notHittable(element: Element, blocked: Blocked, waitedMs: number, context: Context): PageFailure {
  const line = element.isConnected ? `the element: ${lineOf(element, context)}` : '';
  const waited = `after ${(waitedMs / 1000).toFixed(1)} s`;
  if (!blocked.cover) {
    return new PageFailure('not_hittable', `Input cannot reach the element: ${blocked.why} ${waited}.`, line);
  }
  const cover = meaningfulElement(blocked.cover);
  const coverLine = lineOf(cover, context);
  const ref = context.state.refs.refOf(cover, context.prefix, roleOf(cover), '');
  return new PageFailure(
    'not_hittable',
    `Input cannot reach the element: the element ${ref} is in front of it ${waited}. Close or move that element first.`,
    `${line}\nin front of it: ${coverLine}`.trim(),
    ref,
  );
}

/**
 * meaningfulElement returns the nearest element with a role that an agent recognizes: the element itself or an
 * ancestor.
 */
export function meaningfulElement(element: Element): Element {
  const found = closestInFlatTree(element, (at) => roleOf(at) !== '' && roleOf(at) !== 'paragraph');
  return found && found !== unclobbered.body ? found : element;
}

/** locate implements the page script operation `locate`, which returns the position of an element. */
export async function locate(args: LocateArguments, context: Context): Promise<LocateResult> {
  const element = targetElement(args.target, context);
  const ready = args.ready ? await waitReady(element, args.timeoutMs, context) : undefined;
  const found = ready ?? findPoint(element);
  const rect: Rect = plainRect((boxesOf(element)[0] ?? element).getBoundingClientRect());
  const base = {
    line: lineOf(element, context),
    rect,
    visible: boxesOf(element).length > 0,
    enabled: !isDisabled(element),
  };
  if ('hit' in found) return { ...base, point: { x: found.x, y: found.y }, hit: true };
  if (!found.cover) return { ...base, hit: false };
  const cover = meaningfulElement(found.cover);
  const line = lineOf(cover, context);
  return {
    ...base,
    hit: false,
    covered: { ref: context.state.refs.refOf(cover, context.prefix, roleOf(cover), ''), line },
  };
}
