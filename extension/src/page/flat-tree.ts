// Traverses the flat tree of a document, which is what the browser draws: shadow roots replace their hosts' children,
// and assigned nodes replace slots.
import { readShadowRoot } from '../chrome-dom.ts';
import { getChildNodes, getParentNode, isClobbered, unclobbered } from './unclobbered.ts';

/** Checking the tag name first is faster than calling Chrome's API for shadow roots on each element. */
const ShadowHostTags = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);

/** knownRootRefs contains all shadow roots that were found so far, so that no search is needed to watch them. */
const knownRootRefs = new Set<WeakRef<ShadowRoot>>();
const knownRootSet = new WeakSet<ShadowRoot>();

export function getShadowRoot(element: Element): ShadowRoot | null {
  if (element instanceof HTMLFormElement) return null; // Form fields can hide properties of the form.
  const tag = element.localName;
  if (!ShadowHostTags.has(tag) && !tag.includes('-')) return null;
  const root = readShadowRoot(element);
  if (root && !knownRootSet.has(root)) {
    knownRootSet.add(root);
    knownRootRefs.add(new WeakRef(root));
  }
  return root;
}

export function listKnownRoots(): (Document | ShadowRoot)[] {
  const roots: (Document | ShadowRoot)[] = [document];
  for (const reference of knownRootRefs) {
    const root = reference.deref();
    if (!root) knownRootRefs.delete(reference);
    else if (root.isConnected) roots.push(root);
  }
  return roots;
}

/** listFlatChildren returns the nodes that the browser draws inside an element, in order. */
export function listFlatChildren(element: Element): Iterable<Node> {
  const nodes = listRenderedNodes(element);
  const hasForm = element.localName !== 'form' && hasClobberedForm(nodes);
  return hasForm ? expandForms(nodes) : nodes;
}

function listRenderedNodes(element: Element): Iterable<Node> {
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return (getShadowRoot(element) ?? element).childNodes;
}

function hasClobberedForm(nodes: Iterable<Node>): boolean {
  for (const node of nodes) if (node instanceof HTMLFormElement && isClobbered(node)) return true;
  return false;
}

export function* expandForms(nodes: Iterable<Node>): Generator<Node> {
  for (const node of nodes) {
    if (isClobbered(node)) yield* expandForms(getChildNodes(node) ?? []);
    else yield node;
  }
}

/** getFlatParent skips a form whose fields hide the form's DOM properties. */
export function getFlatParent(element: Element): Element | null {
  const slot = isClobbered(element) ? null : element.assignedSlot;
  if (slot) return slot;
  let parent = getParentNode(element);
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
  let found = unclobbered.elementFromPoint(x, y);
  while (found) {
    const inner = getShadowRoot(found)?.elementFromPoint(x, y);
    if (!inner || inner === found) break;
    found = inner;
  }
  return found && isClobbered(found) ? getFlatParent(found) : found;
}

export function getFocusedElement(): Element | null {
  let focused = unclobbered.activeElement;
  while (focused) {
    const inner = getShadowRoot(focused)?.activeElement;
    if (!inner) break;
    focused = inner;
  }
  return focused === unclobbered.body ? null : focused;
}

export function forEachRoot(visit: (root: Document | ShadowRoot) => void): void {
  const pending: (Document | ShadowRoot)[] = [unclobbered];
  for (let root = pending.pop(); root; root = pending.pop()) {
    visit(root);
    for (const element of findPossibleShadowHosts(root)) {
      const inner = getShadowRoot(element);
      if (inner) pending.push(inner);
    }
  }
}

const shadowHostSelector = [...ShadowHostTags].join(',');

/** findPossibleShadowHosts uses querySelectorAll, because a script would need much longer to read 50,000 tag names. */
function* findPossibleShadowHosts(root: Document | ShadowRoot): Generator<Element> {
  yield* root.querySelectorAll(shadowHostSelector);
  if (root instanceof ShadowRoot) {
    for (const element of root.querySelectorAll('*')) if (element.localName.includes('-')) yield element;
    return;
  }
  const type = XPathResult.ORDERED_NODE_SNAPSHOT_TYPE;
  const found = unclobbered.evaluate("//*[contains(local-name(),'-')]", document, null, type, null);
  for (let i = 0; i < found.snapshotLength; i++) {
    const node = found.snapshotItem(i);
    if (node instanceof Element) yield node;
  }
}

export function selectAll(selector: string, limit = Number.POSITIVE_INFINITY): Element[] {
  const found: Element[] = [];
  forEachRoot((root) => {
    for (const element of root.querySelectorAll(selector)) {
      if (found.length < limit && !isClobbered(element)) found.push(element);
    }
  });
  return found;
}

/** selectInKnownRoots searches only the document and the shadow roots that were found so far. */
export function selectInKnownRoots(selector: string): Element[] {
  return listKnownRoots()
    .flatMap((root) => [...(root === document ? unclobbered : root).querySelectorAll(selector)])
    .filter((element) => !isClobbered(element));
}
