// Finds elements by text, regular expression, role or CSS selector.
import { describeElement } from './describe.ts';
import { PageFailure } from './failure.ts';
import { getFlatParent, selectAll } from './flat-tree.ts';
import { compileRegex, type LinearRegex } from './linear-regex.ts';
import { formatNodeHeader, SnapshotPrinter } from './lines.ts';
import { computeElementName } from './names.ts';
import type { FindArguments, FindMatch, FindResult } from './operations.ts';
import { TaskSlices } from './pace.ts';
import { computeRole } from './roles.ts';
import { collectKnownSecrets, collectSecrets, hasSecretFields } from './secrets.ts';
import { isHidden, readShownText } from './shown-text.ts';
import { buildTree, getRootElement } from './snapshot.ts';
import type { PageContext } from './state.ts';
import { makeNode, type TextPart, type TreeNode, type TreePart } from './tree.ts';
import { cleanText, shorten } from './visible-text.ts';

const DefaultMatches = 20;
const MaxMatches = 200;
const MaxCountedMatches = 1_000;

export async function find(args: FindArguments, context: PageContext): Promise<FindResult> {
  const { text, regex, role, selector } = args;
  const limit = Math.min(args.limit ?? DefaultMatches, MaxMatches);
  if (!(text || regex || role || selector)) {
    throw new PageFailure('invalid_arguments', 'Give at least one of text, regex, role and selector.');
  }
  if (!Number.isInteger(limit) || limit < 1) {
    throw new PageFailure('invalid_arguments', `limit is ${args.limit}. Use a whole number from 1 to ${MaxMatches}.`);
  }
  const matchesText = makeTextMatcher(text, regex);
  const wantedRole = role?.trim().toLowerCase();
  if (selector) return findBySelector(selector, matchesText, wantedRole, limit, context);
  const tree = await buildTree(getRootElement(), context);
  const search = new TreeSearch(matchesText, wantedRole, limit, context);
  search.visit(tree, []);
  return { matches: search.matches, total: search.total };
}

type TextMatcher = ((text: string) => boolean) | undefined;

function makeTextMatcher(text: string | undefined, regex: string | undefined): TextMatcher {
  const searchedText = text ? cleanText(text).toLowerCase() : undefined;
  const pattern: LinearRegex | undefined = regex ? compileRegex(regex) : undefined;
  if (searchedText === undefined && !pattern) return undefined;
  return (candidate) => {
    if (searchedText !== undefined && !candidate.toLowerCase().includes(searchedText)) return false;
    return pattern ? pattern.test(candidate) : true;
  };
}

async function findBySelector(
  selector: string,
  matchesText: TextMatcher,
  role: string | undefined,
  limit: number,
  context: PageContext,
): Promise<FindResult> {
  const matches: FindMatch[] = [];
  let total = 0;
  const hasFilter = role !== undefined || matchesText !== undefined;
  const elements = selectElements(selector, hasFilter ? Number.POSITIVE_INFINITY : MaxCountedMatches);
  const mask = collectKnownSecrets(); // selectElements has already found all shadow roots
  const taskSlices = new TaskSlices(context.signal);
  for (const [i, element] of elements.entries()) {
    if (taskSlices.isTaskTimeOver) {
      context.report({ message: `searched ${i} elements`, progress: i, total: elements.length });
      await taskSlices.startNextTask();
    }
    if (role !== undefined && computeRole(element) !== role) continue;
    if (matchesText && !matchesText(mask.maskText(readVisibleText(element)))) continue;
    if (total === MaxCountedMatches) break;
    if (++total > limit) continue;
    const line = describeElement(element, context);
    matches.push({ ref: parseRef(line), line, path: listAncestors(element) });
  }
  return { matches, total };
}

function readVisibleText(element: Element): string {
  if (isHidden(element)) return '';
  const elementText = `${computeElementName(element, computeRole(element))} ${readShownText(element, MaxSearchedCharacters)}`;
  return cleanText(elementText);
}

const MaxSearchedCharacters = 100_000;
const MaxTextElements = 100;

/**
 * In a document with secret fields, a selector must not test the attribute `value`, because matches would reveal the
 * secrets.
 */
export function selectElements(selector: string, limit = MaxCountedMatches): Element[] {
  if (testsValueAttribute(selector) && hasSecretFields()) {
    throw new PageFailure(
      'invalid_arguments',
      'The page has a field for a password, a card or a code, so a selector may not test the attribute value. ' +
        'Use text, role or another attribute.',
    );
  }
  try {
    return selectAll(selector, limit);
  } catch {
    throw new PageFailure('invalid_arguments', `"${selector}" is not a valid CSS selector.`);
  }
}

/**
 * testsValueAttribute reports whether a selector could test the attribute `value`, even if CSS escapes hide the
 * attribute's name.
 */
function testsValueAttribute(selector: string): boolean {
  const plainSelector = selector
    .replace(/\/\*[\s\S]*?(\*\/|$)/g, '')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) =>
      String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
    )
    .replaceAll('\\', '');
  return /\[[^\]]*\bvalue\b/i.test(plainSelector);
}

function parseRef(line: string): string {
  return /\[ref=(\w+)\]/.exec(line)?.[1] ?? '';
}

const MaxPathElements = 6;

function listAncestors(element: Element): string[] {
  const path: string[] = [];
  for (let at = getFlatParent(element); at && path.length < MaxPathElements; at = getFlatParent(at)) {
    const role = computeRole(at);
    if (role === '' || role === 'paragraph' || role === 'rowgroup') continue;
    path.unshift(
      formatNodeHeader(
        makeNode({
          element: at,
          role,
          name: shorten(computeElementName(at, role), 60),
          marks: '',
          value: undefined,
          ref: '',
        }),
      ),
    );
  }
  return path;
}

class TreeSearch {
  readonly matches: FindMatch[] = [];
  total = 0;
  readonly #matchesText: TextMatcher;
  readonly #role: string | undefined;
  readonly #maxMatches: number;
  readonly #context: PageContext;
  readonly #secretMask = collectSecrets();

  constructor(matchesText: TextMatcher, role: string | undefined, limit: number, context: PageContext) {
    this.#matchesText = matchesText;
    this.#role = role;
    this.#maxMatches = limit;
    this.#context = context;
  }

  visit(node: TreeNode, path: readonly string[]): boolean {
    let hasMatch = false;
    for (const part of node.children) {
      if (this.total >= MaxCountedMatches) break;
      if (part.kind === 'node') hasMatch = this.#visitNode(part, path) || hasMatch;
      else if (part.kind === 'text' && this.#role === undefined && this.#acceptsText(cleanText(part.text))) {
        hasMatch = true;
        this.#addText(part, node, path);
      }
    }
    return hasMatch;
  }

  #visitNode(node: TreeNode, path: readonly string[]): boolean {
    const headerText = formatNodeHeader(node);
    const innerPath = headerText === '' || headerText === '-' ? path : [...path, shorten(headerText, 80)];
    if (this.#role !== undefined) {
      const isMatch =
        node.role === this.#role && this.#acceptsText(`${node.name} ${node.value ?? ''} ${collectText(node)}`);
      if (isMatch) this.#addMatchingPart(node, node, path);
      return this.visit(node, innerPath) || isMatch;
    }
    // The search compares the name of a container only if no node inside the container matches.
    if (this.visit(node, innerPath)) return true;
    if (!this.#acceptsText(`${node.name} ${node.value ?? ''}`) && !this.#acceptsJoinedText(node)) return false;
    const textElements = node.role === 'clickable' ? this.#findTextElements(node.element) : [];
    if (textElements.length === 0) this.#addMatchingPart(node, node, path);
    else for (const element of textElements) this.#addElement(element, [...path, shorten(headerText, 80)]);
    return true;
  }

  #acceptsJoinedText(node: TreeNode): boolean {
    return node.children.length > 1 && node.children.length < 50 && this.#acceptsText(collectText(node));
  }

  #acceptsText(text: string): boolean {
    if (!this.#matchesText) return true;
    const maskedText = this.#secretMask.maskText(text.trim());
    return maskedText !== '' && this.#matchesText(maskedText);
  }

  /**
   * #findTextElements finds the smallest elements whose text matches, in an element that contains other texts too. An
   * element with the guessed role `clickable` can contain several buttons.
   */
  #findTextElements(container: Element): Element[] {
    const matchingElements = [...container.querySelectorAll('*')].slice(0, MaxTextElements).filter((element) => {
      if (element.childElementCount > 0 || isHidden(element)) return false;
      return this.#acceptsText(readShownText(element, MaxSearchedCharacters));
    });
    const isWholeTextMatched = matchingElements.some(
      (element) => cleanText(element.textContent ?? '') === cleanText(container.textContent ?? ''),
    );
    return isWholeTextMatched ? [] : matchingElements;
  }

  /**
   * #addText adds the element of a text. If a snapshot line joins the texts of several elements, #addText adds the
   * elements that match.
   */
  #addText(part: TextPart, parent: TreeNode, path: readonly string[]): void {
    const elements = [...new Set(part.elements)];
    const matchingElements = elements.filter((element) =>
      this.#acceptsText(readShownText(element, MaxSearchedCharacters)),
    );
    const innermostElements = matchingElements.filter(
      (element) => !matchingElements.some((otherElement) => otherElement !== element && element.contains(otherElement)),
    );
    if (elements.length === 1 || innermostElements.length === 0) {
      this.#addMatchingPart(part, parent, path);
      return;
    }
    const line = shorten(cleanText(part.text), 80);
    for (const element of innermostElements) {
      if (elements.every((otherElement) => element.contains(otherElement)))
        this.#addMatchingPart({ ...part, element }, parent, path);
      else this.#addElement(element, parent.ref ? path : [...path, JSON.stringify(line)]);
    }
  }

  #addElement(element: Element, path: readonly string[]): void {
    if (++this.total > this.#maxMatches) return;
    const line = describeElement(element, this.#context);
    this.matches.push({ ref: parseRef(line), line, path });
  }

  #addMatchingPart(part: TreePart, parent: TreeNode, path: readonly string[]): void {
    if (++this.total > this.#maxMatches) return;
    const { refs } = this.#context.state;
    if (part.kind !== 'node') {
      const name = shorten(cleanText(part.text), 200);
      const ref =
        parent.ref ||
        refs.getElementRef(part.element, this.#context.prefix, computeRole(part.element), shorten(name, 80));
      const line = parent.ref ? this.#formatLine(parent) : `${name} [ref=${ref}]`;
      this.matches.push({ ref, line: this.#secretMask.maskText(line), path });
      return;
    }
    const ref =
      part.ref ||
      refs.getElementRef(part.element, this.#context.prefix, part.role, part.name || collectText(part).slice(0, 80));
    const line = this.#formatLine(part);
    const lineWithRef = line.includes(`[ref=${ref}]`) ? line : `${line} [ref=${ref}]`;
    this.matches.push({ ref, line: this.#secretMask.maskText(lineWithRef), path });
  }

  #formatLine(node: TreeNode): string {
    const printer = new SnapshotPrinter(this.#context.state.refs, 'full');
    for (const _ of printer.printParts({ ...node, children: [node] }, 0, 'find'));
    return shorten(printer.lines[0]?.text ?? formatNodeHeader(node), 400);
  }
}

function collectText(node: TreeNode): string {
  return node.children
    .map((part) =>
      part.kind === 'node' ? `${part.name} ${collectText(part)}` : part.kind === 'text' ? cleanText(part.text) : '',
    )
    .join(' ')
    .slice(0, 2_000);
}
