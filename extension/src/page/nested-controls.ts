// Distinguishes a control from the controls inside it, so that a click on a card does not press a button of the card.
import { containsInFlatTree, getFlatParent, listFlatChildren } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import { ActionRoles, computeRole } from './roles.ts';

/**
 * isOnOtherControl reports whether a click on the element `hit` operates a control inside the given element or its
 * label, instead of the given element. A control that makes up the whole element, such as the link of a menu item, does
 * not count as another control.
 */
export function isOnOtherControl(element: Element, hit: Element): boolean {
  let control: Element | undefined;
  for (let at: Element | null = hit; at && at !== element; at = getFlatParent(at)) {
    if (at instanceof HTMLLabelElement && at.control === element) return control !== undefined;
    if (containsInFlatTree(at, element)) return false; // the element lets clicks through to this control
    if (!control && isControl(at)) control = at;
  }
  if (!control) return false;
  return hasOwnText(element) || !computeControlName(element).includes(computeControlName(control));
}

/**
 * ContentRoles are the roles of elements that a user can operate, but that usually pass clicks to the element around
 * them.
 */
const ContentRoles = /^(gridcell|canvas|video|audio|embed)$/;

function isControl(element: Element): boolean {
  const role = computeRole(element);
  if (ActionRoles.has(role) && !ContentRoles.test(role)) return true;
  return element instanceof HTMLLabelElement && element.control !== null;
}

function computeControlName(element: Element): string {
  return computeElementName(element, computeRole(element));
}

export function hasOwnText(element: Element): boolean {
  return !listOwnTextRects(element).next().done;
}

/** MaxVisitedNodes limits how many nodes listOwnTextRects visits. */
const MaxVisitedNodes = 100;

/** listOwnTextRects yields the rectangles of an element's texts, except texts inside another control. */
export function* listOwnTextRects(element: Element): Generator<DOMRect> {
  const uncheckedNodes: Node[] = [...listFlatChildren(element)];
  for (let visitedCount = 0; visitedCount < MaxVisitedNodes; visitedCount++) {
    const node = uncheckedNodes.shift();
    if (!node) return;
    if (node instanceof Element && !isControl(node)) uncheckedNodes.unshift(...listFlatChildren(node));
    if (!(node instanceof Text) || node.data.trim() === '') continue;
    const range = new Range();
    range.selectNodeContents(node);
    yield* range.getClientRects();
  }
}
