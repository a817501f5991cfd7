// Finds texts that pages write twice: once for screen readers, visually hidden, and once as the user sees them, with
// aria-hidden. Shops write prices twice in this way, and math libraries write formulas twice.
import { getFlatParent, listFlatChildren } from './flat-tree.ts';
import { determineVisibility } from './visibility.ts';

/** MaxSiblings is the maximum number of children of an element that may contain a hidden text and its drawn copy. */
const MaxSiblings = 4;

/**
 * findHiddenOriginal returns the visually hidden sibling whose text an element with aria-hidden draws for the user, or
 * undefined if the element is decoration.
 */
export function findHiddenOriginal(element: Element): Element | undefined {
  const parent = getFlatParent(element);
  const siblings = parent ? [...listFlatChildren(parent)].filter((node) => node instanceof Element) : [];
  if (siblings.length > MaxSiblings) return undefined;
  return siblings.find((sibling) => {
    if (sibling.getAttribute('aria-hidden') === 'true' || !sibling.textContent?.trim()) return false;
    const { isRendered, hidesContents } = determineVisibility(sibling, getComputedStyle(sibling));
    return isRendered && hidesContents;
  });
}
