// Drags one element to another, with pointer events, and with HTML drag-and-drop events if the element is draggable.
import { runAction } from './act.ts';
import { moveMouseTo } from './click.ts';
import { PageFailure } from './failure.ts';
import { findClosestInFlatTree, findElementAtPoint } from './flat-tree.ts';
import type { DragArguments, PageActionResult } from './operations.ts';
import { pause, waitForNextFrame } from './pace.ts';
import { Mouse } from './pointer.ts';
import { type InputPoint, waitUntilReady } from './ready.ts';
import { computeRole } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { findTarget, type PageContext } from './state.ts';
import { isFrameElement, makeFrameAtPointFailure, makeTrustedMouse, type TrustedMouse } from './trusted.ts';
import { unclobberedDocument } from './unclobbered.ts';

/** Drag libraries ignore a pointer that jumps to the end of the drag in one move. */
const DragSteps = 12;

/** Some drag libraries detect the drop target with a timer, so the pointer rests at the end of the drag. */
const DropPauseMs = 100;
/** HiddenDropPauseMs exceeds 1 s, because Chrome runs timers only once per second in a hidden tab. */
const HiddenDropPauseMs = 1_100;

interface ViewportPoint {
  readonly x: number;
  readonly y: number;
}

export async function drag(args: DragArguments, context: PageContext): Promise<PageActionResult> {
  const start = findTarget(args.startTarget, context);
  const { endTarget, offset } = args;
  const target = endTarget === undefined ? undefined : findTarget(endTarget, context);
  if (args.endPoint) return await dragToPoint(start, args.endPoint, args, context);
  if (start === target) {
    const message = 'startTarget and endTarget are the same element. To move it by some pixels, use offset.';
    throw new PageFailure('invalid_arguments', message);
  }
  return runAction(args, context, async () => {
    const rect = start.getBoundingClientRect();
    await waitUntilReady(start, args.timeoutMs, context);
    if (target) scrollToCenter(target);
    const trustedMouse = makeTrustedMouse(start, {}, context);
    const mouse = trustedMouse ?? new Mouse();
    const startPoint = await moveMouseTo(mouse, start, args.timeoutMs, context); // scrolling has moved the start element
    const end = new DragDestination(target ?? addOffset(startPoint, offset));
    if (trustedMouse) checkNoFrame(end.point);
    const notes =
      mouse instanceof Mouse
        ? await dragSynthetic(mouse, startPoint, end, context)
        : await dragTrusted(mouse, startPoint, end, context);
    const hasMoved = () => {
      const now = start.getBoundingClientRect();
      return now.x !== rect.x || now.y !== rect.y;
    };
    return {
      target: start,
      input: trustedMouse ? 'trusted' : 'synthetic',
      notes,
      hasEffect: () => start.isConnected && hasMoved(),
    };
  });
}

function addOffset(startPoint: ViewportPoint, offset: DragArguments['offset']): ViewportPoint {
  const end = { x: startPoint.x + (offset?.x ?? 0), y: startPoint.y + (offset?.y ?? 0) };
  if (isInView(end)) return end;
  const size = `${innerWidth} x ${innerHeight}`;
  const point = `${Math.round(end.x)}, ${Math.round(end.y)}`;
  const message = `The drag would end at ${point}, which is outside of the visible part of the page (${size}).`;
  throw new PageFailure('invalid_arguments', `${message} Use a smaller offset, or scroll first.`);
}

async function dragToPoint(
  start: Element,
  to: ViewportPoint,
  args: DragArguments,
  context: PageContext,
): Promise<PageActionResult> {
  const trustedMouse = makeTrustedMouse(start, {}, context);
  if (!trustedMouse) throw new PageFailure('rejected', 'A drag from one frame to another needs the debugger.');
  return runAction(args, context, async () => {
    await dragTrusted(
      trustedMouse,
      await moveMouseTo(trustedMouse, start, args.timeoutMs, context),
      new DragDestination(to),
      context,
    );
    return { target: start, input: 'trusted' };
  });
}

function isDraggable(element: Element): boolean {
  if (!(element instanceof HTMLElement)) return false;
  return (
    element.draggable && (element.hasAttribute('draggable') || element.localName === 'img' || element.localName === 'a')
  );
}

/** A drag scrolls as little as possible, because the start element must stay in view. */
function scrollToCenter(end: Element): ViewportPoint {
  if (!isInView(computeCenter(end))) {
    scrollWithEvents(end, () => end.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' }));
  }
  return computeCenter(end);
}

function isInView({ x, y }: ViewportPoint): boolean {
  return x > 0 && y > 0 && x < innerWidth && y < innerHeight;
}

function computeCenter(element: Element): ViewportPoint {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
}

/** A browser starts an HTML drag only after the pointer has moved a few pixels. */
const InitialDragMovePixels = 6;

/** checkNoFrame throws if a point is on a frame element, because the input would reach another document. */
function checkNoFrame({ x, y }: ViewportPoint): void {
  const target = findElementAtPoint(x, y);
  if (target && isFrameElement(target)) throw makeFrameAtPointFailure();
}

/** If one coordinate of a drag changes by less than MinDragPixels, the drag runs along the other axis. */
const MinDragPixels = 4;

/**
 * roundPastCenter rounds a coordinate to a whole pixel, away from the start of the drag. Lists swap two items when the
 * pointer has passed the center of an item, and the positions in mouse events are rounded down.
 */
function roundPastCenter(startPosition: number, to: number): number {
  if (Math.abs(to - startPosition) < MinDragPixels) return to;
  return to > startPosition ? Math.ceil(to) : Math.ceil(to) - 1;
}

/** DragDestination is the element or the point at which a drag ends. */
class DragDestination {
  readonly element: Element | undefined;
  /** The field `point` is the point at which the drag ends, in the viewport. */
  point: ViewportPoint;

  constructor(end: Element | ViewportPoint) {
    this.element = end instanceof Element ? end : undefined;
    this.point = end instanceof Element ? computeCenter(end) : end;
  }

  /**
   * scrollIntoView scrolls if the start and the end of the drag do not fit into the view together. The mouse button is
   * already pressed, as if the user turned the wheel during the drag.
   */
  scrollIntoView(startPoint: ViewportPoint): ViewportPoint {
    if (this.element && !isInView(this.point)) {
      this.point = scrollToCenter(this.element);
      checkNoFrame(this.point);
    }
    const { x, y } = this.point;
    return this.element ? { x: roundPastCenter(startPoint.x, x), y: roundPastCenter(startPoint.y, y) } : this.point;
  }
}

/**
 * dragTrusted drags an element with trusted pointer input. If the page starts an HTML drag, the worker also drops the
 * dragged data.
 */
async function dragTrusted(
  mouse: TrustedMouse,
  startPoint: InputPoint,
  end: DragDestination,
  context: PageContext,
): Promise<string[]> {
  context.markActed();
  await mouse.press(startPoint);
  const [x, y] = [end.point.x - startPoint.x, end.point.y - startPoint.y];
  const firstMoveFraction = Math.min(0.5, InitialDragMovePixels / Math.max(1, Math.hypot(x, y)));
  await waitForNextFrame(context.signal);
  await mouse.drag(startPoint.x + x * firstMoveFraction, startPoint.y + y * firstMoveFraction);
  await waitForNextFrame(context.signal);
  const to = end.scrollIntoView(startPoint); // Scroll only after the first move, which starts an HTML drag.
  for (let step = 1; step <= DragSteps; step++) {
    const fraction = step / DragSteps;
    await waitForNextFrame(context.signal);
    await mouse.drag(startPoint.x + (to.x - startPoint.x) * fraction, startPoint.y + (to.y - startPoint.y) * fraction);
    context.setProgressText(`dragged ${step} of ${DragSteps} steps`);
  }
  await pause(DropPauseMs, context.signal);
  await mouse.release(to);
  await waitForNextFrame(context.signal);
  return [];
}

async function dragSynthetic(
  mouse: Mouse,
  startPoint: InputPoint,
  end: DragDestination,
  context: PageContext,
): Promise<string[]> {
  const findHitElement = ({ x, y }: ViewportPoint) => findElementAtPoint(x, y) ?? end.element ?? startPoint.hit;
  context.markActed();
  mouse.press(startPoint.hit);
  let dropEvents: DropEvents | undefined;
  try {
    await waitForNextFrame(context.signal);
    // Some libraries make an element draggable only while the mouse button is pressed on it.
    const source = findClosestInFlatTree(startPoint.hit, isDraggable);
    if (source) {
      dropEvents = new DropEvents(source);
      if (!dropEvents.begin(startPoint)) dropEvents = undefined;
      await waitForNextFrame(context.signal);
    }
    const to = end.scrollIntoView(startPoint);
    for (let step = 1; step <= DragSteps; step++) {
      const at = {
        x: startPoint.x + ((to.x - startPoint.x) * step) / DragSteps,
        y: startPoint.y + ((to.y - startPoint.y) * step) / DragSteps,
      };
      await waitForNextFrame(context.signal);
      const hit = findHitElement(at);
      // During an HTML drag, a browser sends no pointer events.
      if (dropEvents) dropEvents.dragOver(hit, at);
      else mouse.move(at.x, at.y, hit);
      context.setProgressText(`dragged ${step} of ${DragSteps} steps`);
    }
    if (!dropEvents) await pause(unclobberedDocument.hidden ? HiddenDropPauseMs : DropPauseMs, context.signal);
    return dropEvents ? dropEvents.end(findHitElement(to), to) : [];
  } finally {
    if (context.signal.aborted) dropEvents?.cancel();
    if (mouse.isButtonDown && !dropEvents) mouse.release();
  }
}

class DropEvents {
  readonly #draggedElement: Element;
  readonly #data = new DataTransfer();
  #dropTarget: Element | undefined;
  #acceptsDrop = false;
  #hasEnded = false;

  constructor(source: Element) {
    this.#draggedElement = source;
    this.#data.effectAllowed = 'all';
    if (source instanceof HTMLAnchorElement) {
      this.#data.setData('text/uri-list', source.href);
      this.#data.setData('text/plain', source.href);
    }
  }

  begin(at: ViewportPoint): boolean {
    return this.#send(this.#draggedElement, 'dragstart', at);
  }

  dragOver(hit: Element, at: ViewportPoint): void {
    this.#send(this.#draggedElement, 'drag', at);
    if (hit !== this.#dropTarget) {
      this.#send(hit, 'dragenter', at, this.#dropTarget);
      if (this.#dropTarget) this.#send(this.#dropTarget, 'dragleave', at, hit);
      this.#dropTarget = hit;
    }
    this.#acceptsDrop = !this.#send(hit, 'dragover', at);
  }

  end(hit: Element, at: ViewportPoint): string[] {
    this.dragOver(hit, at);
    if (this.#acceptsDrop) this.#send(hit, 'drop', at);
    else if (this.#dropTarget) this.#send(this.#dropTarget, 'dragleave', at);
    this.#finish(at, this.#acceptsDrop);
    return this.#acceptsDrop ? [] : [`The page does not accept a drop on this ${computeRole(hit) || hit.localName}.`];
  }

  cancel(): void {
    if (!this.#hasEnded) this.#finish({ x: 0, y: 0 }, false);
  }

  #finish(at: ViewportPoint, isDropAccepted: boolean): void {
    this.#hasEnded = true;
    // Chrome ignores dropEffect in a DataTransfer that a script created, so the page sees the effect "none".
    this.#data.dropEffect = isDropAccepted ? 'move' : 'none';
    this.#send(this.#draggedElement, 'dragend', at);
  }

  #send(target: Element, type: string, at: ViewportPoint, relatedTarget?: Element): boolean {
    if (!target.isConnected) return true;
    const init = { bubbles: true, cancelable: true, composed: true, view: window, clientX: at.x, clientY: at.y };
    return target.dispatchEvent(
      new DragEvent(type, {
        ...init,
        screenX: screenX + at.x,
        screenY: screenY + at.y,
        dataTransfer: this.#data,
        relatedTarget: relatedTarget ?? null,
      }),
    );
  }
}
