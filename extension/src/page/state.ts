// Stores the state of one document: its refs and its latest snapshots.

import { describeElement } from './describe.ts';
import type { DiffLine } from './diff.ts';
import { PageFailure } from './failure.ts';
import { forEachRoot } from './flat-tree.ts';
import type { Line } from './lines.ts';
import type { LastUsedNumbers, PageProgress, SnapshotMode } from './operations.ts';
import { ElementRefs, findNearestMatch } from './refs.ts';
import type { TrustedInput } from './trusted.ts';

export interface PageContext {
  readonly state: DocumentState;
  readonly prefix: string;
  readonly report: (progress: PageProgress) => void;
  readonly signal: AbortSignal;
  readonly setProgressText: (progressText: string) => void;
  /**
   * An action calls markActed just before its first input. If the document ends later, the worker can report that the
   * action has begun.
   */
  readonly markActed: () => void;
  /**
   * The field `trustedInput` sends trusted input through the debugger, or is undefined if the operation dispatches only
   * synthetic events.
   */
  readonly trustedInput?: TrustedInput | undefined;
}

export interface StoredLine extends DiffLine {
  readonly element: WeakRef<Element>;
}

export interface StoredSnapshot {
  readonly id: string;
  readonly number: number;
  readonly lines: readonly StoredLine[];
  readonly mode: SnapshotMode;
  readonly target: string;
  readonly maxTokens: number;
}

/** StoredText is the content of a page, which the agent reads in parts. */
export interface StoredText {
  readonly text: string;
  /** isTruncated is true if the content exceeds the limit of the read operation, so that its end is missing. */
  readonly isTruncated: boolean;
}

const MaxSnapshots = 8;
const MaxStoredLines = 100_000;

/**
 * RowAdditionTracker records which rows the page added. A row that an earlier snapshot lacks is not always new, because
 * scrolling can reveal an old row.
 */
export class RowAdditionTracker {
  snapshots = 0;
  readonly #snapshotBeforeAdding = new WeakMap<Element, number>();
  readonly #observer = new MutationObserver((records) => this.#recordMutations(records));

  watch(container: Node): void {
    this.#observer.observe(container, { childList: true });
  }

  wasAddedSince(element: Element, snapshot: number): boolean {
    this.#recordMutations(this.#observer.takeRecords());
    return (this.#snapshotBeforeAdding.get(element) ?? -1) >= snapshot;
  }

  #recordMutations(records: readonly MutationRecord[]): void {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) if (node instanceof Element) this.#snapshotBeforeAdding.set(node, this.snapshots);
    }
  }
}

export class DocumentState {
  readonly refs = new ElementRefs();
  readonly rowAdditions = new RowAdditionTracker();
  readonly #snapshots: StoredSnapshot[] = [];
  readonly #storedTexts = new Map<string, StoredText>();
  #lastStoredTextNumber = 0;

  get lastNumbers(): LastUsedNumbers {
    return { ref: this.refs.lastRef, snapshot: this.rowAdditions.snapshots };
  }

  continueNumbering({ ref, snapshot }: LastUsedNumbers): void {
    this.refs.continueNumbering(ref);
    this.rowAdditions.snapshots = Math.max(this.rowAdditions.snapshots, snapshot);
  }

  storeSnapshot(
    lines: readonly Line[],
    origin: Pick<StoredSnapshot, 'mode' | 'target' | 'maxTokens'>,
    prefix: string,
  ): string {
    const number = ++this.rowAdditions.snapshots;
    const id = `${prefix}s${number}`;
    const storedLines = lines.map(({ depth, text, key, folded, element }) => ({
      depth,
      text,
      key,
      folded,
      element: this.refs.getWeakRef(element),
    }));
    this.#snapshots.push({ id, number, lines: storedLines, ...origin });
    let size = 0;
    for (const [i, snapshot] of [...this.#snapshots.entries()].reverse()) {
      size += snapshot.lines.length;
      const isKept = i >= this.#snapshots.length - MaxSnapshots && (size <= MaxStoredLines || snapshot.id === id);
      if (!isKept) this.#snapshots.splice(i, 1);
    }
    return id;
  }

  findSnapshot(id: string): StoredSnapshot | undefined {
    return this.#snapshots.find((snapshot) => snapshot.id === id);
  }

  /** storeText keeps only the four newest texts. */
  storeText(text: StoredText): string {
    const id = `r${++this.#lastStoredTextNumber}`;
    this.#storedTexts.set(id, text);
    for (const old of this.#storedTexts.keys()) {
      if (this.#storedTexts.size <= 4) break;
      this.#storedTexts.delete(old);
    }
    return id;
  }

  findText(id: string): StoredText | undefined {
    return this.#storedTexts.get(id);
  }
}

/** findTarget returns the element of a ref, or throws stale_ref with the most similar element. */
export function findTarget(ref: string, context: PageContext): Element {
  const { state, prefix } = context;
  const foundElement = state.refs.find(ref, prefix);
  if (foundElement instanceof Element) return foundElement;
  if (!/^(f\d+)?e\d+$/.test(ref)) {
    throw new PageFailure(
      'invalid_arguments',
      `"${ref}" is not a ref. Use a ref such as e12 from browser_snapshot or browser_find.`,
    );
  }
  if (!foundElement) {
    throw new PageFailure(
      'stale_ref',
      `There is no element ${ref} in this document. Take a new snapshot and use a ref from it.`,
    );
  }
  const elementText = `${foundElement.role}${foundElement.name ? ` ${JSON.stringify(foundElement.name)}` : ''}`;
  const match = findNearestMatch(foundElement, iterateElements());
  if (!match) {
    throw new PageFailure(
      'stale_ref',
      `The element ${ref} is gone, and no element is similar. Take a new snapshot.`,
      `the element was: ${elementText}`,
    );
  }
  const matchRef = state.refs.getElementRef(match, prefix, foundElement.role, foundElement.name);
  throw new PageFailure(
    'stale_ref',
    `The element ${ref} is gone. The nearest match is ${matchRef}. Check it in a new snapshot, then use its ref.`,
    `the element was: ${elementText}\nthe nearest match is: ${describeElement(match, context)}`,
    matchRef,
  );
}

function* iterateElements(): Generator<Element> {
  const roots: ParentNode[] = [];
  forEachRoot((root) => roots.push(root));
  for (const root of roots) yield* root.querySelectorAll('*');
}
