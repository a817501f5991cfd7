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
const TimeSliceMs = 50;

const SkippedTags = new Set(
  'script style template noscript head meta link title desc metadata defs symbol datalist base rp'.split(' '),
);
const FormFieldTags = /^(input|select|textarea|progress|meter)$/;

interface InlineStyle {
  /** hasLineBreaks is true if line breaks in the text are drawn, as with the CSS property `white-space: pre-wrap`. */
  readonly hasLineBreaks: boolean;
  /** isFlat is true if the text must not contain line breaks, such as in a table cell. */
  readonly isFlat: boolean;
}

export class MarkdownWriter {
  readonly frames: Element[] = [];
  readonly #isMarkdown: boolean;
  #lines: string[] = [];
  #text = '';
  /** #prefix is the text with which each line begins: quote marks and the indentation of lists. */
  #prefix = '';
  /** #marker is the text, such as a bullet, with which the next line begins instead of #prefix. */
  #marker = '';
  #characters = 0;
  #visited = 0;
  #nesting = 0;
  #sliceEnd = 0;
  #lastGrid: Element | undefined;
  isCut = false;

  constructor(isMarkdown: boolean) {
    this.#isMarkdown = isMarkdown;
  }

  /** The method `run` yields the number of visited elements every 50 ms, and finally returns the Markdown or text. */
  *run(root: Element): Generator<number, string> {
    this.#sliceEnd = performance.now() + TimeSliceMs;
    yield* this.#visit(root, { hasLineBreaks: false, isFlat: false });
    this.#endLine();
    return this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  *#visit(element: Element, outer: InlineStyle): Generator<number, void> {
    const tag = element.localName;
    if (SkippedTags.has(tag)) return;
    const original = element.getAttribute('aria-hidden') === 'true' ? findHiddenOriginal(element) : element;
    if (!original) return;
    if (this.#characters > MaxCharacters || this.#nesting >= MaxNesting) {
      this.isCut = true;
      return;
    }
    if ((++this.#visited & 31) === 0 && performance.now() > this.#sliceEnd) {
      yield this.#visited;
      this.#sliceEnd = performance.now() + TimeSliceMs;
    }
    const style = getComputedStyle(element);
    const shown = determineVisibility(element, style);
    if (!shown.drawn || shown.closed) return;
    const isInline = isInlineDisplay(style.display);
    const isBlock = !outer.isFlat && !isInline;
    if (outer.isFlat && !isInline) this.#text += ' ';
    const hasLineBreaks = style.whiteSpaceCollapse !== 'collapse';
    const inline = hasLineBreaks === outer.hasLineBreaks ? outer : { ...outer, hasLineBreaks };
    if (isBlock) this.#endLine();
    this.#nesting++;
    const canReadText = () => shown.text && isTextShown(element, style);
    const formula = original !== element || tag === 'math' ? readMath(original) : '';
    if (tag === 'code' && isBlock && hasLineBreaks) this.#preformatted(element);
    else if (formula === '') yield* this.#element(element, tag, inline, canReadText);
    else if (canReadText()) this.#text += formula;
    this.#nesting--;
    if (isBlock) this.#endLine();
  }

  *#element(element: Element, tag: string, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    const role = computeRole(element);
    if (tag === 'br') {
      if (inline.isFlat) this.#text += ' ';
      else this.#endLine();
    } else if (tag === 'hr') this.#block('---');
    else if (tag === 'sup' && readExponent(element)) this.#text += canReadText() ? readExponent(element) : '';
    else if (tag === 'img') this.#image(element);
    else if (tag === 'svg') yield* this.#drawing(element, role, inline, canReadText);
    else if (role === 'img' || tag === 'canvas') this.#addAlternative(computeElementName(element, role));
    else if (role === 'iframe') this.#frame(element);
    else if (FormFieldTags.test(tag)) this.#field(element, role);
    else if (tag === 'pre' && !inline.isFlat) this.#preformatted(element);
    else if (role === 'heading' && !inline.isFlat) yield* this.#heading(element, inline, canReadText);
    else if (tag === 'li' || role === 'listitem') yield* this.#item(element, inline, canReadText);
    else if (tag === 'blockquote' && !inline.isFlat) yield* this.#indented('> ', element, inline, canReadText);
    else if (tag === 'table' && !inline.isFlat && isDataTable(element)) yield* this.#table(element, inline);
    else if (role === 'row' && tag !== 'tr' && !inline.isFlat) yield* this.#gridRow(element, inline);
    else yield* this.#wrapped(element, tag, inline, canReadText);
  }

  *#wrapped(element: Element, tag: string, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    if (/^(ul|ol|menu)$/.test(tag) && this.#isMarkdown && this.#prefix === '') this.#blank();
    const isLink = tag === 'a' && readHref(element) !== '';
    const marks = this.#isMarkdown ? makeInlineMarkup(element, tag) : undefined;
    if (!marks && !isLink) return yield* this.#children(element, inline, canReadText);
    const before = this.#text;
    const lines = this.#lines.length;
    this.#text = '';
    yield* this.#children(element, inline, canReadText);
    const hasLines = this.#lines.length !== lines;
    let inner = collapseWhitespace(this.#text);
    if (isLink && !hasLines && inner.trim() === '') inner += computeElementName(element, 'link'); // a link with an icon
    const [open, close] = tag === 'code' && inner.includes('`') ? ['`` ', ' ``'] : (marks ?? ['', '']);
    if (hasLines && isLink && marks) this.#linkFirstLine(lines, open, close);
    if (hasLines || inner.trim() === '') this.#text = hasLines ? this.#text : before + inner;
    else
      this.#text = `${before}${/^\s/.test(inner) ? ' ' : ''}${open}${inner.trim()}${close}${/\s$/.test(inner) ? ' ' : ''}`;
    if (hasLines && before.trim() !== '')
      this.#lines.splice(lines, 0, this.#prefix + collapseWhitespace(before).trim());
  }

  /** A link around blocks, such as a card with a heading, becomes a link around the first line of its content. */
  #linkFirstLine(start: number, open: string, close: string): void {
    for (let i = start; i < this.#lines.length; i++) {
      const [, marker = '', text = ''] = /^(\s*(?:(?:>|[-*]|\d+\.|#+) )*)(.*)$/.exec(this.#lines[i] ?? '') ?? [];
      if (text === '' || text.startsWith('```') || text.startsWith('|') || text.includes('](')) continue;
      this.#lines[i] = marker + open + text + close;
      return;
    }
  }

  *#children(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    let canSee: boolean | undefined;
    for (const child of listFlatChildren(element)) {
      if (child instanceof Element) yield* this.#visit(child, inline);
      else if (child instanceof Text && child.data !== '') {
        if (child.data.trim() === '') {
          this.#text += ' ';
          continue;
        }
        canSee ??= canReadText();
        if (!canSee) continue;
        this.#addText(child.data, inline);
      }
    }
  }

  #addText(text: string, { hasLineBreaks, isFlat }: InlineStyle): void {
    this.#characters += text.length;
    const [first = '', ...rest] = hasLineBreaks && !isFlat ? text.split('\n') : [text];
    this.#text += first;
    for (const line of rest) {
      this.#endLine();
      this.#text += line;
    }
  }

  *#heading(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    const level = Number(element.getAttribute('aria-level')) || Number(/^h([1-6])$/.exec(element.localName)?.[1] ?? 2);
    this.#blank();
    if (this.#isMarkdown) this.#marker = `${this.#marker || this.#prefix}${'#'.repeat(Math.min(6, level))} `;
    yield* this.#children(element, { ...inline, isFlat: true }, canReadText);
    this.#endLine();
    this.#marker = '';
    this.#blank();
  }

  *#item(element: Element, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    if (inline.isFlat) return yield* this.#children(element, inline, canReadText);
    const list = element.parentElement;
    const number = list instanceof HTMLOListElement ? `${countItemNumber(element, list)}. ` : '- ';
    this.#marker = number;
    yield* this.#indented('  ', element, inline, canReadText);
    this.#marker = '';
  }

  *#indented(
    prefix: string,
    element: Element,
    inline: InlineStyle,
    canReadText: () => boolean,
  ): Generator<number, void> {
    const outer = this.#prefix;
    this.#prefix += prefix;
    if (this.#marker) this.#marker = outer + this.#marker;
    yield* this.#children(element, inline, canReadText);
    this.#endLine();
    this.#prefix = outer;
  }

  *#table(table: HTMLTableElement, inline: InlineStyle): Generator<number, void> {
    this.#blank();
    const { caption } = table;
    if (caption) yield* this.#visit(caption, inline);
    const rows: SpannedCell[][] = [];
    for (const row of table.querySelectorAll('tr')) {
      if (row.closest('table') !== table || !row.checkVisibility()) continue;
      const cells: SpannedCell[] = [];
      for (const cell of row.cells)
        cells.push({ text: yield* this.#cell(cell, inline), columns: cell.colSpan, rows: cell.rowSpan });
      rows.push(cells);
    }
    this.#blank();
    for (const [i, cells] of layOutCells(rows).entries()) this.#row(cells, i === 0);
    this.#blank();
  }

  #row(cells: readonly string[], isFirst: boolean): void {
    this.#lines.push(this.#prefix + (this.#isMarkdown ? `| ${cells.join(' | ')} |` : cells.join('\t')));
    if (isFirst && this.#isMarkdown) this.#lines.push(`${this.#prefix}|${' --- |'.repeat(cells.length)}`);
  }

  *#gridRow(row: Element, inline: InlineStyle): Generator<number, void> {
    const grid = findClosestInFlatTree(row, (at) => /^(grid|table|treegrid)$/.test(computeRole(at)));
    this.#endLine();
    const texts: string[] = [];
    for (const cell of listGridCells(row, 0)) texts.push(yield* this.#cell(cell, inline));
    if (texts.every((text) => text === '')) return;
    const isFirst = grid === undefined || grid !== this.#lastGrid;
    if (isFirst) this.#blank();
    this.#row(texts, isFirst);
    this.#lastGrid = grid;
  }

  *#cell(cell: Element, inline: InlineStyle): Generator<number, string> {
    const outer = this.#text;
    this.#text = '';
    yield* this.#visit(cell, { ...inline, isFlat: true });
    const text = cleanText(this.#text);
    this.#text = outer;
    return this.#isMarkdown ? text.replaceAll('|', '\\|') : text;
  }

  #preformatted(element: Element): void {
    if (!(element instanceof HTMLElement)) return;
    const text = element.innerText.replace(/\n$/, '');
    this.#characters += text.length;
    const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
    const fence = '`'.repeat(longest + 1);
    this.#block(this.#isMarkdown ? `${fence}${findCodeLanguage(element)}\n${text}\n${fence}` : text);
  }

  #image(element: Element): void {
    const alt = cleanText(element.getAttribute('alt') ?? '');
    if (alt === '') return;
    const source = element instanceof HTMLImageElement ? element.currentSrc || element.src : '';
    const isShort = /^https?:/.test(source) && source.length <= MaxUrlCharacters;
    this.#addAlternative(alt, isShort ? `(${escapeUrl(source)})` : '');
  }

  #addAlternative(text: string, target = ''): void {
    if (text !== '') this.#text += this.#isMarkdown ? `![${text}]${target}` : text;
  }

  /** A drawing, such as a chart, has an alternative text, and texts that the user sees. */
  *#drawing(element: Element, role: string, inline: InlineStyle, canReadText: () => boolean): Generator<number, void> {
    if (role === 'img') this.#addAlternative(computeElementName(element, role));
    yield* this.#children(element, { ...inline, isFlat: true }, canReadText);
  }

  #frame(element: Element): void {
    this.frames.push(element);
    const title = computeElementName(element, 'iframe');
    this.#text += this.#isMarkdown || title ? ` [frame${title ? `: ${title}` : ''}] ` : '';
  }

  #field(element: Element, role: string): void {
    if (role === '' || element.getAttribute('type') === 'hidden') return;
    const name = computeElementName(element, role);
    const value = element instanceof HTMLTextAreaElement ? readFullValue(element, role) : readShownValue(element, role);
    const checked = element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type);
    if (checked) this.#text += `${element.checked ? ' [x] ' : ' [ ] '}${element.labels?.length ? '' : `${name} `}`;
    else if (role === 'button') this.#text += ` ${name} `;
    else if (value !== undefined) this.#text += ` [${name ? `${name}: ` : ''}${value}] `;
  }

  #endLine(): void {
    const text = collapseWhitespace(this.#text).trim();
    this.#text = '';
    if (text === '') return;
    const start = this.#marker || this.#prefix;
    this.#marker = '';
    const isItem = /^\s*([-*]|\d+\.) $/.test(start);
    const isInList = this.#prefix.endsWith('  ');
    if (!isItem && !isInList && this.#isMarkdown) this.#blank();
    this.#lines.push(start + text);
  }

  #block(text: string): void {
    this.#endLine();
    this.#blank();
    for (const line of text.split('\n')) this.#lines.push(this.#prefix + line);
    this.#blank();
  }

  #blank(): void {
    const last = this.#lines.at(-1);
    if (last !== undefined && last.trim() !== '' && last.trim() !== '>') this.#lines.push(this.#prefix.trimEnd());
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

/** listGridCells returns the cells of a row that consists of elements with roles, and other content of the row. */
function listGridCells(row: Element, nesting: number): Element[] {
  return [...listFlatChildren(row)].flatMap((child) => {
    if (!(child instanceof Element)) return [];
    if (/^(cell|gridcell|columnheader|rowheader)$/.test(computeRole(child)) || nesting >= MaxCellNesting)
      return [child];
    const cells = listGridCells(child, nesting + 1);
    return cells.some((cell) => computeRole(cell) !== '') ? cells : [child];
  });
}

/** isDataTable reports whether a table contains rows of data, and is not used for page layout. */
function isDataTable(table: Element): table is HTMLTableElement {
  if (!(table instanceof HTMLTableElement) || table.querySelector('table') !== null) return false;
  if (table.getAttribute('role') === 'presentation' || table.getAttribute('role') === 'none') return false;
  return [...table.rows].slice(0, 20).some((row) => row.cells.length > 1);
}

function countItemNumber(item: Element, list: HTMLOListElement): number {
  const items = [...list.children].filter((child) => child instanceof HTMLLIElement);
  const step = list.reversed ? -1 : 1;
  let number = list.reversed && !list.hasAttribute('start') ? items.length : list.start;
  for (const each of items) {
    if (each.hasAttribute('value')) number = each.value;
    if (each === item) break;
    number += step;
  }
  return number;
}
