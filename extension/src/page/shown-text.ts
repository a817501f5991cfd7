// Collects the visible text of an element directly from the DOM, without a snapshot tree.
import { findHiddenOriginal } from './drawn-copies.ts';
import { getFlatParent, listFlatChildren } from './flat-tree.ts';
import { determineVisibility, hasOwnText, isInlineDisplay, isTextShown } from './visibility.ts';
import { MaxNesting } from './walk.ts';

/** readShownText returns the beginning of an element's visible text, with about `limit` characters. */
export function readShownText(element: Element, limit: number): string {
  const collector = new ShownTextReader(limit);
  if (!isHidden(element)) collector.add(element, 0);
  return collector.text;
}

class ShownTextReader {
  text = '';
  readonly #maxTextLength: number;

  constructor(limit: number) {
    this.#maxTextLength = limit;
  }

  add(element: Element, nesting: number): void {
    if (nesting > MaxNesting) return;
    if (element.getAttribute('aria-hidden') === 'true' && !findHiddenOriginal(element)) return;
    if (/^(script|style|template|noscript)$/.test(element.localName)) return;
    const style = getComputedStyle(element);
    const visibility = determineVisibility(element, style);
    if (!visibility.isRendered || visibility.hidesContents) return;
    const isReadable = visibility.text && isTextShown(element, style);
    if (!isInlineDisplay(style.display) || element.localName === 'br') this.text += ' ';
    for (const child of listFlatChildren(element)) {
      if (this.text.length >= this.#maxTextLength) return;
      if (child instanceof Element) this.add(child, nesting + 1);
      else if (child instanceof Text && isReadable) this.text += child.data;
    }
  }
}

/** An invisible input counts as visible if one of its labels is visible. */
export function isHidden(element: Element): boolean {
  if (!isHiddenBox(element)) return false;
  const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
  return !labels.some((label) => !isHiddenBox(label));
}

function isHiddenBox(element: Element): boolean {
  for (let at: Element | null = element; at; at = getFlatParent(at)) {
    if (at.getAttribute('aria-hidden') === 'true') return true;
    const { isRendered, hidesContents, text } = determineVisibility(at, getComputedStyle(at));
    if (!isRendered || hidesContents || (at === element && !text)) return true;
  }
  const style = getComputedStyle(element);
  return hasOwnText(element) && !isTextShown(element, style);
}
