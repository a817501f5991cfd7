// Assigns refs, such as e12, to the elements of a document. An element keeps its ref for its whole lifetime, and no ref
// is used twice.

import { getFlatParent } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import { computeRole } from './roles.ts';
import { unclobbered } from './unclobbered.ts';

interface RememberedElement {
  readonly element: WeakRef<Element>;
  role: string;
  name: string;
}

export class Refs {
  readonly #nodeIds = new WeakMap<Node, number>();
  readonly #elements = new Map<string, RememberedElement>();
  #lastRef = 0;
  #lastId = 0;
  readonly #refNumbers = new WeakMap<Element, number>();
  readonly #weakRefs = new WeakMap<Element, WeakRef<Element>>();

  get lastRef(): number {
    return this.#lastRef;
  }

  continueNumbers(lastRef: number): void {
    this.#lastRef = Math.max(this.#lastRef, lastRef);
  }

  idOf(node: Node): number {
    const known = this.#nodeIds.get(node);
    if (known !== undefined) return known;
    this.#nodeIds.set(node, ++this.#lastId);
    return this.#lastId;
  }

  refOf(element: Element, prefix: string, role: string, name: string): string {
    let refNumber = this.#refNumbers.get(element);
    if (refNumber === undefined) {
      refNumber = ++this.#lastRef;
      this.#refNumbers.set(element, refNumber);
      this.#forgetDead();
    }
    const elementRef = `e${refNumber}`;
    const known = this.#elements.get(elementRef);
    if (known) {
      known.role = role;
      known.name = name;
    } else this.#elements.set(elementRef, { element: this.weakRefOf(element), role, name });
    return prefix + elementRef;
  }

  /** weakRefOf creates only one WeakRef for each element, because creating one takes long. */
  weakRefOf(element: Element): WeakRef<Element> {
    const known = this.#weakRefs.get(element);
    if (known) return known;
    const weakRef = new WeakRef(element);
    this.#weakRefs.set(element, weakRef);
    return weakRef;
  }

  /** For an element that is no longer in the document, find returns the last known role and name. */
  find(elementRef: string, prefix: string): Element | { readonly role: string; readonly name: string } | undefined {
    if (!elementRef.startsWith(prefix)) return undefined;
    const known = this.#elements.get(elementRef.slice(prefix.length));
    if (!known) return undefined;
    const element = known.element.deref();
    return element?.isConnected && isInDocument(element) ? element : { role: known.role, name: known.name };
  }

  /** #forgetDead deletes refs of elements that no longer exist, but keeps 2,000 of them for error messages. */
  #forgetDead(): void {
    if (this.#lastRef % 5_000 !== 0) return;
    let kept = 0;
    const dead: string[] = [];
    for (const [elementRef, { element }] of this.#elements) if (element.deref() === undefined) dead.push(elementRef);
    for (const elementRef of dead) if (++kept > 2_000) this.#elements.delete(elementRef);
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
  const others = new Set(secondText.toLowerCase().split(/\s+/));
  let common = 0;
  for (const word of words) if (others.has(word)) common++;
  return (0.99 * 2 * common) / (words.size + others.size);
}

export function isAttached(element: Element): boolean {
  return element.isConnected && (getFlatParent(element) !== null || element === unclobbered.documentElement);
}
