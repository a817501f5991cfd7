// Writes the visible content of a page as Markdown, or as plain text with the same line breaks.
import { readHref } from './describe.ts';
import { listFlatChildren } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import { computeRole } from './roles.ts';
import { readFullValue, readShownValue } from './states.ts';
import { determineVisibility, TextVisibility } from './visibility.ts';
import { cleanText } from './visible-text.ts';
import { MaxNesting } from './walk.ts';

/** MaxCharacters limits the text that is collected from a page, regardless of how the text is divided into parts. */
const MaxCharacters = 4_000_000;
const MaxUrlCharacters = 500;
const TimeSliceMs = 50;

const SkippedTags = new Set('script style template noscript head meta link title datalist base svg canvas'.split(' '));
const FormFieldTags = /^(input|select|textarea|progress|meter)$/;

interface InlineStyle {
  readonly isPreformatted: boolean;
  /** isFlat is true if the text must not contain line breaks, such as in a table cell. */
  readonly isFlat: boolean;
}

export class MarkdownWriter {
  readonly frames: Element[] = [];
  readonly #isMarkdown: boolean;
  readonly #textVisibility = new TextVisibility();
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
  isCut = false;

  constructor(isMarkdown: boolean) {
    this.#isMarkdown = isMarkdown;
  }

  /** The method `run` yields the number of visited elements every 50 ms, and finally returns the Markdown or text. */
  *run(root: Element): Generator<number, string> {
    this.#sliceEnd = performance.now() + TimeSliceMs;
    yield* this.#visit(root, { isPreformatted: false, isFlat: false });
    this.#endLine();
    return this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  *#visit(element: Element, inline: InlineStyle): Generator<number, void> {
    const tag = element.localName;
    if (SkippedTags.has(tag) || element.getAttribute('aria-hidden') === 'true') return;
    if (this.#characters > MaxCharacters) {
      this.isCut = true;
      return;
    }
    if (this.#nesting >= MaxNesting) return;
    if ((++this.#visited & 31) === 0 && performance.now() > this.#sliceEnd) {
      yield this.#visited;
      this.#sliceEnd = performance.now() + TimeSliceMs;
    }
    const style = getComputedStyle(element);
    const shown = determineVisibility(element, style);
    if (!shown.drawn || shown.closed) return;
    const isBlock = !inline.isFlat && !style.display.startsWith('inline') && style.display !== 'contents';
    if (inline.isFlat && !style.display.startsWith('inline')) this.#text += ' ';
    if (isBlock) this.#endLine();
    this.#nesting++;
    yield* this.#element(element, tag, inline, () => shown.text && this.#textVisibility.isShown(element, style));
    this.#nesting--;
    if (isBlock) this.#endLine();
  }

  *#element(element: Element, tag: string, inline: InlineStyle, isTextShown: () => boolean): Generator<number, void> {
    const role = computeRole(element);
    if (tag === 'br') {
      if (inline.isFlat) this.#text += ' ';
      else this.#endLine();
    } else if (tag === 'hr') this.#block('---');
    else if (tag === 'img') this.#image(element);
    else if (role === 'iframe') this.#frame(element);
    else if (FormFieldTags.test(tag)) this.#field(element, role);
    else if (tag === 'pre' && !inline.isFlat) this.#preformatted(element);
    else if (role === 'heading' && !inline.isFlat) yield* this.#heading(element, inline, isTextShown);
    else if (tag === 'li' || role === 'listitem') yield* this.#item(element, inline, isTextShown);
    else if (tag === 'blockquote' && !inline.isFlat) yield* this.#indented('> ', element, inline, isTextShown);
    else if (tag === 'table' && !inline.isFlat && isDataTable(element)) yield* this.#table(element, inline);
    else yield* this.#wrapped(element, tag, inline, isTextShown);
  }

  *#wrapped(element: Element, tag: string, inline: InlineStyle, isTextShown: () => boolean): Generator<number, void> {
    if ((tag === 'ul' || tag === 'ol') && this.#isMarkdown && this.#prefix === '') this.#blank();
    const marks = this.#isMarkdown ? makeInlineMarkup(element, tag) : undefined;
    if (!marks) return yield* this.#children(element, inline, isTextShown);
    const before = this.#text;
    const lines = this.#lines.length;
    this.#text = '';
    yield* this.#children(element, inline, isTextShown);
    const inner = collapseWhitespace(this.#text);
    const hasLines = this.#lines.length !== lines;
    const [open, close] = marks;
    if (hasLines || inner.trim() === '') this.#text = hasLines ? this.#text : before + inner;
    else
      this.#text = `${before}${/^\s/.test(inner) ? ' ' : ''}${open}${inner.trim()}${close}${/\s$/.test(inner) ? ' ' : ''}`;
    if (hasLines && before.trim() !== '')
      this.#lines.splice(lines, 0, this.#prefix + collapseWhitespace(before).trim());
  }

  *#children(element: Element, inline: InlineStyle, isTextShown: () => boolean): Generator<number, void> {
    let canSee: boolean | undefined;
    for (const child of listFlatChildren(element)) {
      if (child instanceof Element) yield* this.#visit(child, inline);
      else if (child instanceof Text && child.data !== '') {
        if (child.data.trim() === '') {
          this.#text += ' ';
          continue;
        }
        canSee ??= isTextShown();
        if (!canSee) continue;
        this.#text += child.data;
        this.#characters += child.data.length;
      }
    }
  }

  *#heading(element: Element, inline: InlineStyle, isTextShown: () => boolean): Generator<number, void> {
    const level = Number(element.getAttribute('aria-level')) || Number(/^h([1-6])$/.exec(element.localName)?.[1] ?? 2);
    this.#blank();
    if (this.#isMarkdown) this.#marker = `${'#'.repeat(Math.min(6, level))} `;
    yield* this.#children(element, { ...inline, isFlat: true }, isTextShown);
    this.#endLine();
    this.#marker = '';
    this.#blank();
  }

  *#item(element: Element, inline: InlineStyle, isTextShown: () => boolean): Generator<number, void> {
    if (inline.isFlat) return yield* this.#children(element, inline, isTextShown);
    const list = element.parentElement;
    const number = list instanceof HTMLOListElement ? `${countItemNumber(element, list)}. ` : '- ';
    this.#marker = number;
    yield* this.#indented('  ', element, inline, isTextShown);
    this.#marker = '';
  }

  *#indented(
    prefix: string,
    element: Element,
    inline: InlineStyle,
    isTextShown: () => boolean,
  ): Generator<number, void> {
    const outer = this.#prefix;
    this.#prefix += prefix;
    if (this.#marker) this.#marker = outer + this.#marker;
    yield* this.#children(element, inline, isTextShown);
    this.#endLine();
    this.#prefix = outer;
  }

  *#table(table: Element, inline: InlineStyle): Generator<number, void> {
    this.#blank();
    let columns = 0;
    for (const row of table.querySelectorAll('tr')) {
      if (row.closest('table') !== table || !row.checkVisibility()) continue;
      const cells: string[] = [];
      for (const cell of row.cells) cells.push(yield* this.#cell(cell, inline));
      if (cells.every((cell) => cell === '')) continue;
      this.#lines.push(this.#prefix + (this.#isMarkdown ? `| ${cells.join(' | ')} |` : cells.join('\t')));
      if (columns === 0 && this.#isMarkdown) this.#lines.push(`${this.#prefix}|${' --- |'.repeat(cells.length)}`);
      columns = cells.length;
    }
    this.#blank();
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
    const fence = text.includes('```') ? '````' : '```';
    this.#block(this.#isMarkdown ? `${fence}\n${text}\n${fence}` : text);
  }

  #image(element: Element): void {
    const alt = cleanText(element.getAttribute('alt') ?? '');
    if (alt === '') return;
    const source = element instanceof HTMLImageElement ? element.currentSrc || element.src : '';
    const isShort = /^https?:/.test(source) && source.length <= MaxUrlCharacters;
    this.#text += this.#isMarkdown ? `![${alt}]${isShort ? `(${source})` : ''}` : alt;
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
    if (checked) this.#text += element.checked ? ' [x] ' : ' [ ] ';
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
    return ['[', `](${href.replaceAll(')', '%29')})`];
  }
  if (tag === 'strong' || tag === 'b') return ['**', '**'];
  if (tag === 'em' || tag === 'i') return ['_', '_'];
  if (tag === 'code' || tag === 'kbd' || tag === 'samp') return ['`', '`'];
  return tag === 'del' || tag === 's' ? ['~~', '~~'] : undefined;
}

/** isDataTable reports whether a table contains rows of data, and is not used for page layout. */
function isDataTable(table: Element): boolean {
  if (!(table instanceof HTMLTableElement) || table.querySelector('table') !== null) return false;
  if (table.getAttribute('role') === 'presentation' || table.getAttribute('role') === 'none') return false;
  return [...table.rows].slice(0, 20).some((row) => row.cells.length > 1);
}

function countItemNumber(item: Element, list: HTMLOListElement): number {
  let number = list.start;
  for (const sibling of list.children) {
    if (sibling === item) break;
    if (sibling.localName === 'li') number++;
  }
  return item instanceof HTMLLIElement && item.hasAttribute('value') ? item.value : number;
}
