// Describes empty elements that a user recognizes only by their color or border, such as color swatches.

/** If a page has more than MaxBoxes boxes, they are probably decoration, so the snapshot lists none of them. */
const MaxBoxes = 40;
const MaxEmptyElements = 500;
const MinBoxPixels = 8;
const MaxBoxPixels = 500;
const EmptySelector = ['div', 'span', 'i', 'p', 'section'].map((tag) => `${tag}:empty`).join();
/** SelfDescribingElementSelector matches elements whose snapshot line already describes the boxes inside them. */
const SelfDescribingElementSelector =
  'a,button,label,summary,select,[role=button],[role=link],[role=img],[role=switch],[role=slider]';

/** ColoredRoles are the roles of elements that often have no name, because users recognize them by their color. */
const ColoredRoles = new Set('box clickable button link option radio menuitem menuitemradio handle'.split(' '));

/** Each traversal of the page needs a new BoxDetector, because a BoxDetector searches the page for boxes only once. */
export class BoxDetector {
  #boxes: Set<Element> | undefined;

  isBox(element: Element): boolean {
    if (element.firstChild !== null || !(element instanceof HTMLElement)) return false;
    this.#boxes ??= findBoxes(element.ownerDocument);
    return this.#boxes.has(element) || (element.getRootNode() !== element.ownerDocument && isVisibleBox(element));
  }
}

function findBoxes(page: Document): Set<Element> {
  const emptyElements = page.querySelectorAll(EmptySelector);
  const boxes = emptyElements.length > MaxEmptyElements ? [] : [...emptyElements].filter(isVisibleBox);
  return new Set(boxes.length > MaxBoxes ? [] : boxes);
}

function isVisibleBox(element: Element): boolean {
  if (!(element instanceof HTMLElement) || !element.matches(EmptySelector)) return false;
  const { offsetWidth, offsetHeight } = element;
  if (Math.min(offsetWidth, offsetHeight) < MinBoxPixels || Math.max(offsetWidth, offsetHeight) > MaxBoxPixels)
    return false;
  if (element.closest(SelfDescribingElementSelector)) return false;
  const style = getComputedStyle(element);
  return hasBorder(style) || isPainted(element, style);
}

function hasBorder(style: CSSStyleDeclaration): boolean {
  return ['top', 'right', 'bottom', 'left'].every((side) => {
    const width = Number.parseFloat(style.getPropertyValue(`border-${side}-width`));
    return width > 0 && formatColor(style.getPropertyValue(`border-${side}-color`)) !== '';
  });
}

/** isPainted reports whether the background of an element differs from the background around it. */
function isPainted(element: Element, style: CSSStyleDeclaration): boolean {
  const color = formatColor(style.backgroundColor);
  if (color === '') return false;
  for (let at = element.parentElement; at; at = at.parentElement) {
    const outerColor = formatColor(getComputedStyle(at).backgroundColor);
    if (outerColor !== '') return outerColor !== color;
  }
  return color !== '#ffffff';
}

/** DefaultButtonColor is the background of a button without styles in Chrome. */
const DefaultButtonColor = '#efefef';

/** describeColor returns the background color of an element without content, such as ' [color=#ff0000]'. */
export function describeColor(element: Element, role: string): string {
  if (!(element instanceof HTMLElement) || !ColoredRoles.has(role)) return '';
  if (element.firstElementChild || element.textContent?.trim()) return '';
  const style = getComputedStyle(element);
  const color = hasBorder(style) || isPainted(element, style) ? formatColor(style.backgroundColor) : '';
  return color === '' || color === DefaultButtonColor ? '' : ` [color=${color}]`;
}

/** describeBox returns the color and the size of a box, such as ' [color=#ff0000] [30x30 at 5,10]'. */
export function describeBox(element: Element): string {
  if (!(element instanceof HTMLElement)) return '';
  // The position of a box in the normal flow would change whenever the content above changes.
  const isPositioned = getComputedStyle(element).position !== 'static';
  const positionText = isPositioned ? ` at ${element.offsetLeft},${element.offsetTop}` : '';
  return `${describeColor(element, 'box')} [${element.offsetWidth}x${element.offsetHeight}${positionText}]`;
}

const MinVisibleAlpha = 0.1;

/** formatColor returns a computed color in hexadecimal notation, or an empty string for a nearly transparent color. */
function formatColor(color: string): string {
  const numbers = /^rgba?\(([^)]+)\)$/
    .exec(color)?.[1]
    ?.split(/[, /]+/)
    .map(Number);
  if (!numbers) return /^[\w#(),.%/ -]+$/.test(color) && color !== 'transparent' ? color : '';
  const [red = 0, green = 0, blue = 0, alpha = 1] = numbers;
  if (alpha < MinVisibleAlpha) return '';
  const parts = alpha < 1 ? [red, green, blue, alpha * 255] : [red, green, blue];
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
