// Traverses the flat tree of a frame, and builds the tree of its visible content for a snapshot.
import { BoxDetector, describeBox, describeColor } from './boxes.ts';
import { DragHandles } from './drag-handles.ts';
import { findHiddenOriginal } from './drawn-copies.ts';
import { getFocusedElement, getShadowRoot, listFlatChildren } from './flat-tree.ts';
import { hasActionIcons, hasDeclaredClickHandler, hasPicture, isActionIcon, makeHint } from './hints.ts';
import { findMappedImages } from './image-map.ts';
import { readExponent, readMath } from './math.ts';
import {
  computeElementName,
  findLabelledControl,
  isFormAssociated,
  isNamedByContent,
  isNamedByOwnContent,
} from './names.ts';
import type { SnapshotMode } from './operations.ts';
import type { ElementRefs } from './refs.ts';
import { ActionRoles, computeRole } from './roles.ts';
import { describeShape, getShapeName, hasSize, ShapeDetector } from './shapes.ts';
import { findActiveDescendant, formatStates, isDisabled, readShownValue } from './states.ts';
import { type FoldMarkerPart, makeNode, type TreeNode } from './tree.ts';
import { ClippedArea, type ViewportElementFinder } from './view.ts';
import { determineVisibility, type ElementVisibility, isInlineDisplay, isTextShown } from './visibility.ts';
import { cleanText, shorten } from './visible-text.ts';

export interface WalkOptions {
  readonly refs: ElementRefs;
  readonly prefix: string;
  readonly mode: SnapshotMode;
  /** maxTokens is the number of tokens after which the tree omits content out of view; 0 means no limit. */
  readonly maxTokens: number;
  readonly view: ViewportElementFinder;
  /**
   * The field `depth` is the maximum number of levels below the root element of the tree; Infinity means all levels.
   */
  readonly depth: number;
  /** isSearch is true for a search, whose tree contains texts and names in full length. */
  readonly isSearch?: boolean;
  /** If the root of a snapshot is a list, the snapshot shows more rows of this list than of other lists. */
  readonly unfoldedList: Element | undefined;
  /** A snapshot shows each element that the action changed, even in a long list with omitted rows. */
  readonly alwaysShown: ReadonlySet<Element>;
  readonly onRowsOmitted: (container: Node) => void;
}

interface WalkPosition {
  readonly clip: ClippedArea;
  /** The field `isContentHidden` is true if an enclosing element hides everything inside it from the user. */
  readonly isContentHidden: boolean;
  readonly hasPointerCursor: boolean;
  /** The field `cursor` is the CSS cursor of the parent element, from which elements inherit their cursor. */
  readonly cursor: string;
  readonly hasNamedAncestor: boolean;
  readonly level: number;
  readonly list: TreeNode | undefined;
}

/** VisitedElement is an element whose children the traversal visits. */
interface VisitedElement {
  readonly element: Element;
  readonly style: CSSStyleDeclaration;
  readonly elementVisibility: ElementVisibility;
  /** listChildren reads the children only once, because a search for shadow roots takes long. */
  readonly listChildren: () => readonly Node[];
}

const SkippedTags = new Set(
  'script style template noscript head meta link title base source track datalist'.split(' '),
);
/** RolesWithoutLine are the roles of elements without a line in the snapshot; only their content is printed. */
const RolesWithoutLine = new Set([
  'rowgroup',
  'blockquote',
  'document',
  'application',
  'note',
  'math',
  'separator',
  'marquee',
]);
const RolesWithoutLineIfUnnamed = new Set([
  'group',
  'figure',
  'region',
  'form',
  'toolbar',
  'tabpanel',
  'search',
  'article',
]);
const ListRoles = new Set('table grid treegrid list listbox tree menu menubar feed radiogroup rowgroup'.split(' '));
const RolesWithRef = new Set('table grid treegrid listbox tree dialog alertdialog feed box handle'.split(' '));
/** ContainerRoles are the roles of containers in which the user clicks an item, not the container itself. */
const ContainerRoles = new Set(
  'table grid treegrid list listbox tree menu menubar feed radiogroup rowgroup tablist toolbar navigation main'.split(
    ' ',
  ),
);

/** HiddenControlTypes matches the types of inputs that pages hide in order to draw a replacement. */
const HiddenControlTypes = /^(checkbox|radio|file|range)$/;
const NestedActionSelector = `a[href],button,input,select,textarea,summary,iframe,[contenteditable],[tabindex],[onclick],
  [role=button],[role=link],[role=checkbox],[role=radio],[role=menuitem],[role=option],[role=tab],[role=treeitem],
  [role=switch],[role=textbox],[role=combobox],[role=group] [role]`;

/**
 * A script can nest elements so deeply that a recursive traversal overflows the stack, so MaxNesting limits the depth.
 */
export const MaxNesting = 600;
const MaxUnfoldedRows = 20;
/** With a larger maxTokens than MinTokensForMoreRows, a snapshot shows more than MaxUnfoldedRows rows of a list. */
const MinTokensForMoreRows = 6_000;
const MaxUnfoldedChildren = 50;
const MaxAlwaysShownRows = 100;
const MaxMixedChildren = 30;
const MaxNameCharacters = 200;
const MaxTextCharacters = 2_000;

export class TreeWalk {
  readonly #options: WalkOptions;
  readonly #focused = getFocusedElement();
  readonly #activeDescendant = findActiveDescendant(this.#focused);
  readonly #shapeDetector = new ShapeDetector();
  readonly #boxDetector = new BoxDetector();
  readonly #dragHandles = new DragHandles();
  visitedCount = 0;
  folded = 0;
  readonly frames: TreeNode[] = [];
  #tokenCount = 0;
  #isAtLineStart = true;
  #nestingDepth = 0;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  /** The method `run` yields the number of visited elements after each 32 elements, and finally returns the root of the tree. */
  *run(root: Element): Generator<number, TreeNode> {
    const top = makeNode({ element: root, role: 'page', name: '', marks: '', value: undefined, ref: '' });
    yield* this.#visit(root, top, {
      clip: this.#options.view.clip,
      isContentHidden: false,
      hasPointerCursor: false,
      cursor: 'auto',
      hasNamedAncestor: false,
      level: 0,
      list: undefined,
    });
    return top;
  }

  *#visit(element: Element, parent: TreeNode, position: WalkPosition): Generator<number, void> {
    if (this.#nestingDepth >= MaxNesting) {
      this.folded++;
      this.#addFoldMarker(parent, element);
      return;
    }
    this.#nestingDepth++;
    yield* this.#visitElement(element, parent, position);
    this.#nestingDepth--;
  }

  *#visitElement(element: Element, parent: TreeNode, position: WalkPosition): Generator<number, void> {
    if (SkippedTags.has(element.localName)) return;
    if (element instanceof HTMLElement && element.inert) return;
    const original = element.getAttribute('aria-hidden') === 'true' ? findHiddenOriginal(element) : element;
    if (!original) return;
    if ((++this.visitedCount & 31) === 0) yield this.visitedCount;
    const style = getComputedStyle(element);
    const elementVisibility = determineVisibility(element, style);
    if (!elementVisibility.isRendered) return this.#addUndrawnElement(element, parent, position);
    if (
      this.#isOverBudget() &&
      !this.#options.alwaysShown.has(element) &&
      !this.#options.view.intersects(element, position.clip)
    ) {
      this.folded += 1 + element.childElementCount;
      return this.#addFoldMarker(parent, element);
    }
    const isBlock = !isInlineDisplay(style.display);
    if (isBlock) this.#isAtLineStart = true;
    const text = readReplacementText(element, original);
    if (text === undefined) yield* this.#enterElement(element, parent, position, style, elementVisibility);
    else if (!position.isContentHidden && !position.hasNamedAncestor && elementVisibility.text)
      this.#addText(text, element, parent);
    if (isBlock) this.#isAtLineStart = true;
  }

  *#enterElement(
    element: Element,
    parent: TreeNode,
    position: WalkPosition,
    style: CSSStyleDeclaration,
    elementVisibility: ElementVisibility,
  ) {
    const isContentHidden = position.isContentHidden || elementVisibility.hidesContents;
    const { cursor } = style;
    let role = computeRole(element);
    // If a list has the CSS style `cursor: pointer`, the user can click its items, but not the list itself.
    const isContainer = ContainerRoles.has(role);
    const hasPointerCursor = (cursor === 'pointer' && !isContainer) || element.hasAttribute('onclick');
    const isIcon = role === '' && isActionIcon(element) && (position.hasPointerCursor || hasPicture(element, style));
    const isShape = role === '' && !position.hasPointerCursor && this.#shapeDetector.isShape(element);
    const isAction =
      ActionRoles.has(role) ||
      (hasPointerCursor && !position.hasPointerCursor && (!(element instanceof SVGElement) || hasSize(element))) ||
      isIcon ||
      isKeyboardFocusable(element) ||
      isShape ||
      (role === '' && ((!position.hasPointerCursor && hasDeclaredClickHandler(element)) || isCustomField(element)));
    if (role === '' && isAction && elementVisibility.reachable && findLabelledControl(element) === null)
      role = isShape && !hasPointerCursor ? getShapeName(element) : 'clickable';
    const isDragHandle = this.#dragHandles.isDragHandle(element, cursor, position.cursor);
    if (role === '' && elementVisibility.reachable && !position.hasPointerCursor && !position.hasNamedAncestor) {
      if (this.#boxDetector.isBox(element)) role = 'box';
      else if (isDragHandle && element.firstChild === null) role = 'handle';
    }
    if (isContentHidden || !elementVisibility.reachable) {
      if (!this.#showsHiddenControl(element, role, isContentHidden, elementVisibility)) role = '';
    }
    const innerPosition: WalkPosition = {
      clip: clipsContent(style) ? new ClippedArea({ element, outer: position.clip }) : position.clip,
      isContentHidden,
      hasPointerCursor: position.hasPointerCursor || ((hasPointerCursor || isAction) && !isContainer),
      cursor,
      hasNamedAncestor: position.hasNamedAncestor || this.#isLabelOfControl(element),
      level: position.level,
      list: position.list,
    };
    let children: readonly Node[] | undefined;
    const listChildren = () => {
      children ??= listFlatChildren(element);
      return children;
    };
    const content: VisitedElement = { element, style, elementVisibility, listChildren };
    if (!this.#hasOwnLine(content, role)) return yield* this.#visitChildren(content, parent, innerPosition);
    const node = this.#addNode(element, role, parent, isAction || (hasPointerCursor && !position.hasPointerCursor));
    this.#isAtLineStart = true;
    if (!isCompleteOnOneLine(element, role, node)) {
      const list = ListRoles.has(role) ? node : position.list;
      const level = role === 'paragraph' ? position.level : position.level + 1;
      if (level > this.#options.depth) this.#addFoldMarker(node, element);
      else yield* this.#visitChildren(content, node, { ...innerPosition, level, list });
    }
    this.#isAtLineStart = true;
  }

  #showsHiddenControl(
    element: Element,
    role: string,
    isContentHidden: boolean,
    elementVisibility: ElementVisibility,
  ): boolean {
    if (!ActionRoles.has(role) && role !== 'row' && role !== 'listitem') return false;
    if (element instanceof HTMLInputElement && HiddenControlTypes.test(element.type)) return true;
    return !isContentHidden && elementVisibility.reachable;
  }

  #addUndrawnElement(element: Element, parent: TreeNode, position: WalkPosition): void {
    if (!(element instanceof HTMLAreaElement)) {
      this.#addHiddenControl(element, parent, position);
      return;
    }
    const isShown = findMappedImages(element).some((picture) => picture.checkVisibility());
    if (isShown && computeRole(element) !== '' && !this.#isOverBudget()) this.#addNode(element, 'link', parent, true);
  }

  /** #addHiddenControl adds an invisible control if its label is visible, or if it is a file field. */
  #addHiddenControl(element: Element, parent: TreeNode, position: WalkPosition): void {
    if (!(element instanceof HTMLInputElement) || !HiddenControlTypes.test(element.type)) return;
    if (element.type !== 'file' && ![...(element.labels ?? [])].some((label) => label.checkVisibility())) return;
    if (this.#isOverBudget() && !position.hasNamedAncestor) return;
    this.#addNode(element, computeRole(element), parent, true);
    this.#isAtLineStart = true;
  }

  #isOverBudget(): boolean {
    const { mode, maxTokens } = this.#options;
    return mode === 'viewport' || (maxTokens > 0 && this.#tokenCount > maxTokens);
  }

  #isLabelOfControl(element: Element): boolean {
    const control = findLabelledControl(element);
    if (!(element instanceof HTMLLabelElement)) return control?.checkVisibility() === true;
    if (control instanceof HTMLInputElement) return HiddenControlTypes.test(control.type) || isReachable(control);
    if (control instanceof HTMLButtonElement && isNamedByOwnContent(control, computeRole(control))) return false;
    return control !== null && isReachable(control);
  }

  #hasOwnLine(content: VisitedElement, role: string): boolean {
    const { element } = content;
    if (role === '') return hasMixedContent(content) || this.#dragHandles.has(element);
    if (RolesWithoutLine.has(role)) return this.#dragHandles.has(element) || isKeyboardFocusable(element);
    return !(RolesWithoutLineIfUnnamed.has(role) && role !== 'article' && computeElementName(element, role) === '');
  }

  #addNode(element: Element, ownRole: string, parent: TreeNode, isAction: boolean): TreeNode {
    const role = ownRole === '' ? 'paragraph' : ownRole;
    const { refs, prefix } = this.#options;
    const maxNameCharacters = this.#options.isSearch ? Number.POSITIVE_INFINITY : MaxNameCharacters;
    const name = hasNestedActions(element, role) ? '' : shorten(computeElementName(element, role), maxNameCharacters);
    const isDraggable = this.#dragHandles.has(element);
    const needsRef = isAction || isDraggable || RolesWithRef.has(role);
    const ref = needsRef ? refs.getElementRef(element, prefix, role, name) : '';
    let marks = formatStates(element, role);
    if (isAction && element instanceof SVGElement) marks += describeShape(element, role);
    else if (role === 'box') marks += describeBox(element);
    else if ((isAction || role === 'handle') && name === '')
      marks += makeHint(element, role) + describeColor(element, role);
    if (element === this.#focused) marks += ' [focused]';
    else if (element === this.#activeDescendant) marks += ' [active]';
    if (isDraggable) marks += ' [draggable]';
    if (ref) marks += ` [ref=${ref}]`;
    const node = makeNode({ element, role, name, marks, value: readShownValue(element, role), ref });
    parent.children.push(node);
    if (role === 'iframe') this.frames.push(node);
    this.#tokenCount += (role.length + name.length + marks.length + (node.value?.length ?? 0) + countChars(parent)) / 4;
    return node;
  }

  *#visitChildren(
    { element, style, elementVisibility, listChildren }: VisitedElement,
    parent: TreeNode,
    innerPosition: WalkPosition,
  ) {
    const foldedCountBefore = this.folded;
    const rows = this.#selectRowsToShow(element, innerPosition, parent);
    const omittedCount = this.folded - foldedCountBefore;
    let canReadText: boolean | undefined;
    for (const child of rows ?? listChildren()) {
      if (child instanceof Element) yield* this.#visit(child, parent, innerPosition);
      else if (child instanceof Text && child.data.trim() !== '') {
        if (innerPosition.isContentHidden || innerPosition.hasNamedAncestor || !elementVisibility.text) continue;
        canReadText ??= isTextShown(element, style);
        if (canReadText) this.#addText(child.data, element, parent);
      } else if (child instanceof Text && !this.#isAtLineStart) this.#addText(' ', element, parent);
    }
    // The snapshot line of a list shows the number of the list's rows. A container without a line ends with the number
    // of omitted elements.
    const hasOwnLine = parent.element === element && parent.role !== 'page';
    if (omittedCount > 0 && !hasOwnLine && innerPosition.list?.element !== element)
      parent.children.push({ kind: 'fold', element, text: `… ${omittedCount} more elements` });
  }

  #addText(data: string, element: Element, parent: TreeNode): void {
    if (this.#options.mode === 'interactive' && !showsTextInteractively(parent)) return;
    const limit = this.#options.isSearch ? Number.POSITIVE_INFINITY : MaxTextCharacters;
    const text = data.length > limit ? `${data.slice(0, limit)}…` : data;
    const lastChild = parent.children.at(-1);
    if (!this.#isAtLineStart && lastChild?.kind === 'text') {
      lastChild.text += text;
      if (text.trim() !== '') lastChild.elements.push(element);
    } else if (text.trim() !== '') parent.children.push({ kind: 'text', element, elements: [element], text });
    else return;
    this.#isAtLineStart = false;
    this.#tokenCount += text.length / 4;
  }

  #addFoldMarker(parent: TreeNode, element: Element): void {
    const lastChild = parent.children.at(-1);
    if (lastChild?.kind === 'fold') return;
    const foldMarker: FoldMarkerPart = { kind: 'fold', element, text: '' };
    parent.children.push(foldMarker);
  }

  #selectRowsToShow(element: Element, innerPosition: WalkPosition, parent: TreeNode): Element[] | undefined {
    const { maxTokens, unfoldedList, view, alwaysShown: alwaysShownElements } = this.#options;
    const limit = Math.round(MaxUnfoldedRows * Math.max(1, maxTokens / MinTokensForMoreRows));
    if (maxTokens === 0 || element.childElementCount <= MaxUnfoldedRows) return undefined;
    const isList = ListRoles.has(computeRole(element));
    const rows =
      element instanceof HTMLSlotElement ? element.assignedElements() : (getShadowRoot(element) ?? element).children;
    const count = rows.length;
    if (count <= (isList ? limit : limit + MaxUnfoldedChildren - MaxUnfoldedRows)) return undefined;
    if (!isList && isProse(element, rows)) return undefined;
    const visibleRange = view.findRows(rows, innerPosition.clip);
    const isUnfoldedList =
      element === unfoldedList || (unfoldedList !== undefined && innerPosition.list?.element === unfoldedList);
    const leadingRowCount = isUnfoldedList ? 10 * limit : Math.max(0, limit - (visibleRange.end - visibleRange.start));
    const rowsToShow = new Set<Element>();
    const keepRows = (start: number, end: number) => {
      for (let i = start; i < Math.min(end, count); i++) {
        const row = rows[i];
        if (row) rowsToShow.add(row);
      }
    };
    keepRows(0, Math.min(leadingRowCount, visibleRange.start));
    const alwaysShownRows = [...alwaysShownElements].filter((row) => row.parentNode === rows[0]?.parentNode);
    if (alwaysShownRows.length <= MaxAlwaysShownRows) for (const row of alwaysShownRows) rowsToShow.add(row);
    keepRows(Math.min(leadingRowCount, visibleRange.start), leadingRowCount);
    keepRows(visibleRange.start, visibleRange.end);
    if (rowsToShow.size >= count) return undefined;
    this.folded += count - rowsToShow.size;
    const container = rows[0]?.parentNode;
    if (container) this.#options.onRowsOmitted(container);
    const list = isList ? (innerPosition.list ?? parent) : parent;
    list.rows += count;
    list.shownRows += rowsToShow.size;
    return alwaysShownRows.length === 0 ? [...rowsToShow] : [...rowsToShow].sort(compareByPosition);
  }
}

/**
 * isProse reports whether an element contains text rather than rows, so that the snapshot must not omit any of
 * its children.
 */
function isProse(element: Element, rows: ArrayLike<Element>): boolean {
  const [firstRow, lastRow] = [rows[0], rows[rows.length - 1]];
  if (firstRow && lastRow && [firstRow, lastRow].every((row) => getComputedStyle(row).display === 'inline'))
    return true;
  for (const child of element.childNodes) if (child instanceof Text && child.data.trim() !== '') return true;
  return false;
}

/** readReplacementText returns the text in place of an element's content, for line breaks, exponents and formulas. */
function readReplacementText(element: Element, original: Element): string | undefined {
  if (element.localName === 'br') return ' ';
  if (element.localName === 'sup') return readExponent(element);
  return original !== element || element.localName === 'math' ? readMath(original) || undefined : undefined;
}

function compareByPosition(a: Element, b: Element): number {
  return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

function countChars(parent: TreeNode): number {
  return parent.role === 'row' ? 3 : 6;
}

function isKeyboardFocusable(element: Element): boolean {
  return Number(element.getAttribute('tabindex') ?? -1) >= 0;
}

function isCustomField(element: Element): boolean {
  return (
    isFormAssociated(element) &&
    ![getShadowRoot(element), element].some((root) => root?.querySelector(NestedActionSelector))
  );
}

function isReachable(control: Element): boolean {
  const { isRendered, hidesContents, reachable } = determineVisibility(control, getComputedStyle(control));
  return isRendered && !hidesContents && reachable;
}

function clipsContent(style: CSSStyleDeclaration): boolean {
  return style.overflow !== 'visible';
}

const InlineTags = new Set(
  `a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark nobr q rb rt ruby s samp slot small span strong sub
  sup time u var`.split(/\s+/),
);

/** hasMixedContent reports whether an element contains both text and elements, so that its content forms one line. */
function hasMixedContent({ element, listChildren }: VisitedElement): boolean {
  if (element.firstElementChild === null || element.localName === 'body') return false;
  if (InlineTags.has(element.localName)) return false;
  return listChildren()
    .slice(0, MaxMixedChildren)
    .some((child) => child instanceof Text && child.data.trim() !== '');
}

/**
 * hasNestedActions reports whether an element contains controls, because a name made of its content would repeat their
 * texts.
 */
function hasNestedActions(element: Element, role: string): boolean {
  if (!isNamedByContent(element, role) || element.firstElementChild === null) return false;
  if (element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby')) return false;
  return element.querySelector(NestedActionSelector) !== null || (role === 'clickable' && hasActionIcons(element));
}

function isCompleteOnOneLine(element: Element, role: string, node: TreeNode): boolean {
  if (
    /^(textbox|searchbox|iframe|img|canvas|video|audio|embed|slider|spinbutton|progressbar|meter|filefield|colorpicker)$/.test(
      role,
    )
  ) {
    return true;
  }
  if (element instanceof HTMLSelectElement || element instanceof HTMLInputElement) return true;
  if (!isNamedByContent(element, role) || role === 'row' || role === 'cell' || /header$/.test(role)) return false;
  if (node.name === '' && role !== 'button') return false;
  return element.querySelector(NestedActionSelector) === null || (isDisabled(element) && role === 'option');
}

function showsTextInteractively(parent: TreeNode): boolean {
  return (
    /^(heading|status|alert|alertdialog|dialog|log|row|listitem|treeitem|option|tab|link|button|clickable)$/.test(
      parent.role,
    ) || cleanText(parent.name) !== ''
  );
}
