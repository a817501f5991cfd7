// Clicks elements, and moves the pointer onto elements.

import { runAction } from './act.ts';
import { describeElement, isLink, readHref } from './describe.ts';
import { findClosestInFlatTree } from './flat-tree.ts';
import type { ActionArguments, ClickArguments, ClickResult, PageActionResult, TargetArguments } from './operations.ts';
import { waitForNextFrame } from './pace.ts';
import { Mouse } from './pointer.ts';
import { findInputPoint, type InputPoint, waitUntilReady } from './ready.ts';
import { findTarget, type PageContext } from './state.ts';
import { makeTrustedMouse, opensPopup, TrustedMouse } from './trusted.ts';

export async function click(args: ClickArguments, context: PageContext): Promise<ClickResult> {
  const element = findTarget(args.target, context);
  const link = args.button === undefined || args.button === 'left' ? findClickedLink(element, args) : undefined;
  let isComplete = false;
  const result = await runAction(args, context, async () => {
    const line = describeElement(element, context);
    const newTab = link?.newTab && !context.trustedInput ? new NewTabGuard() : undefined;
    const hasDefaultAction = await pressElement(element, args, context).finally(() => newTab?.close());
    isComplete = hasDefaultAction && !newTab?.hasPreventedNewTab;
    const isTrusted = context.trustedInput?.hasReceivedInput ?? false;
    const notes = context.trustedInput && opensPopup(element) ? [PopupNote] : [];
    if (link?.newTab && !isComplete) notes.push(BlockedTabNote);
    return {
      target: element,
      input: isTrusted ? 'trusted' : 'synthetic',
      notes,
      hasEffect: () => hasLineChanged(element, line, context),
    };
  });
  return link && !isComplete ? { ...result, link } : result;
}

/**
 * NewTabGuard prevents Chrome from opening the new tab of a clicked link, because Chrome could activate the new tab.
 */
class NewTabGuard {
  hasPreventedNewTab = false;
  readonly #controller = new AbortController();

  constructor() {
    addEventListener('click', (event) => this.#preventDefault(event), { signal: this.#controller.signal });
  }

  #preventDefault(event: MouseEvent): void {
    if (event.isTrusted || event.defaultPrevented) return;
    this.hasPreventedNewTab = true;
    event.preventDefault();
  }

  close(): void {
    this.#controller.abort();
  }
}

const PopupNote =
  'The popup of the field was not opened: use browser_select_option or browser_type to set the value of the field.';

const BlockedTabNote =
  'The link opens a new tab, which Chrome blocks without a user gesture. Open its address with browser_tabs.';

function hasLineChanged(element: Element, lineBefore: string, context: PageContext): boolean {
  if (!element.isConnected) return true;
  return describeElement(element, context).replace(' [focused]', '') !== lineBefore.replace(' [focused]', '');
}

function findClickedLink(element: Element, args: ClickArguments): ClickResult['link'] {
  const link = findClosestInFlatTree(element, isLink);
  if (!link) return undefined;
  const href = readHref(link);
  if (/^javascript:/i.test(href)) return { href: '', newTab: false, script: href };
  if (!/^https?:/.test(href)) return undefined;
  const target = link.getAttribute('target') ?? '';
  const isNamed = target !== '' && !/^_(self|parent|top)$/i.test(target);
  const hasTabModifier =
    args.modifiers?.some((key) => key === 'Control' || key === 'Meta' || key === 'ControlOrMeta') ?? false;
  return { href, newTab: isNamed || hasTabModifier };
}

type ClickOptions = Pick<ClickArguments, 'button' | 'doubleClick' | 'modifiers' | 'timeoutMs'>;

/** clickElement clicks an element, and then waits for an animation frame in which the page can react. */
export async function clickElement(element: Element, options: ClickOptions, context: PageContext): Promise<void> {
  await pressElement(element, options, context);
  await waitForNextFrame(context.signal);
}

/** pressElement reports whether the browser performed the default action of the click, or the page prevented it. */
async function pressElement(element: Element, options: ClickOptions, context: PageContext): Promise<boolean> {
  const trustedMouse = makeTrustedMouse(element, options, context);
  const mouse = new Mouse(options.button, options.modifiers);
  const point = await moveMouseTo(trustedMouse ?? mouse, element, options.timeoutMs, context);
  context.signal.throwIfAborted();
  const clickCount = options.doubleClick ? 2 : 1;
  let isComplete = trustedMouse !== undefined;
  context.markActed();
  for (let count = 1; count <= clickCount; count++) {
    await trustedMouse?.press(point, count);
    await trustedMouse?.release(point, count);
    if (!trustedMouse) isComplete = !pressAndRelease(mouse, point, count);
  }
  context.setProgressText('clicked');
  return isComplete;
}

function pressAndRelease(mouse: Mouse, point: InputPoint, count: number): boolean {
  const hit = point.hit.isConnected ? point.hit : undefined;
  if (!hit) return false;
  mouse.press(hit, count);
  const target = mouse.release(count);
  return target?.isConnected === true && mouse.click(target, count);
}

/** moveMouseTo measures the element's position after the move, because the move can shift the element. */
export async function moveMouseTo(
  mouse: { move(x: number, y: number, hit: Element): unknown },
  element: Element,
  timeoutMs: number | undefined,
  context: PageContext,
): Promise<InputPoint> {
  let point = await waitUntilReady(element, timeoutMs, context);
  for (let moves = 0; moves < 3; moves++) {
    // Some UI libraries ignore a pointer that enters an element but does not move inside the element.
    if (moves === 0) await mouse.move(point.x + 1, point.y, point.hit);
    await mouse.move(point.x, point.y, point.hit);
    await waitForNextFrame(context.signal);
    const nextPoint = findInputPoint(element);
    if ('hit' in nextPoint && nextPoint.hit === point.hit) {
      if (point.isMoving || (nextPoint.x === point.x && nextPoint.y === point.y)) return nextPoint;
    }
    point = await waitUntilReady(element, timeoutMs, context, point.isMoving ? 0 : undefined);
  }
  return point;
}

export async function hover(args: TargetArguments & ActionArguments, context: PageContext): Promise<PageActionResult> {
  const element = findTarget(args.target, context);
  return runAction(args, context, async () => {
    const hoverMouse = context.trustedInput && new TrustedMouse(context.trustedInput, context);
    await moveMouseTo(hoverMouse ?? new Mouse(), element, args.timeoutMs, context);
    context.markActed();
    if (hoverMouse) return { target: element, input: 'trusted' };
    const notes = ['Styles of :hover need trusted input; only the events of the pointer were sent.'];
    return { target: element, input: 'synthetic', notes };
  });
}
