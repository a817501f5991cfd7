// Finds the element at a point, for tools that take coordinates of a screenshot.
import { lineOf } from './describe.ts';
import { elementAt } from './flat-tree.ts';
import { frameInfo } from './frames.ts';
import type { HitArguments, HitResult } from './hit-operation.ts';
import { meaningfulElement } from './ready.ts';
import type { Context } from './state.ts';

/** hit implements the page script operation `hit`, which returns the element at a point. */
export async function hit({ x, y }: HitArguments, context: Context): Promise<HitResult> {
  const element = elementAt(x, y);
  if (!element) return {};
  const line = lineOf(meaningfulElement(element), context);
  return /^(iframe|frame|object|embed)$/.test(element.localName)
    ? { line, frame: frameInfo(element, '', -1) }
    : { line };
}
