// Computes the accessible names of elements, as assistive technology does (https://w3c.github.io/accname/).
import { computeAccessibleName } from 'dom-accessibility-api';
import { getFlatParent, listFlatChildren } from './flat-tree.ts';
import { ActionRoles, ContentNameRoles } from './roles.ts';
import { isFaintText, isNameShown, isRendered } from './visibility.ts';
import { cleanText } from './visible-text.ts';

/** MaxNameCharacters limits the text from which an accessible name is computed. */
const MaxNameCharacters = 1_000;
/** MaxNameNesting limits the levels of nested elements from which an accessible name is computed. */
const MaxNameNesting = 100;

/** UnnamedRoles are roles that allow no accessible name, or whose name would only repeat the content. */
const UnnamedRoles = new Set([
  '',
  'paragraph',
  'row',
  'rowgroup',
  'cell',
  'listitem',
  'definition',
  'term',
  'blockquote',
]);

export function computeElementName(element: Element, role: string): string {
  if (UnnamedRoles.has(role)) return cleanText(element.getAttribute('aria-label') ?? readAbbreviationTitle(element));
  if (element.hasAttribute('aria-labelledby')) return computeName(element, role);
  const label = element.getAttribute('aria-label');
  if (label?.trim()) return cleanText(label);
  if (role === 'img' && element.hasAttribute('alt')) return cleanText(element.getAttribute('alt') ?? '');
  if (element instanceof HTMLOptionElement && element.hasAttribute('label')) return cleanText(element.label);
  const buttonText = isButton(element, role) ? computeNameFromContent(element) : '';
  const labels = buttonText === '' ? readLabelText(element) : '';
  if (labels) return labels;
  if (isNamedByContent(element, role)) {
    const content = buttonText === '' ? computeNameFromContent(element) : buttonText;
    if (content !== undefined) return content || readNameAttribute(element);
  }
  const name = needsNameComputation(element) ? computeName(element, role) : readNameAttribute(element);
  return name || (ActionRoles.has(role) ? readHostLabelText(element) : '');
}

/** isNamedByOwnContent reports whether an element is a button whose text is its name, even if the button has a label. */
export function isNamedByOwnContent(element: Element, role: string): boolean {
  return isButton(element, role) && computeNameFromContent(element) !== '';
}

function isButton(element: Element, role: string): boolean {
  return role === 'button' && element instanceof HTMLButtonElement;
}

function readAbbreviationTitle(element: Element): string {
  return element.localName === 'abbr' ? (element.getAttribute('title') ?? '') : '';
}

/** readLabelText returns the text of the labels of a field. */
function readLabelText(element: Element): string {
  const names: string[] = [];
  for (const label of listLabels(element)) {
    if (label.hasAttribute('aria-label') || label.hasAttribute('aria-labelledby') || !isRendered(label)) return '';
    const content = computeNameFromContent(label, element);
    if (content === undefined) return '';
    names.push(content || cleanText(label.title));
  }
  return names.join(' ').trim();
}

/** For a custom element, listLabels searches the document, because the element's own list of labels is private. */
function listLabels(element: Element): readonly HTMLLabelElement[] {
  if (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLButtonElement
  )
    return [...(element.labels ?? [])];
  if (!isFormAssociated(element)) return [];
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [];
  const labelsById = element.id === '' ? [] : [...root.querySelectorAll(`label[for="${CSS.escape(element.id)}"]`)];
  return [element.closest('label'), ...labelsById].flatMap((label) =>
    label instanceof HTMLLabelElement && label.control === element ? [label] : [],
  );
}

export function isFormAssociated(element: Element): boolean {
  return element.localName.includes('-') && element.matches(':enabled, :disabled');
}

function readHostLabelText(element: Element): string {
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? readLabelText(root.host) : '';
}

export function isNamedByContent(element: Element, role: string): boolean {
  if (!ContentNameRoles.has(role)) return false;
  return !(element instanceof HTMLInputElement || element instanceof HTMLSelectElement);
}

function needsNameComputation(element: Element): boolean {
  if (element instanceof HTMLInputElement || element instanceof HTMLSelectElement) return true;
  if (element instanceof HTMLTextAreaElement || element instanceof SVGElement) return true;
  return /^(fieldset|table|figure|meter|progress|output|button|optgroup|area)$/.test(element.localName);
}

function computeName(element: Element, role: string): string {
  let name = '';
  try {
    name = computeAccessibleName(element, { computedStyleSupportsPseudoElements: true });
  } catch {
    // The library dom-accessibility-api throws an error if labels are nested too deeply.
  }
  const cleanedName = cleanText(name.slice(0, MaxNameCharacters));
  if (cleanedName) return cleanedName;
  if (isNamedByContent(element, role)) return computeNameFromContent(element) || readNameAttribute(element);
  return readLabelName(element) || readNameAttribute(element);
}

function readLabelName(element: Element): string {
  if (!(element instanceof HTMLInputElement)) return '';
  return [...(element.labels ?? [])]
    .map((label) => computeNameFromContent(label) ?? cleanText(label.textContent ?? ''))
    .join(' ');
}

function readNameAttribute(element: Element): string {
  for (const attribute of ['title', 'placeholder', 'aria-placeholder', 'alt']) {
    const value = element.getAttribute(attribute);
    if (value?.trim()) return cleanText(value);
  }
  if (element.localName === 'figure') return cleanText(element.querySelector('figcaption')?.textContent ?? '');
  return '';
}

interface NameBuilder {
  text: string;
  /**
   * needsNameLibrary is true if the content requires the full accessible name computation, such as a field inside a
   * button.
   */
  needsNameLibrary: boolean;
  nesting: number;
  /** If a label encloses its form field, the label's text does not include the field's content. */
  readonly field: Element | undefined;
  readonly owned: Set<Element>;
}

/** computeNameFromContent returns undefined if the name requires the library dom-accessibility-api. */
function computeNameFromContent(element: Element, field?: Element): string | undefined {
  const style = getComputedStyle(element);
  if (!isNameShown(element, style)) return '';
  const builder: NameBuilder = { text: '', needsNameLibrary: false, nesting: 0, field, owned: new Set() };
  addContent(element, style, builder);
  return builder.needsNameLibrary ? undefined : cleanText(builder.text);
}

function addContent(element: Element, style: CSSStyleDeclaration, builder: NameBuilder): void {
  if (builder.nesting > MaxNameNesting) return;
  builder.nesting++;
  builder.text += readPseudoElementText(element, '::before');
  for (const child of listFlatChildren(element)) {
    if (builder.text.length > MaxNameCharacters || builder.needsNameLibrary) break;
    if (child instanceof Text) builder.text += isFaintText(style) ? '' : applyTextTransform(child.data, style);
    else if (child instanceof Element) addChild(child, builder);
  }
  for (const owned of findOwnedElements(element)) {
    if (builder.owned.has(owned)) continue;
    builder.owned.add(owned);
    builder.text += ' ';
    addChild(owned, builder);
  }
  builder.text += readPseudoElementText(element, '::after');
  builder.nesting--;
}

function findOwnedElements(element: Element): Element[] {
  const ids = element.getAttribute('aria-owns')?.split(/\s+/);
  if (!ids) return [];
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [];
  const find = (id: string) => (id === '' ? null : root.querySelector(`#${CSS.escape(id)}`));
  return ids.map(find).filter((ownedElement) => ownedElement !== null);
}

/** ValueElementTags and ValueRoles match fields whose value is part of the name of an enclosing element. */
const ValueElementTags = /^(input|select|textarea|meter|progress)$/;
const ValueRoles = /^(textbox|combobox|listbox|slider|spinbutton|progressbar|meter|scrollbar|searchbox)$/;

function addChild(child: Element, builder: NameBuilder): void {
  if (child === builder.field) return;
  const tag = child.localName;
  if (tag === 'br') builder.text += ' ';
  if (/^(br|script|style|template|noscript)$/.test(tag) || child.getAttribute('aria-hidden') === 'true') return;
  if (ValueElementTags.test(tag) || ValueRoles.test(child.role ?? '') || child.hasAttribute('aria-labelledby')) {
    builder.needsNameLibrary = true;
    return;
  }
  const style = getComputedStyle(child);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  const isImage = tag === 'img' || tag === 'svg';
  const isInline = !isImage && (style.display === 'inline' || style.display === 'contents');
  if (!isInline) builder.text += ' ';
  const label = child.getAttribute('aria-label')?.trim();
  if (label) builder.text += label;
  else if (tag === 'img') builder.text += child.getAttribute('alt') ?? child.getAttribute('title') ?? '';
  else if (tag === 'svg') builder.text += child.querySelector(':scope > title')?.textContent ?? '';
  else addContentOrTitle(child, style, builder);
  if (!isInline) builder.text += ' ';
}

function addContentOrTitle(child: Element, style: CSSStyleDeclaration, builder: NameBuilder): void {
  const textBefore = builder.text;
  addContent(child, style, builder);
  if (builder.text.trim() === textBefore.trim()) builder.text += child.getAttribute('title') ?? '';
}

/** readPseudoElementText returns the text that a style sheet adds before or after the content of an element. */
function readPseudoElementText(element: Element, pseudoElement: '::before' | '::after'): string {
  const style = getComputedStyle(element, pseudoElement);
  const content = style.content;
  if (content === 'none' || content === 'normal' || content === '' || style.display === 'none') return '';
  // The CSS property `content` can have an alternative text after a slash, as in `"x" / "alternative"` or `url(x) /
  // "alternative"`.
  const alternative = /^(?:"(?:[^"\\]|\\.)*"|url\([^)]*\)) \/ "((?:[^"\\]|\\.)*)"$/.exec(content);
  const quotedMatch = /^"((?:[^"\\]|\\.)*)"$/.exec(content);
  const text = (alternative?.[1] ?? quotedMatch?.[1] ?? '').replace(/\\(.)/g, '$1');
  return text !== '' && style.display !== 'inline' ? ` ${text} ` : text;
}

function applyTextTransform(text: string, style: CSSStyleDeclaration): string {
  switch (style.textTransform) {
    case 'uppercase':
      return text.toUpperCase();
    case 'lowercase':
      return text.toLowerCase();
    case 'capitalize':
      return text.replace(
        /(^|[\s([{"'-])(\p{Ll})/gu,
        (_, prefix: string, letter: string) => prefix + letter.toUpperCase(),
      );
    default:
      return text;
  }
}

export function findLabelledControl(element: Element): Element | null {
  if (element instanceof HTMLLabelElement) return element.control;
  const tag = element.localName;
  if (tag !== 'legend' && tag !== 'caption') return null;
  const parent = getFlatParent(element);
  return parent?.localName === (tag === 'legend' ? 'fieldset' : 'table') ? parent : null;
}
