// Finds elements that a user recognizes only by their icon, and finds hints about their meaning in the page's markup.
import { cleanText, shorten } from './visible-text.ts';

/** An action icon has no text and no role, but a click on it acts on the element around it. */
const ActionIcons = [
  'trash',
  'star',
  'delete',
  'close',
  'remove',
  'reply',
  'forward',
  'edit',
  'heart',
  'like',
  'share',
  'more',
]
  .map((word) => `[class*=${word} i]`)
  .join(',');
const MaxIconPixels = 64;
export function isActionIcon(element: Element): boolean {
  if (!element.matches(ActionIcons) || element.textContent?.trim()) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 4 && height > 4 && width <= MaxIconPixels && height <= MaxIconPixels;
}

/** hasPicture reports whether an element without content draws an icon with CSS. */
export function hasPicture(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.content.startsWith('url(') || style.backgroundImage.includes('url(')) return true;
  return ['::before', '::after'].some((pseudoElement) =>
    /^(".+"|url\()/.test(getComputedStyle(element, pseudoElement).content),
  );
}

export function hasActionIcons(element: Element): boolean {
  return [...element.querySelectorAll(ActionIcons)].some(isActionIcon);
}

/** ClickAttribute matches the attributes with which frameworks declare click handlers. */
const ClickAttribute =
  /^(onclick|jsaction|data-(action|handler|toggle|bs-toggle|href)|(ng|phx|wire:|x-on:|on:|@)-?click|hx-(get|post|put|delete))$/;

export function hasDeclaredClickHandler(element: Element): boolean {
  // An anchor without a URL is a link that a script handles, unless the anchor only marks a position in the page.
  if (element.localName === 'a') return !element.hasAttribute('href') && !element.hasAttribute('name');
  return element.hasAttributes() && element.getAttributeNames().some((name) => ClickAttribute.test(name));
}

const MaxHintCharacters = 40;

/**
 * makeHint returns an attribute that hints at the meaning of an element without a name, such as ' [class=icon-trash]'.
 */
export function makeHint(element: Element, role: string): string {
  const isField = /^(textbox|searchbox|combobox|spinbutton|listbox|filefield|checkbox|radio|slider)$/.test(role);
  if (!isField && element.firstChild !== null && cleanText(element.textContent ?? '') !== '') return '';
  const icon = element.querySelector('i,use,[class*=icon i]');
  const hints: readonly (readonly [string, string | null | undefined])[] = isField
    ? [
        ['name', element.getAttribute('name')],
        ['id', element.id],
      ]
    : [
        ['class', element.getAttribute('class')],
        ['class', icon?.getAttribute('class')],
        ['href', icon?.getAttribute('href')],
        ['id', element.id],
        ['element', element.localName.includes('-') ? element.localName : ''],
      ];
  for (const [attribute, value] of hints) {
    const text = cleanText(value ?? '');
    if (text !== '' && !text.includes(']')) return ` [${attribute}=${shorten(text, MaxHintCharacters)}]`;
  }
  return '';
}
