// Finds the element at a point in the viewport, for tools whose arguments are coordinates in a screenshot.
import { describeElement } from './describe.ts';
import { findElementAtPoint } from './flat-tree.ts';
import { makeFrameInfo } from './frames.ts';
import type { HitTestArguments, HitTestResult } from './hit-operation.ts';
import { findMeaningfulElement } from './ready.ts';
import type { PageContext } from './state.ts';

export async function describeElementAtPoint({ x, y }: HitTestArguments, context: PageContext): Promise<HitTestResult> {
  const element = findElementAtPoint(x, y);
  if (!element) return {};
  const line = describeElement(findMeaningfulElement(element), context);
  return /^(iframe|frame|object|embed)$/.test(element.localName)
    ? { line, frame: makeFrameInfo(element, '', -1) }
    : { line };
}
