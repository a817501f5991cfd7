// Assigns refs, such as e12, to the elements of a document. An element keeps its ref for its whole lifetime, and no ref
// is used twice.

import { getFlatParent } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import { computeRole } from './roles.ts';
import { unclobberedDocument } from './unclobbered.ts';

interface RememberedElement {
  readonly element: WeakRef<Element>;
  role: string;
  name: string;
}

export class ElementRefs {
  readonly #nodeIds = new WeakMap<Node, number>();
  readonly #elements = new Map<string, RememberedElement>();
  #lastRef = 0;
  #lastId = 0;
  readonly #refNumbers = new WeakMap<Element, number>();
  readonly #weakRefs = new WeakMap<Element, WeakRef<Element>>();

  get lastRef(): number {
    return this.#lastRef;
  }

  continueNumbering(lastRef: number): void {
    this.#lastRef = Math.max(this.#lastRef, lastRef);
  }

  getNodeId(node: Node): number {
    const existingId = this.#nodeIds.get(node);
    if (existingId !== undefined) return existingId;
    this.#nodeIds.set(node, ++this.#lastId);
    return this.#lastId;
  }

  getElementRef(element: Element, prefix: string, role: string, name: string): string {
    let refNumber = this.#refNumbers.get(element);
    if (refNumber === undefined) {
      refNumber = ++this.#lastRef;
      this.#refNumbers.set(element, refNumber);
      this.#pruneDeadRefs();
    }
    const elementRef = `e${refNumber}`;
    const storedElement = this.#elements.get(elementRef);
    if (storedElement) {
      storedElement.role = role;
      storedElement.name = name;
    } else this.#elements.set(elementRef, { element: this.getWeakRef(element), role, name });
    return prefix + elementRef;
  }

  /** getWeakRef creates only one WeakRef for each element, because creating a WeakRef is slow. */
  getWeakRef(element: Element): WeakRef<Element> {
    const existingWeakRef = this.#weakRefs.get(element);
    if (existingWeakRef) return existingWeakRef;
    const weakRef = new WeakRef(element);
    this.#weakRefs.set(element, weakRef);
    return weakRef;
  }

  /**
   * The method `find` returns the element of a ref, or the last known role and name of an element that left the
   * document.
   */
  find(elementRef: string, prefix: string): Element | { readonly role: string; readonly name: string } | undefined {
    if (!elementRef.startsWith(prefix)) return undefined;
    const storedElement = this.#elements.get(elementRef.slice(prefix.length));
    if (!storedElement) return undefined;
    const element = storedElement.element.deref();
    return element?.isConnected && isInDocument(element)
      ? element
      : { role: storedElement.role, name: storedElement.name };
  }

  /** #pruneDeadRefs deletes refs of elements that no longer exist, but keeps 2,000 of them for error messages. */
  #pruneDeadRefs(): void {
    if (this.#lastRef % 5_000 !== 0) return;
    let keptCount = 0;
    const deadRefs: string[] = [];
    for (const [elementRef, { element }] of this.#elements)
      if (element.deref() === undefined) deadRefs.push(elementRef);
    for (const elementRef of deadRefs) if (++keptCount > 2_000) this.#elements.delete(elementRef);
  }
}

function isInDocument(element: Element): boolean {
  return element.ownerDocument === document && element.isConnected;
}

/** MaxCandidates limits how many elements findNearestMatch compares with the element of a stale ref. */
const MaxCandidates = 5_000;

export function findNearestMatch(
  wantedElement: { readonly role: string; readonly name: string },
  elements: Iterable<Element>,
): Element | undefined {
  let bestMatch: Element | undefined;
  let bestScore = 0;
  let count = 0;
  for (const element of elements) {
    if (++count > MaxCandidates) break;
    if (computeRole(element) !== wantedElement.role || !element.checkVisibility({ visibilityProperty: true })) continue;
    const score = measureSimilarity(computeElementName(element, wantedElement.role), wantedElement.name);
    if (score > bestScore) [bestMatch, bestScore] = [element, score];
  }
  return bestScore >= MinSimilarity ? bestMatch : undefined;
}

const MinSimilarity = 0.4;

function measureSimilarity(firstText: string, secondText: string): number {
  if (firstText === secondText) return 1;
  const words = new Set(firstText.toLowerCase().split(/\s+/));
  const secondWords = new Set(secondText.toLowerCase().split(/\s+/));
  let commonWordCount = 0;
  for (const word of words) if (secondWords.has(word)) commonWordCount++;
  return (0.99 * 2 * commonWordCount) / (words.size + secondWords.size);
}

export function isAttached(element: Element): boolean {
  return element.isConnected && (getFlatParent(element) !== null || element === unclobberedDocument.documentElement);
}
