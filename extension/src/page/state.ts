// Stores the state of one document: its refs and its latest snapshots.

import { describeElement } from './describe.ts';
import type { DiffLine } from './diff.ts';
import { PageFailure } from './failure.ts';
import { forEachRoot } from './flat-tree.ts';
import type { Line } from './lines.ts';
import type { PageNumbers, PageProgress, SnapshotMode } from './operations.ts';
import { findNearestMatch, Refs } from './refs.ts';
import type { TrustedInput } from './trusted.ts';

/** Context contains what a page script operation needs besides its arguments. */
export interface Context {
  readonly state: DocumentState;
  /** prefix is the prefix of the frame's refs, such as f3. */
  readonly prefix: string;
  readonly report: (progress: PageProgress) => void;
  readonly signal: AbortSignal;
  /** setDone records what the operation has done so far, for the case that the operation fails or is cancelled. */
  readonly setDone: (done: string) => void;
  /** trusted sends trusted input through the debugger; undefined if the operation dispatches only synthetic events. */
  readonly trusted?: TrustedInput | undefined;
}

/** StoredLine is a line of an earlier snapshot that is stored to find the changes in a later snapshot. */
export interface StoredLine extends DiffLine {
  readonly element: WeakRef<Element>;
}

/** StoredSnapshot is an earlier snapshot that is stored to find the changes in a later snapshot. */
export interface StoredSnapshot {
  readonly id: string;
  /** number is the snapshot's serial number in its document, starting at 1. */
  readonly number: number;
  readonly lines: readonly StoredLine[];
  readonly mode: SnapshotMode;
  readonly target: string;
  readonly maxTokens: number;
}

const MaxSnapshots = 8;
const MaxStoredLines = 100_000;

/**
 * AddedRows records when the page added rows to long lists, of which a snapshot shows only some rows. A row that is
 * missing from an earlier snapshot is not always new, because scrolling can bring an old row into view.
 */
export class AddedRows {
  /** snapshots is the number of snapshots that were taken so far. */
  snapshots = 0;
  readonly #snapshotBeforeAdding = new WeakMap<Element, number>();
  readonly #observer = new MutationObserver((records) => this.#record(records));

  /** watch starts to record the rows that the page adds to a list. */
  watch(container: Node): void {
    this.#observer.observe(container, { childList: true });
  }

  /** wasAddedSince reports whether the page added an element after the snapshot with the given number. */
  wasAddedSince(element: Element, snapshot: number): boolean {
    this.#record(this.#observer.takeRecords());
    return (this.#snapshotBeforeAdding.get(element) ?? -1) >= snapshot;
  }

  #record(records: readonly MutationRecord[]): void {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) if (node instanceof Element) this.#snapshotBeforeAdding.set(node, this.snapshots);
    }
  }
}

/** DocumentState stores the refs, snapshots and texts of one document. */
export class DocumentState {
  readonly refs = new Refs();
  readonly addedRows = new AddedRows();
  readonly #snapshots: StoredSnapshot[] = [];
  readonly #storedTexts = new Map<string, string>();
  #lastTextNumber = 0;

  /** lastNumbers are the highest element and snapshot numbers that the document has used. */
  get lastNumbers(): PageNumbers {
    return { ref: this.refs.lastRef, snapshot: this.addedRows.snapshots };
  }

  /** continueNumbers continues the element and snapshot numbers of an earlier document in the same frame. */
  continueNumbers({ ref, snapshot }: PageNumbers): void {
    this.refs.continueNumbers(ref);
    this.addedRows.snapshots = Math.max(this.addedRows.snapshots, snapshot);
  }

  /** storeSnapshot stores a snapshot for later comparisons, and returns the ID of the snapshot. */
  storeSnapshot(
    lines: readonly Line[],
    origin: Pick<StoredSnapshot, 'mode' | 'target' | 'maxTokens'>,
    prefix: string,
  ): string {
    const number = ++this.addedRows.snapshots;
    const id = `${prefix}s${number}`;
    const stored = lines.map(({ depth, text, key, folded, element }) => ({
      depth,
      text,
      key,
      folded,
      element: new WeakRef(element),
    }));
    this.#snapshots.push({ id, number, lines: stored, ...origin });
    let size = 0;
    for (const [i, snapshot] of [...this.#snapshots.entries()].reverse()) {
      size += snapshot.lines.length;
      const isKept = i >= this.#snapshots.length - MaxSnapshots && (size <= MaxStoredLines || snapshot.id === id);
      if (!isKept) this.#snapshots.splice(i, 1);
    }
    return id;
  }

  /** findSnapshot returns a stored snapshot, or undefined if the snapshot is no longer stored. */
  findSnapshot(id: string): StoredSnapshot | undefined {
    return this.#snapshots.find((snapshot) => snapshot.id === id);
  }

  /**
   * storeText stores a text that a client reads in parts, and returns an ID for the text. storeText deletes all but the
   * four newest texts.
   */
  storeText(text: string): string {
    const id = `r${++this.#lastTextNumber}`;
    this.#storedTexts.set(id, text);
    for (const old of this.#storedTexts.keys()) {
      if (this.#storedTexts.size <= 4) break;
      this.#storedTexts.delete(old);
    }
    return id;
  }

  findText(id: string): string | undefined {
    return this.#storedTexts.get(id);
  }
}

/** findTarget returns the element of a ref, or throws stale_ref with the most similar element. */
export function findTarget(ref: string, context: Context): Element {
  const { state, prefix } = context;
  const found = state.refs.find(ref, prefix);
  if (found instanceof Element) return found;
  if (!/^(f\d+)?e\d+$/.test(ref)) {
    throw new PageFailure(
      'invalid_arguments',
      `"${ref}" is not a ref. Use a ref such as e12 from browser_snapshot or browser_find.`,
    );
  }
  if (!found) {
    throw new PageFailure(
      'stale_ref',
      `There is no element ${ref} in this document. Take a new snapshot and use a ref from it.`,
    );
  }
  const what = `${found.role}${found.name ? ` ${JSON.stringify(found.name)}` : ''}`;
  const match = findNearestMatch(found, iterateElements());
  if (!match) {
    throw new PageFailure(
      'stale_ref',
      `The element ${ref} is gone, and no element is similar. Take a new snapshot.`,
      `the element was: ${what}`,
    );
  }
  const matchRef = state.refs.refOf(match, prefix, found.role, found.name);
  throw new PageFailure(
    'stale_ref',
    `The element ${ref} is gone. The nearest match is ${matchRef}. Check it in a new snapshot, then use its ref.`,
    `the element was: ${what}\nthe nearest match is: ${describeElement(match, context)}`,
    matchRef,
  );
}

function* iterateElements(): Generator<Element> {
  const roots: ParentNode[] = [];
  forEachRoot((root) => roots.push(root));
  for (const root of roots) yield* root.querySelectorAll('*');
}
