// Prints the tree of visible content as lines of text, indented by one space per level.
import type { SnapshotMode } from './operations.ts';
import type { ElementRefs } from './refs.ts';
import { ActionRoles } from './roles.ts';
import type { FoldMarkerPart, TextPart, TreeNode, TreePart } from './tree.ts';
import { cleanText, shorten } from './visible-text.ts';

export interface Line {
  readonly depth: number;
  readonly text: string;
  readonly key: string;
  readonly element: Element;
  /**
   * The field `frame` is the ref of the frame element that the snapshot line describes, or empty for any other line.
   */
  readonly frame: string;
  /** The field `folded` is true if the line is in a list of which the snapshot shows only some rows. */
  readonly folded: boolean;
  /** isShortened is true if the text of the snapshot line is truncated. */
  readonly isShortened?: boolean;
}

/** SingleLineRoles are the roles of elements whose short content is printed on the element's own snapshot line. */
const SingleLineRoles = new Set(
  `paragraph listitem row heading status alert log timer tooltip option treeitem clickable link button menuitem tab
  term definition gridcell cell columnheader rowheader img text`.split(/\s+/),
);
const RoleLabels: Readonly<Record<string, string>> = {
  paragraph: '',
  listitem: '-',
  cell: '',
  gridcell: '',
  columnheader: '',
  rowheader: '',
  term: '',
  definition: '',
};
const CellRolePattern = /^(cell|gridcell|columnheader|rowheader)$/;
const MaxJoinedCharacters = 500;
const MaxRowCharacters = 1_500;
const MaxLineCharacters = 500;

export class SnapshotPrinter {
  readonly lines: Line[] = [];
  readonly #refs: ElementRefs;
  readonly #mode: SnapshotMode;
  readonly #textCounts = new Map<string, number>();

  constructor(refs: ElementRefs, mode: SnapshotMode) {
    this.#refs = refs;
    this.#mode = mode;
  }

  /** printParts yields after each part, so that the caller can let the page run. */
  *printParts(node: TreeNode, depth: number, key: string): Generator<void> {
    const isFolded = node.rows > node.shownRows;
    for (const part of node.children) {
      if (part.kind === 'node') yield* this.#printNode(part, depth, isFolded);
      else this.#printText(part, depth, key, isFolded);
      yield;
    }
  }

  #printText(part: TextPart | FoldMarkerPart, depth: number, parentKey: string, isFolded: boolean): void {
    if (part.kind === 'text') {
      const text = cleanText(part.text);
      if (text)
        this.#addLine(
          shorten(text, MaxLineCharacters),
          depth,
          this.#makeTextKey(parentKey, text),
          part.element,
          '',
          isFolded,
          text.length > MaxLineCharacters,
        );
    } else this.#addLine(part.text || '…', depth, `${parentKey}…`, part.element, '', true);
  }

  *#printNode(node: TreeNode, depth: number, isFolded: boolean): Generator<void> {
    const key = `#${this.#refs.getNodeId(node.element)}`;
    if (this.#isOmitted(node)) return;
    const joinedLine = this.#joinOnOneLine(node);
    if (joinedLine !== undefined) {
      const isShortened = joinedLine.length > 2 * MaxLineCharacters && joinedLine.endsWith('…');
      if (joinedLine !== '')
        this.#addLine(joinedLine, depth, key, node.element, readFrameRef(node), isFolded, isShortened);
      return;
    }
    const headerText = formatNodeHeader(node);
    const isHeaderEmpty = headerText === '' || headerText === '-';
    if (!isHeaderEmpty) this.#addLine(headerText, depth, key, node.element, readFrameRef(node), isFolded);
    else if (node.role === 'listitem') this.#addLine('- item', depth, key, node.element, '', isFolded);
    const childDepth = isHeaderEmpty && node.role !== 'listitem' ? depth : depth + 1;
    const lineCountBefore = this.lines.length;
    yield* this.printParts(node, childDepth, key);
    if (this.lines.length === lineCountBefore && !node.ref && !node.name && !node.value) {
      if (!isHeaderEmpty || node.role === 'listitem') this.lines.pop();
    }
  }

  #isOmitted(node: TreeNode): boolean {
    if (this.#mode !== 'interactive' || node.children.length > 0) return false;
    return !node.ref && !ActionRoles.has(node.role) && !/^(heading|status|alert)$/.test(node.role);
  }

  #makeTextKey(parentKey: string, text: string): string {
    const key = `${parentKey}:${text}`;
    const count = this.#textCounts.get(key) ?? 0;
    this.#textCounts.set(key, count + 1);
    return count === 0 ? key : `${key}/${count}`;
  }

  #addLine(
    text: string,
    depth: number,
    key: string,
    element: Element,
    frame: string,
    isFolded: boolean,
    isShortened = false,
  ): void {
    this.lines.push({ depth, text, key, element, frame, folded: isFolded, ...(isShortened ? { isShortened } : {}) });
  }

  #joinOnOneLine(node: TreeNode): string | undefined {
    if (node.children.length === 0)
      return SingleLineRoles.has(node.role) || node.ref || node.name ? formatNodeHeader(node) : undefined;
    if (!SingleLineRoles.has(node.role) || !node.children.every((part) => fitsOnParentLine(part, 0))) return undefined;
    const text = node.role === 'row' ? formatRow(node, this.#mode) : joinParts(node.children);
    const limit = node.role === 'row' ? MaxRowCharacters : MaxJoinedCharacters;
    const isText = node.children.length === 1 && node.children[0]?.kind === 'text';
    if (text.length > limit && !isText) return undefined;
    if (text === '') return node.ref || node.name ? formatNodeHeader(node) : '';
    const headerText = formatNodeHeader(node);
    return headerText === ''
      ? shorten(text, 2 * MaxLineCharacters)
      : `${headerText} ${shorten(text, 2 * MaxLineCharacters)}`;
  }
}

function readFrameRef(node: TreeNode): string {
  return node.role === 'iframe' ? node.ref : '';
}

/** formatNodeHeader returns the role, name, states and value of a node, such as `textbox "Name" [ref=e12]: Ada`. */
export function formatNodeHeader(node: TreeNode): string {
  const roleLabel = Object.hasOwn(RoleLabels, node.role) ? (RoleLabels[node.role] ?? '') : node.role;
  let headerText = roleLabel + (node.name ? ` ${JSON.stringify(node.name)}` : '') + node.marks;
  if (node.value !== undefined) headerText += `: ${node.value}`;
  if (node.rows > node.shownRows) headerText += ` ${node.rows} rows, ${node.shownRows} shown`;
  return headerText.trim();
}

const MaxJoinedParts = 15;

function fitsOnParentLine(part: TreePart, level: number): boolean {
  if (part.kind === 'text') return true;
  if (part.kind === 'fold' || part.role === 'iframe' || part.rows > part.shownRows) return false;
  if (part.children.length === 0) return true;
  const isContainer =
    SingleLineRoles.has(part.role) && part.role !== 'row' && (part.role !== 'listitem' || level === 0);
  return (
    isContainer &&
    level < 4 &&
    part.children.length <= MaxJoinedParts &&
    part.children.every((p) => fitsOnParentLine(p, level + 1))
  );
}

function joinParts(parts: readonly TreePart[]): string {
  let text = '';
  for (const part of parts) {
    const next = part.kind === 'node' ? formatNode(part) : part.kind === 'text' ? cleanText(part.text) : '';
    if (next === '') continue;
    // Punctuation directly after a link is joined to the link without a space.
    const isAttached = part.kind === 'text' && /^[.,;:!?)\]}]/.test(part.text);
    text += text === '' || isAttached ? next : ` ${next}`;
  }
  return text;
}

function formatNode(node: TreeNode): string {
  return `${formatNodeHeader(node)} ${joinParts(node.children)}`.trim();
}

const MaxRowLabelCharacters = 60;

/** In interactive mode, formatRow omits cells without controls, except the first cell with text. */
function formatRow(row: TreeNode, mode: SnapshotMode): string {
  const cells = row.children.map((part) => {
    if (part.kind !== 'node') return joinParts([part]);
    if (!CellRolePattern.test(part.role)) return formatNode(part);
    // A cell that a user can operate has its text as its name, and has no children.
    const text = part.children.length === 0 ? part.name : joinParts(part.children);
    return `${text}${part.marks}`.trim();
  });
  if (mode !== 'interactive') return cells.every((cell) => cell === '') ? '' : cells.join(' | ').trimEnd();
  const label = cells.findIndex((cell) => cell !== '');
  const keptCells = cells.flatMap((cell, i) => {
    if (/\[ref=/.test(cell)) return [cell];
    return i === label ? [shorten(cell, MaxRowLabelCharacters)] : [];
  });
  return keptCells.join(' | ');
}

export function joinLines(lines: readonly Pick<Line, 'depth' | 'text'>[]): string {
  return lines.map((line) => ' '.repeat(line.depth) + line.text).join('\n');
}
