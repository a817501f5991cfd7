// Finds the visible options of a custom list. Some pages hide the elements with ARIA roles, and draw other elements in
// place of them.
import { getFlatParent, listFlatChildren } from './flat-tree.ts';
import { unclobbered } from './unclobbered.ts';

const MaxSearchedElements = 2_000;

/** findDrawnOptions returns the elements with text in the popup of a list whose ARIA options have no size. */
export function findDrawnOptions(list: Element): Element[] {
  const popup = findPopup(list);
  const found: Element[] = [];
  const pending: Element[] = popup ? [popup] : [];
  for (let checked = 0; checked < MaxSearchedElements; checked++) {
    const next = pending.shift();
    if (!next) break;
    if (next === list) continue;
    const children = [...listFlatChildren(next)];
    const hasText = children.some((child) => child instanceof Text && child.data.trim() !== '');
    if (hasText && hasSize(next)) found.push(next);
    else pending.push(...children.filter((child) => child instanceof Element));
  }
  return found;
}

export function findPopup(list: Element): Element | undefined {
  for (let at: Element | null = getFlatParent(list); at && at !== unclobbered.body; at = getFlatParent(at)) {
    if (hasSize(at)) return at;
  }
  return undefined;
}

export function hasSize(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width >= 2 && height >= 2 && element.checkVisibility({ visibilityProperty: true });
}
