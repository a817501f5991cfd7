// Clicks and hovers.
import { runAct } from './act.ts';
import { hrefOf, isLink, lineOf } from './describe.ts';
import { closestInFlatTree } from './flat-tree.ts';
import type { ActArguments, ActResult, ClickArguments, ClickResult, TargetArguments } from './operations.ts';
import { nextFrame } from './pace.ts';
import { Mouse } from './pointer.ts';
import { findPoint, type Point, waitReady } from './ready.ts';
import { type Context, targetElement } from './state.ts';

/** click is the operation of this name. */
export async function click(args: ClickArguments, context: Context): Promise<ClickResult> {
  const element = targetElement(args.target, context);
  const link = args.button === undefined || args.button === 'left' ? linkOf(element, args) : undefined;
  const result = await runAct(args, context, async () => {
    const line = lineOf(element, context);
    const hasEffect = await clickElement(element, args, context);
    const notes = link?.newTab
      ? [
          `The link opens a new tab, which Chrome blocks without a user gesture. Open it with browser_tabs: ${link.href}`,
        ]
      : [];
    return {
      target: element,
      input: 'synthetic',
      notes,
      hasEffect: () => hasEffect || lineChanged(element, line, context),
    };
  });
  return link ? { ...result, link } : result;
}

function lineChanged(element: Element, before: string, context: Context): boolean {
  if (!element.isConnected) return true;
  return lineOf(element, context).replace(' [focused]', '') !== before.replace(' [focused]', '');
}

function linkOf(element: Element, args: ClickArguments): ClickResult['link'] {
  const link = closestInFlatTree(element, isLink);
  if (!link) return undefined;
  const href = hrefOf(link);
  if (!/^https?:/.test(href)) return undefined;
  const target = link.getAttribute('target') ?? '';
  const isNamed = target !== '' && !/^_(self|parent|top)$/i.test(target);
  const opensTab =
    args.modifiers?.some((key) => key === 'Control' || key === 'Meta' || key === 'ControlOrMeta') ?? false;
  return { href, newTab: isNamed || opensTab };
}

/** ClickOptions are the parts of a click's arguments that clickElement needs. */
type ClickOptions = Pick<ClickArguments, 'button' | 'doubleClick' | 'modifiers' | 'timeoutMs'>;

/** clickElement waits until an element is ready and clicks it. It returns whether the element is gone afterwards. */
export async function clickElement(element: Element, options: ClickOptions, context: Context): Promise<boolean> {
  const mouse = new Mouse(options.button, options.modifiers);
  const point = await moveTo(mouse, element, options.timeoutMs, context);
  context.signal.throwIfAborted();
  const rounds = options.doubleClick ? 2 : 1;
  for (let count = 1; count <= rounds; count++) pressAndRelease(mouse, point, count);
  context.setDone('clicked');
  await nextFrame(context.signal);
  return !element.isConnected;
}

function pressAndRelease(mouse: Mouse, point: Point, count: number): void {
  const hit = point.hit.isConnected ? point.hit : undefined;
  if (!hit) return;
  mouse.press(hit, count);
  const target = mouse.release(count);
  if (target?.isConnected) mouse.click(target, count);
}

/**
 * moveTo moves the pointer onto an element. The move may shift the page, for example when a menu closes, so the point is
 * measured again afterwards.
 */
export async function moveTo(
  mouse: Mouse,
  element: Element,
  timeoutMs: number | undefined,
  context: Context,
): Promise<Point> {
  let point = await waitReady(element, timeoutMs, context);
  for (let moves = 0; moves < 3; moves++) {
    mouse.move(point.x, point.y, point.hit);
    await nextFrame(context.signal);
    const again = findPoint(element);
    if ('hit' in again && again.hit === point.hit && again.x === point.x && again.y === point.y) return again;
    point = await waitReady(element, timeoutMs, context);
  }
  return point;
}

/** hover is the operation of this name. */
export async function hover(args: TargetArguments & ActArguments, context: Context): Promise<ActResult> {
  const element = targetElement(args.target, context);
  return runAct(args, context, async () => {
    await moveTo(new Mouse(), element, args.timeoutMs, context);
    const notes = ['Styles of :hover need trusted input; only the events of the pointer were sent.'];
    return { target: element, input: 'synthetic', notes };
  });
}
