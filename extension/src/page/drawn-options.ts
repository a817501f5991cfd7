// Finds the visible options of a custom list. Some pages hide the elements with ARIA roles, and draw other elements in
// place of them.
import { getFlatParent, listFlatChildren } from './flat-tree.ts';
import { unclobberedDocument } from './unclobbered.ts';

const MaxSearchedElements = 2_000;

/** findCustomOptions returns the elements with text in the popup of a list whose ARIA options have no size. */
export function findCustomOptions(listElement: Element): Element[] {
  const popupElement = findPopup(listElement);
  const foundOptions: Element[] = [];
  const pendingElements: Element[] = popupElement ? [popupElement] : [];
  for (let checkedCount = 0; checkedCount < MaxSearchedElements; checkedCount++) {
    const nextElement = pendingElements.shift();
    if (!nextElement) break;
    if (nextElement === listElement) continue;
    const children = [...listFlatChildren(nextElement)];
    const hasText = children.some((child) => child instanceof Text && child.data.trim() !== '');
    if (hasText && hasSize(nextElement)) foundOptions.push(nextElement);
    else pendingElements.push(...children.filter((child) => child instanceof Element));
  }
  return foundOptions;
}

export function findPopup(listElement: Element): Element | undefined {
  for (
    let at: Element | null = getFlatParent(listElement);
    at && at !== unclobberedDocument.body;
    at = getFlatParent(at)
  ) {
    if (hasSize(at)) return at;
  }
  return undefined;
}

export function hasSize(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width >= 2 && height >= 2 && element.checkVisibility({ visibilityProperty: true });
}
