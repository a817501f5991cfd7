// Writes the visible content of a page as Markdown, or as plain text with the same line breaks.
import { readHref } from './describe.ts';
import { findHiddenOriginal } from './drawn-copies.ts';
import { findClosestInFlatTree, listFlatChildren } from './flat-tree.ts';
import { readExponent, readMath } from './math.ts';
import { computeElementName } from './names.ts';
import { computeRole } from './roles.ts';
import { readFullValue, readShownValue } from './states.ts';
import { layOutCells, type SpannedCell } from './table-cells.ts';
import { determineVisibility, isInlineDisplay, isTextShown } from './visibility.ts';
import { cleanText } from './visible-text.ts';
import { MaxNesting } from './walk.ts';

/** MaxCharacters limits the text that is collected from a page, regardless of how the text is divided into parts. */
const MaxCharacters = 4_000_000;
const MaxUrlCharacters = 500;

const SkippedTags = new Set(
  'script style template noscript head meta link title desc metadata defs symbol datalist base rp'.split(' '),
);
const FormFieldTags = /^(input|select|textarea|progress|meter)$/;

interface InlineStyle {
  /** hasLineBreaks is true if line breaks in the text are drawn, as with the CSS property `white-space: pre-wrap`. */
  readonly hasLineBreaks: boolean;
  /** isSingleLine is true if the text must not contain line breaks, such as in a table cell. */
  readonly isSingleLine: boolean;
}

export class MarkdownWriter {
  readonly frames: Element[] = [];
  readonly #isMarkdown: boolean;
  #lines: string[] = [];
  #text = '';
  /** #prefix is the text at the beginning of each line: quote marks and the indentation of lists. */
  #prefix = '';
  /** #lineMarker is the text, such as a bullet, with which the next line begins instead of #prefix. */
  #lineMarker = '';
  #characterCount = 0;
  #visitedCount = 0;
  #nestingDepth = 0;
  #lastRenderedGrid: Element | undefined;
  isTruncated = false;

  constructor(isMarkdown: boolean) {
    this.#isMarkdown = isMarkdown;
  }

  /** The method `run` yields the number of visited elements after each 32 elements, and finally returns the Markdown or text. */
  *run(root: Element): Generator<number, string> {
    yield* this.#visit(root, { hasLineBreaks: false, isSingleLine: false });
    this.#endLine();
    return this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  *#visit(element: Element, outerStyle: InlineStyle): Generator<number, void> {
    const tag = element.localName;
    if (SkippedTags.has(tag)) return;
    const original = element.getAttribute('aria-hidden') === 'true' ? findHiddenOriginal(element) : element;
    if (!original) return;
    if (this.#characterCount > MaxCharacters || this.#nestingDepth >= MaxNesting) {
      this.isTruncated = true;
      return;
    }
    if ((++this.#visitedCount & 31) === 0) yield this.#visitedCount;
    const style = getComputedStyle(element);
    const elementVisibility = determineVisibility(element, style);
    if (!elementVisibility.isRendered || elementVisibility.hidesContents) return;
    const isInline = isInlineDisplay(style.display);
    const isBlock = !outerStyle.isSingleLine && !isInline;
    if (outerStyle.isSingleLine && !isInline) this.#text += ' ';
    const hasLineBreaks = style.whiteSpaceCollapse !== 'collapse';
    const inline = hasLineBreaks === outerStyle.hasLineBreaks ? outerStyle : { ...outerStyle, hasLineBreaks };
    if (isBlock) this.#endLine();
    this.#nestingDepth++;
    const canReadText = () => elementVisibility.text && isTextShown(element, style);
    const formula = original !== element || tag === 'math' ? readMath(original) : '';
    if (tag === 'code' && isBlock && hasLineBreaks) this.#renderPreformatted(element);
    else if (formula === '') yield* this.#renderElement(element, tag, inline, canReadText);
    else if (canReadText()) this.#text += formula;
    this.#nestingDepth--;
    if (isBlock) this.#endLine();
  }

  *#renderElement(
    element: Element,
    tag: string,
    inline: InlineStyle,
    canReadText: () => boolean,
  ): Generator<number, void> {
    const role = computeRole(element);
    if (tag === 'br') {
      if (inline.isSingleLine) this.#text += ' ';
      else this.#endLine();
    } else if (tag === 'hr') this.#addBlock('---');
    else if (tag === 'sup' && readExponent(element)) this.#text += canReadText() ? readExponent(element) : '';
    else if (tag === 'img') this.#renderImage(element);
    else if (tag === 'svg') yield* this.#renderDrawing(element, role, inline, canReadText);
    else if (role === 'img' || tag === 'canvas') this.#addImageText(computeElementName(element, role));
    else if (role === 'iframe') this.#renderFrame(element);
    else if (FormFieldTags.test(tag)) this.#renderField(element, role);
    else if (tag === 'pre' && !inline.isSingleLine) this.#renderPreformatted(element);
    else if (role === 'heading' && !inline.isSingleLine) yield* this.#renderHeading(element, inline, canReadText);
    else if (tag === 'li' || role === 'listitem') yield* this.#renderListItem(element, inline, canReadText);
    else if (tag === 'blockquote' && !inline.isSingleLine)
      yield* this.#renderIndented('> ', element, inline, canReadText);
    else if (tag === 'table' && !inline.isSingleLine && isDataTable(element)) yield* this.#renderTable(element, inline);
    else if (role === 'row' && tag !== 'tr' && !inline.isSingleLine) yield* this.#renderGridRow(element, inline);
    else yield* this.#renderWithMarkup(element, tag, inline, canReadText);
  }

  *#renderWithMarkup(
    element: Element,
    tag: string,
    inline: InlineStyle,
    canReadText: () => boolean,
  ): Generator<number, void> {
    if (/^(ul|ol|menu)$/.test(tag) && this.#isMarkdown && this.#prefix === '') this.#addBlankLine();
    const isLink = tag === 'a' && readHref(element) !== '';
    const markup = this.#isMarkdown ? makeInlineMarkup(element, tag) : undefined;
    if (!markup && !isLink) return yield* this.#children(element, inline, canReadText);
    const textBefore = this.#text;
    const lines = this.#lines.length;
    this.#text = '';
    yield* this.#children(element, inline, canReadText);
    const hasAddedLines = this.#lines.length !== lines;
    let innerText = collapseWhitespace(this.#text);
    // A link that contains only an icon gets its accessible name.
    if (isLink && !hasAddedLines && innerText.trim() === '') innerText += computeElementName(element, 'link');
    const [openingMark, closingMark] =
      tag === 'code' && innerText.includes('`') ? ['`` ', ' ``'] : (markup ?? ['', '']);
    if (hasAddedLines && isLink && markup) this.#linkFirstLine(lines, openingMark, closingMark);
    if (hasAddedLines || innerText.trim() === '') this.#text = hasAddedLines ? this.#text : textBefore + innerText;
    else
      this.#text = `${textBefore}${/^\s/.test(innerText) ? ' ' : ''}${openingMark}${innerText.trim()}${closingMark}${/\s$/.test(innerText) ? ' ' : ''}`;
    if (hasAddedLines && textBefore.trim() !== '')
      this.#lines.splice(lines, 0, this.#prefix + collapseWhitespace(textBefore).trim());
  }

  /**
   * #linkFirstLine turns a link around blocks, such as a card with a heading, into a link around the first line of the
   * blocks.
   */
  #linkFirstLine(start: number, openingMark: string, closingMark: string): void {
    for (let i = start; i < this.#lines.length; i++) {
      const [, marker = '', text = ''] = /^(\s*(?:(?:>|[-*]|\d+\.|#+) )*)(.*)$/.exec(this.#lines[i] ?? '') ?? [];
      if (text === '' || text.startsWith('```') || text.startsWith('|') || text.includes('](')) continue;
      this.#lines[i] = marker + openingMark + text + closingMark;
      return;
    }
  }

  *#children(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    let isTextVisible: boolean | undefined;
    for (const child of listFlatChildren(element)) {
      if (child instanceof Element) yield* this.#visit(child, inline);
      else if (child instanceof Text && child.data !== '') {
        if (child.data.trim() === '') {
          this.#text += ' ';
          continue;
        }
        isTextVisible ??= canReadText();
        if (!isTextVisible) continue;
        this.#addText(child.data, inline);
      }
    }
  }

  #addText(text: string, { hasLineBreaks, isSingleLine }: InlineStyle): void {
    this.#characterCount += text.length;
    const [first = '', ...rest] = hasLineBreaks && !isSingleLine ? text.split('\n') : [text];
    this.#text += first;
    for (const line of rest) {
      this.#endLine();
      this.#text += line;
    }
  }

  *#renderHeading(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    const level = Number(element.getAttribute('aria-level')) || Number(/^h([1-6])$/.exec(element.localName)?.[1] ?? 2);
    this.#addBlankLine();
    if (this.#isMarkdown) this.#lineMarker = `${this.#lineMarker || this.#prefix}${'#'.repeat(Math.min(6, level))} `;
    yield* this.#children(element, { ...inline, isSingleLine: true }, canReadText);
    this.#endLine();
    this.#lineMarker = '';
    this.#addBlankLine();
  }

  *#renderListItem(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    if (inline.isSingleLine) return yield* this.#children(element, inline, canReadText);
    const list = element.parentElement;
    const number = list instanceof HTMLOListElement ? `${computeItemNumber(element, list)}. ` : '- ';
    this.#lineMarker = number;
    yield* this.#renderIndented('  ', element, inline, canReadText);
    this.#lineMarker = '';
  }

  *#renderIndented(
    prefix: string,
    element: Element,
    inline: InlineStyle,
    canReadText: () => boolean,
  ): Generator<number, void> {
    const outerPrefix = this.#prefix;
    this.#prefix += prefix;
    if (this.#lineMarker) this.#lineMarker = outerPrefix + this.#lineMarker;
    yield* this.#children(element, inline, canReadText);
    this.#endLine();
    this.#prefix = outerPrefix;
  }

  *#renderTable(table: HTMLTableElement, inline: InlineStyle): Generator<number, void> {
    this.#addBlankLine();
    const { caption } = table;
    if (caption) yield* this.#visit(caption, inline);
    const rows: SpannedCell[][] = [];
    for (const row of table.querySelectorAll('tr')) {
      if (row.closest('table') !== table || !row.checkVisibility()) continue;
      const cells: SpannedCell[] = [];
      for (const cell of row.cells)
        cells.push({ text: yield* this.#renderCell(cell, inline), columns: cell.colSpan, rows: cell.rowSpan });
      rows.push(cells);
    }
    this.#addBlankLine();
    for (const [i, cells] of layOutCells(rows).entries()) this.#renderRow(cells, i === 0);
    this.#addBlankLine();
  }

  #renderRow(cells: readonly string[], isFirst: boolean): void {
    this.#lines.push(this.#prefix + (this.#isMarkdown ? `| ${cells.join(' | ')} |` : cells.join('\t')));
    if (isFirst && this.#isMarkdown) this.#lines.push(`${this.#prefix}|${' --- |'.repeat(cells.length)}`);
  }

  *#renderGridRow(row: Element, inline: InlineStyle): Generator<number, void> {
    const gridElement = findClosestInFlatTree(row, (at) => /^(grid|table|treegrid)$/.test(computeRole(at)));
    this.#endLine();
    const texts: string[] = [];
    for (const cell of listGridCells(row, 0)) texts.push(yield* this.#renderCell(cell, inline));
    if (texts.every((text) => text === '')) return;
    const isFirst = gridElement === undefined || gridElement !== this.#lastRenderedGrid;
    if (isFirst) this.#addBlankLine();
    this.#renderRow(texts, isFirst);
    this.#lastRenderedGrid = gridElement;
  }

  *#renderCell(cell: Element, inline: InlineStyle): Generator<number, string> {
    const outerText = this.#text;
    this.#text = '';
    yield* this.#visit(cell, { ...inline, isSingleLine: true });
    const text = cleanText(this.#text);
    this.#text = outerText;
    return this.#isMarkdown ? text.replaceAll('|', '\\|') : text;
  }

  #renderPreformatted(element: Element): void {
    if (!(element instanceof HTMLElement)) return;
    const text = element.innerText.replace(/\n$/, '');
    this.#characterCount += text.length;
    const longestBacktickRun = Math.max(2, ...[...text.matchAll(/`+/g)].map(([backticks]) => backticks.length));
    const fence = '`'.repeat(longestBacktickRun + 1);
    this.#addBlock(this.#isMarkdown ? `${fence}${findCodeLanguage(element)}\n${text}\n${fence}` : text);
  }

  #renderImage(element: Element): void {
    const alt = cleanText(element.getAttribute('alt') ?? '');
    if (alt === '') return;
    const source = element instanceof HTMLImageElement ? element.currentSrc || element.src : '';
    const isShort = /^https?:/.test(source) && source.length <= MaxUrlCharacters;
    this.#addImageText(alt, isShort ? `(${escapeUrl(source)})` : '');
  }

  #addImageText(text: string, target = ''): void {
    if (text !== '') this.#text += this.#isMarkdown ? `![${text}]${target}` : text;
  }

  /** #renderDrawing writes a drawing, such as a chart, as its alternative text and the texts inside the drawing. */
  *#renderDrawing(
    element: Element,
    role: string,
    inline: InlineStyle,
    canReadText: () => boolean,
  ): Generator<number, void> {
    if (role === 'img') this.#addImageText(computeElementName(element, role));
    yield* this.#children(element, { ...inline, isSingleLine: true }, canReadText);
  }

  #renderFrame(element: Element): void {
    this.frames.push(element);
    const title = computeElementName(element, 'iframe');
    this.#text += this.#isMarkdown || title ? ` [frame${title ? `: ${title}` : ''}] ` : '';
  }

  #renderField(element: Element, role: string): void {
    if (role === '' || element.getAttribute('type') === 'hidden') return;
    const name = computeElementName(element, role);
    const value = element instanceof HTMLTextAreaElement ? readFullValue(element, role) : readShownValue(element, role);
    const isCheckable = element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type);
    if (isCheckable) this.#text += `${element.checked ? ' [x] ' : ' [ ] '}${element.labels?.length ? '' : `${name} `}`;
    else if (role === 'button') this.#text += ` ${name} `;
    else if (value !== undefined) this.#text += ` [${name ? `${name}: ` : ''}${value}] `;
  }

  #endLine(): void {
    const text = collapseWhitespace(this.#text).trim();
    this.#text = '';
    if (text === '') return;
    const start = this.#lineMarker || this.#prefix;
    this.#lineMarker = '';
    const isListMarker = /^\s*([-*]|\d+\.) $/.test(start);
    const isInList = this.#prefix.endsWith('  ');
    if (!isListMarker && !isInList && this.#isMarkdown) this.#addBlankLine();
    this.#lines.push(start + text);
  }

  #addBlock(text: string): void {
    this.#endLine();
    this.#addBlankLine();
    for (const line of text.split('\n')) this.#lines.push(this.#prefix + line);
    this.#addBlankLine();
  }

  #addBlankLine(): void {
    const lastLine = this.#lines.at(-1);
    if (lastLine !== undefined && lastLine.trim() !== '' && lastLine.trim() !== '>')
      this.#lines.push(this.#prefix.trimEnd());
  }
}

function collapseWhitespace(text: string): string {
  return text.replace(/[\s\u2028\u2029]+/g, ' ');
}

function makeInlineMarkup(element: Element, tag: string): readonly [string, string] | undefined {
  if (tag === 'a' && readHref(element) !== '') {
    const href = readHref(element);
    if (href.startsWith('javascript:') || href.length > MaxUrlCharacters) return undefined;
    return ['[', `](${escapeUrl(href)})`];
  }
  if (tag === 'strong' || tag === 'b') return ['**', '**'];
  if (tag === 'em' || tag === 'i') return ['_', '_'];
  if (tag === 'code' || tag === 'kbd' || tag === 'samp') return ['`', '`'];
  return tag === 'del' || tag === 's' ? ['~~', '~~'] : undefined;
}

/** In Markdown, parentheses in a URL would end the link. */
function escapeUrl(url: string): string {
  return url.replaceAll('(', '%28').replaceAll(')', '%29');
}

/** findCodeLanguage returns the language in a class such as "language-ts", which code highlighters set. */
function findCodeLanguage(element: Element): string {
  for (const at of [element, element.firstElementChild, element.parentElement]) {
    const language = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,20})/.exec(
      at?.getAttribute('class') ?? '',
    )?.[1];
    if (language !== undefined) return language;
  }
  return '';
}

const MaxCellNesting = 5;

/** listGridCells returns the cells of an ARIA row, and any other elements with content in the row. */
function listGridCells(row: Element, nesting: number): Element[] {
  return [...listFlatChildren(row)].flatMap((child) => {
    if (!(child instanceof Element)) return [];
    if (/^(cell|gridcell|columnheader|rowheader)$/.test(computeRole(child)) || nesting >= MaxCellNesting)
      return [child];
    const cells = listGridCells(child, nesting + 1);
    return cells.some((cell) => computeRole(cell) !== '') ? cells : [child];
  });
}

/** isDataTable reports whether a table contains rows of data instead of laying out the page. */
function isDataTable(table: Element): table is HTMLTableElement {
  if (!(table instanceof HTMLTableElement) || table.querySelector('table') !== null) return false;
  if (table.getAttribute('role') === 'presentation' || table.getAttribute('role') === 'none') return false;
  return [...table.rows].slice(0, 20).some((row) => row.cells.length > 1);
}

function computeItemNumber(item: Element, list: HTMLOListElement): number {
  const items = [...list.children].filter((child) => child instanceof HTMLLIElement);
  const numberStep = list.reversed ? -1 : 1;
  let number = list.reversed && !list.hasAttribute('start') ? items.length : list.start;
  for (const listEntry of items) {
    if (listEntry.hasAttribute('value')) number = listEntry.value;
    if (listEntry === item) break;
    number += numberStep;
  }
  return number;
}
