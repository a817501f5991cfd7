// Traverses the flat tree of a document, which is what the browser draws: shadow roots replace their hosts' children,
// and assigned nodes replace slots.
import { readShadowRoot } from '../chrome-dom.ts';
import {
  getFirstChild,
  getNextSibling,
  getParentNode,
  isClobbered,
  isForm,
  unclobberedDocument,
} from './unclobbered.ts';

/** Checking the tag name first is faster than calling Chrome's API for shadow roots on each element. */
const ShadowHostTags = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);

/** knownRootRefs contains all shadow roots that were found so far, so that no search is needed to watch them. */
const knownRootRefs = new Set<WeakRef<ShadowRoot>>();
const knownRootSet = new WeakSet<ShadowRoot>();

export function getShadowRoot(element: Element): ShadowRoot | null {
  if (element instanceof HTMLFormElement) return null; // fields of a form may hide the form's DOM properties
  const tagName = element.localName;
  if (!ShadowHostTags.has(tagName) && !tagName.includes('-')) return null;
  const shadowRoot = readShadowRoot(element);
  if (shadowRoot && !knownRootSet.has(shadowRoot)) {
    knownRootSet.add(shadowRoot);
    knownRootRefs.add(new WeakRef(shadowRoot));
  }
  return shadowRoot;
}

export function listKnownRoots(): (Document | ShadowRoot)[] {
  const knownRoots: (Document | ShadowRoot)[] = [document];
  for (const weakRef of knownRootRefs) {
    const shadowRoot = weakRef.deref();
    if (!shadowRoot) knownRootRefs.delete(weakRef);
    else if (shadowRoot.isConnected) knownRoots.push(shadowRoot);
  }
  return knownRoots;
}

/** listFlatChildren returns the nodes that the browser draws inside an element, in order. */
export function listFlatChildren(element: Element): readonly Node[] {
  if (element instanceof HTMLSlotElement) {
    const assignedNodes = element.assignedNodes();
    if (assignedNodes.length > 0) return expandForms(assignedNodes);
  }
  return listChildNodes(getShadowRoot(element) ?? element);
}

/**
 * listChildNodes replaces each form whose fields hide the form's DOM properties with the form's children. A loop over
 * childNodes would need ten times as long.
 */
export function listChildNodes(parent: Node): readonly Node[] {
  const nodes: Node[] = [];
  let node = isForm(parent) ? getFirstChild(parent) : parent.firstChild;
  while (node) {
    if (isForm(node)) {
      nodes.push(...expandForms([node]));
      node = getNextSibling(node);
    } else {
      nodes.push(node);
      node = node.nextSibling;
    }
  }
  return nodes;
}

export function expandForms(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node) => (isClobbered(node) ? listChildNodes(node) : [node]));
}

/** getFlatParent skips a form whose fields hide the form's DOM properties. */
export function getFlatParent(element: Element): Element | null {
  const assignedSlot = isClobbered(element) ? null : element.assignedSlot;
  if (assignedSlot) return assignedSlot;
  let parent = isForm(element) ? getParentNode(element) : element.parentNode;
  while (parent && isClobbered(parent)) parent = getParentNode(parent);
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

export function containsInFlatTree(outer: Element, inner: Element): boolean {
  for (let at: Element | null = inner; at !== null; at = getFlatParent(at)) if (at === outer) return true;
  return false;
}

export function findClosestInFlatTree(element: Element, matches: (at: Element) => boolean): Element | undefined {
  for (let at: Element | null = element; at !== null; at = getFlatParent(at)) if (matches(at)) return at;
  return undefined;
}

export function findElementAtPoint(x: number, y: number): Element | null {
  let elementAtPoint = unclobberedDocument.elementFromPoint(x, y);
  while (elementAtPoint) {
    const innerElement = getShadowRoot(elementAtPoint)?.elementFromPoint(x, y);
    if (!innerElement || innerElement === elementAtPoint) break;
    elementAtPoint = innerElement;
  }
  return elementAtPoint && isClobbered(elementAtPoint) ? getFlatParent(elementAtPoint) : elementAtPoint;
}

export function getFocusedElement(): Element | null {
  let focusedElement = unclobberedDocument.activeElement;
  while (focusedElement) {
    const innerElement = getShadowRoot(focusedElement)?.activeElement;
    if (!innerElement) break;
    focusedElement = innerElement;
  }
  return focusedElement === unclobberedDocument.body ? null : focusedElement;
}

export function forEachRoot(visitRoot: (shadowRoot: Document | ShadowRoot) => void): void {
  const pendingRoots: (Document | ShadowRoot)[] = [unclobberedDocument];
  for (let shadowRoot = pendingRoots.pop(); shadowRoot; shadowRoot = pendingRoots.pop()) {
    visitRoot(shadowRoot);
    for (const element of findPossibleShadowHosts(shadowRoot)) {
      const inner = getShadowRoot(element);
      if (inner) pendingRoots.push(inner);
    }
  }
}

/** findShadowRoots finds all shadow roots, so that later searches in known roots find everything. */
export function findShadowRoots(): void {
  forEachRoot(() => undefined);
}

const shadowHostSelector = [...ShadowHostTags].join(',');

/** findPossibleShadowHosts uses querySelectorAll, because a script would need much longer to read 50,000 tag names. */
function* findPossibleShadowHosts(shadowRoot: Document | ShadowRoot): Generator<Element> {
  yield* shadowRoot.querySelectorAll(shadowHostSelector);
  if (shadowRoot instanceof ShadowRoot) {
    for (const element of shadowRoot.querySelectorAll('*')) if (element.localName.includes('-')) yield element;
    return;
  }
  const type = XPathResult.ORDERED_NODE_SNAPSHOT_TYPE;
  const elementAtPoint = unclobberedDocument.evaluate("//*[contains(local-name(),'-')]", document, null, type, null);
  for (let i = 0; i < elementAtPoint.snapshotLength; i++) {
    const node = elementAtPoint.snapshotItem(i);
    if (node instanceof Element) yield node;
  }
}

export function selectAll(selector: string, maxElements = Number.POSITIVE_INFINITY): Element[] {
  const elementAtPoint: Element[] = [];
  forEachRoot((shadowRoot) => {
    for (const element of shadowRoot.querySelectorAll(selector)) {
      if (elementAtPoint.length < maxElements && !isClobbered(element)) elementAtPoint.push(element);
    }
  });
  return elementAtPoint;
}

/** selectInKnownRoots searches only the document and the shadow roots that were found so far. */
export function selectInKnownRoots(selector: string): Element[] {
  return listKnownRoots()
    .flatMap((shadowRoot) => [
      ...(shadowRoot === document ? unclobberedDocument : shadowRoot).querySelectorAll(selector),
    ])
    .filter((element) => !isClobbered(element));
}
