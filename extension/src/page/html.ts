// Writes the visible content of a page as HTML: without scripts, and only with attributes that describe content.
import { listFlatChildren } from './flat-tree.ts';
import { computeRole } from './roles.ts';
import { findSecretKind } from './secrets.ts';
import { readFullValue } from './states.ts';
import { determineVisibility, isTextShown } from './visibility.ts';
import { cleanLines } from './visible-text.ts';
import { MaxNesting } from './walk.ts';

const SkippedTags = new Set('script style template noscript head meta link base'.split(' '));
const VoidTags = /^(area|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const PrintedAttributes = new Set(
  `id class name type role href src alt title placeholder for value checked selected disabled readonly required
  multiple open colspan rowspan scope lang dir datetime action method target rel tabindex contenteditable draggable
  data-testid data-id`.split(/\s+/),
);
const MaxAttributeCharacters = 300;
const MaxCharacters = 4_000_000;

export class HtmlWriter {
  readonly frames: Element[] = [];
  isTruncated = false;
  readonly #parts: string[] = [];
  #characterCount = 0;
  #visitedCount = 0;
  #nestingDepth = 0;

  /** The method `run` yields the number of visited elements after each 32 elements, and finally returns the HTML. */
  *run(root: Element): Generator<number, string> {
    yield* this.#visit(root);
    return this.#parts
      .join('')
      .replace(/\n\s*\n+/g, '\n')
      .trim();
  }

  *#visit(element: Element): Generator<number, void> {
    const tag = element.localName;
    if (SkippedTags.has(tag)) return;
    if (this.#characterCount > MaxCharacters || this.#nestingDepth >= MaxNesting) {
      this.isTruncated = true;
      return;
    }
    if ((++this.#visitedCount & 31) === 0) yield this.#visitedCount;
    const style = getComputedStyle(element);
    const elementVisibility = determineVisibility(element, style);
    if (!elementVisibility.isRendered) return;
    if (computeRole(element) === 'iframe') this.frames.push(element);
    this.#addHtml(`<${tag}${formatAttributes(element)}>`);
    if (VoidTags.test(tag)) return;
    if (element instanceof HTMLTextAreaElement) this.#addHtml(escapeHtml(readFullValue(element, 'textbox') ?? ''));
    else if (tag !== 'iframe') {
      const isTextVisible = !elementVisibility.hidesContents && elementVisibility.text && isTextShown(element, style);
      this.#nestingDepth++;
      for (const child of listFlatChildren(element)) {
        if (child instanceof Element) yield* this.#visit(child);
        else if (child instanceof Text && (isTextVisible || child.data.trim() === ''))
          this.#addHtml(escapeHtml(cleanLines(child.data)));
      }
      this.#nestingDepth--;
    }
    this.#addHtml(`</${tag}>`);
  }

  #addHtml(text: string): void {
    this.#parts.push(text);
    this.#characterCount += text.length;
  }
}

function formatAttributes(element: Element): string {
  let text = '';
  for (const { name, value } of element.attributes) {
    if (!PrintedAttributes.has(name) && !name.startsWith('aria-')) continue;
    if (name === 'value' && findSecretKind(element)) continue;
    const isInlineUrl = value.startsWith('data:') || value.startsWith('javascript:');
    text += ` ${name}="${escapeHtml(cleanLines(isInlineUrl ? '…' : value.slice(0, MaxAttributeCharacters)))}"`;
  }
  return text;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
