// Scrolls the page, or a scrollable area of the page.

import { runAction } from './act.ts';
import { PageFailure } from './failure.ts';
import { findElementAtPoint, getFlatParent } from './flat-tree.ts';
import type { ScrollArguments, ScrollResult } from './operations.ts';
import { waitForNextFrame } from './pace.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { findTarget, type PageContext } from './state.ts';
import { unclobberedDocument } from './unclobbered.ts';

const scrollIntoViewOptions: ScrollIntoViewOptions = { block: 'center', inline: 'nearest', behavior: 'instant' };
/** DefaultScrollShare is the distance of a scroll without `scrollAmount`, as a fraction of the visible size. */
const DefaultScrollShare = 0.8;

export async function scroll(args: ScrollArguments, context: PageContext): Promise<ScrollResult> {
  const { direction, amount } = args;
  const target = args.target ? findTarget(args.target, context) : undefined;
  if (!target && !direction) throw new PageFailure('invalid_arguments', 'Give target, direction, or both.');
  if (amount !== undefined && !(Number.isFinite(amount) && amount > 0)) {
    throw new PageFailure(
      'invalid_arguments',
      `amount is ${amount}. Use a positive number of pixels, and set the direction with direction.`,
    );
  }
  const scrollerElement = direction ? findScroller(target, /left|right/.test(direction)) : findScroller(target, false);
  const positionBefore = { left: scrollerElement.scrollLeft, top: scrollerElement.scrollTop };
  let rect = target?.getBoundingClientRect();
  const actionResult = await runAction(args, context, async () => {
    context.markActed();
    if (direction) scrollWithEvents(scrollerElement, () => scrollArea(scrollerElement, direction, amount));
    else if (target) scrollWithEvents(target, () => target.scrollIntoView(scrollIntoViewOptions));
    await waitForNextFrame(context.signal);
    await waitForNextFrame(context.signal);
    const isMoved =
      scrollerElement.scrollLeft !== positionBefore.left || scrollerElement.scrollTop !== positionBefore.top;
    const now = target?.getBoundingClientRect();
    const isShifted = now !== undefined && rect !== undefined && (now.x !== rect.x || now.y !== rect.y);
    rect = now;
    const hasNotMoved = !isMoved && !isShifted;
    const why = direction
      ? `The area is already at its ${describeScrollEnd(direction)}.`
      : 'The element was already in view.';
    return { target, input: 'none', notes: hasNotMoved ? [why] : [], hasEffect: () => !hasNotMoved };
  });
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = scrollerElement;
  return {
    ...actionResult,
    position: { x: Math.round(scrollLeft), y: Math.round(scrollTop) },
    size: { width: scrollWidth, height: scrollHeight },
    visible: { width: clientWidth, height: clientHeight },
  };
}

function describeScrollEnd(direction: string): string {
  return (
    { up: 'top', top: 'top', down: 'bottom', bottom: 'bottom', left: 'left edge', right: 'right edge' }[direction] ??
    'end'
  );
}

function scrollArea(
  scrollerElement: Element,
  direction: NonNullable<ScrollArguments['direction']>,
  scrollAmount: number | undefined,
): void {
  const scrollBehavior = 'instant';
  const verticalPixels = scrollAmount ?? scrollerElement.clientHeight * DefaultScrollShare;
  const horizontalPixels = scrollAmount ?? scrollerElement.clientWidth * DefaultScrollShare;
  const scrollSteps: Readonly<Record<typeof direction, () => void>> = {
    top: () => scrollerElement.scrollTo({ top: 0, behavior: scrollBehavior }),
    bottom: () => scrollerElement.scrollTo({ top: scrollerElement.scrollHeight, behavior: scrollBehavior }),
    up: () => scrollerElement.scrollBy({ top: -verticalPixels, behavior: scrollBehavior }),
    down: () => scrollerElement.scrollBy({ top: verticalPixels, behavior: scrollBehavior }),
    left: () => scrollerElement.scrollBy({ left: -horizontalPixels, behavior: scrollBehavior }),
    right: () => scrollerElement.scrollBy({ left: horizontalPixels, behavior: scrollBehavior }),
  };
  scrollSteps[direction]();
}

/**
 * findScroller returns the scrollable area around an element. If no element is given, findScroller returns the page if
 * the page can scroll, and otherwise the scrollable area at the center of the viewport.
 */
export function findScroller(target: Element | undefined, isHorizontal: boolean): Element {
  const page = unclobberedDocument.scrollingElement ?? unclobberedDocument.documentElement;
  if (!target && canScroll(page, isHorizontal, true)) return page;
  for (
    let at = target ?? findElementAtPoint(innerWidth / 2, innerHeight / 2);
    at && at !== page;
    at = getFlatParent(at)
  ) {
    if (at !== unclobberedDocument.body && canScroll(at, isHorizontal, false)) return at;
  }
  return target ? page : (findLargestScroller(isHorizontal) ?? page);
}

function canScroll(element: Element, isHorizontal: boolean, isPageScroller: boolean): boolean {
  const isLarger = isHorizontal
    ? element.scrollWidth > element.clientWidth + 1
    : element.scrollHeight > element.clientHeight + 1;
  if (!isLarger) return false;
  const style = getComputedStyle(element);
  const overflow = isHorizontal ? style.overflowX : style.overflowY;
  return isPageScroller ? overflow !== 'hidden' : overflow === 'auto' || overflow === 'scroll';
}

function findLargestScroller(isHorizontal: boolean): Element | undefined {
  let largestScroller: Element | undefined;
  let largestArea = 0;
  for (const element of unclobberedDocument.querySelectorAll('body *')) {
    const area = element.clientWidth * element.clientHeight;
    if (area > largestArea && canScroll(element, isHorizontal, false) && element.checkVisibility())
      [largestScroller, largestArea] = [element, area];
  }
  return largestScroller;
}
