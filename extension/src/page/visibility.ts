// Determines whether a user can see an element and its text.
import { getFlatParent, listChildNodes } from './flat-tree.ts';
import { waitForNextTask } from './pace.ts';
import { unclobberedDocument } from './unclobbered.ts';

export interface ElementVisibility {
  /**
   * The field `isRendered` is true if the element has a box, or has display: contents, so that only its children are
   * drawn.
   */
  readonly isRendered: boolean;
  /** The field `text` is true if the user can see text directly inside the element. */
  readonly text: boolean;
  readonly reachable: boolean;
  /** The field `hidesContents` is true if the element hides everything inside it from the user. */
  readonly hidesContents: boolean;
}

const UndrawnVisibility: ElementVisibility = { isRendered: false, text: false, reachable: false, hidesContents: true };
const FullVisibility: ElementVisibility = { isRendered: true, text: true, reachable: true, hidesContents: false };
const NoVisibility: ElementVisibility = { isRendered: true, text: false, reachable: false, hidesContents: false };
const NearTransparentVisibility: ElementVisibility = {
  isRendered: true,
  text: false,
  reachable: true,
  hidesContents: false,
};
const ClosedVisibility: ElementVisibility = { isRendered: true, text: false, reachable: false, hidesContents: true };

const checkVisibilityOptions = { visibilityProperty: true, opacityProperty: true } as const;

export function determineVisibility(element: Element, style: CSSStyleDeclaration): ElementVisibility {
  if (!element.checkVisibility(checkVisibilityOptions)) return determineHiddenVisibility(element, style);
  if (isCollapsed(element, style) || isFullyClipped(element, style.clipPath)) return ClosedVisibility;
  if (style.position !== 'static' && isOffPage(element, style)) return ClosedVisibility;
  const isNearlyInvisible = Number(style.opacity) < 0.05 || isClearFilter(style.filter);
  return isNearlyInvisible ? NearTransparentVisibility : FullVisibility;
}

function isClearFilter(filter: string): boolean {
  return filter !== 'none' && /opacity\(0(\.0[0-4]\d*)?\)/.test(filter);
}

function determineHiddenVisibility(element: Element, style: CSSStyleDeclaration): ElementVisibility {
  if (!element.checkVisibility())
    return style.display === 'contents' ? determineContentsVisibility(element, style) : UndrawnVisibility;
  if (style.visibility !== 'visible') return NoVisibility;
  return isCollapsed(element, style) || isFullyClipped(element, style.clipPath)
    ? ClosedVisibility
    : NearTransparentVisibility;
}

/** An element with `display: contents` has no box, so only its text and its children are drawn. */
function determineContentsVisibility(element: Element, style: CSSStyleDeclaration): ElementVisibility {
  if (style.visibility !== 'visible') return NoVisibility;
  const parent = getFlatParent(element);
  return parent && !isRendered(parent, { opacityProperty: true }) ? NearTransparentVisibility : FullVisibility;
}

/** isRendered is true for an element with `display: contents` if its parent is rendered. */
export function isRendered(element: Element, options?: CheckVisibilityOptions): boolean {
  for (let at: Element | null = element; at; at = getFlatParent(at)) {
    if (at.checkVisibility(options)) return true;
    if (getComputedStyle(at).display !== 'contents') return false;
  }
  return false;
}

/** isInlineDisplay reports whether an element with the CSS property `display` continues the line of text around it. */
export function isInlineDisplay(display: string): boolean {
  return /^(inline|contents|ruby|math)/.test(display);
}

function isCollapsed(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.overflow === 'visible' || !(element instanceof HTMLElement)) return false;
  const limit = element.firstChild === null ? 0 : 2;
  return (
    (isClipping(style.overflowX) && element.offsetWidth <= limit) ||
    (isClipping(style.overflowY) && element.offsetHeight <= limit)
  );
}

function isClipping(overflow: string): boolean {
  return overflow === 'hidden' || overflow === 'clip';
}

/**
 * isOffPage reports whether no scroll position shows a positioned element, or whether the element is clipped
 * completely.
 */
function isOffPage(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.position === 'relative' || style.position === 'sticky') {
    if (style.left === 'auto' && style.top === 'auto') return false;
  }
  const { right, bottom, left, top, width, height } = element.getBoundingClientRect();
  if (width === 0 && height === 0) return false; // children may be visible outside an element without a size
  if (style.position === 'fixed') return right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight;
  if (right + scrollX <= 0 || bottom + scrollY <= 0) return !isInScrolledContainer(element);
  return /^rect\(0px,? 0px,? 0px,? 0px\)$|^rect\(1px,? 1px,? 1px,? 1px\)$/.test(style.clip);
}

function isFullyClipped(element: Element, clipPath: string): boolean {
  if (clipPath === 'none') return false;
  const insetValues = /^inset\(([^)]*?)(?: round [^)]*)?\)$/.exec(clipPath)?.[1];
  if (insetValues === undefined) return /^(circle|ellipse)\(0(px|%)?[ )]|^polygon\(0px 0px, 0px 0px/.test(clipPath);
  const { width, height } = element.getBoundingClientRect();
  const [top = '0', right = top, bottom = top, left = right] = insetValues.split(' ');
  const parseShare = (text: string, size: number) =>
    text.endsWith('%') ? Number.parseFloat(text) / 100 : size === 0 ? 1 : Number.parseFloat(text) / size;
  return (
    parseShare(top, height) + parseShare(bottom, height) >= 1 || parseShare(left, width) + parseShare(right, width) >= 1
  );
}

/**
 * isInScrolledContainer reports whether an element is in a scrolled container, which could bring the element into view.
 */
function isInScrolledContainer(element: Element): boolean {
  for (let at = getFlatParent(element); at && at !== unclobberedDocument.body; at = getFlatParent(at)) {
    if (at.scrollTop !== 0 || at.scrollLeft !== 0 || scrollsBackward(at)) return true;
  }
  return false;
}

/** scrollsBackward reports whether a user can scroll an element to the left or up from its initial position. */
function scrollsBackward(element: Element): boolean {
  const overflowsHorizontally = element.scrollWidth > element.clientWidth;
  const overflowsVertically = element.scrollHeight > element.clientHeight;
  if (!overflowsHorizontally && !overflowsVertically) return false;
  const { direction, display, flexDirection, overflowX, overflowY } = getComputedStyle(element);
  if (!/auto|scroll/.test(`${overflowX} ${overflowY}`)) return false;
  if (overflowsHorizontally && direction === 'rtl') return true;
  return display.endsWith('flex') && flexDirection.endsWith('-reverse');
}

/**
 * VisibilityCache caches visibility results of elements for the current task only, because a page changes between
 * tasks.
 */
interface VisibilityCache {
  readonly isTextShown: Map<Element, boolean>;
  readonly backgrounds: Map<Element, string>;
}

let visibilityCache: VisibilityCache | undefined;

function getVisibilityCache(): VisibilityCache {
  if (visibilityCache) return visibilityCache;
  void waitForNextTask().then(() => {
    visibilityCache = undefined;
  });
  visibilityCache = { isTextShown: new Map(), backgrounds: new Map() };
  return visibilityCache;
}

/** isTextShown reports whether a user can see the text directly inside an element, given its color and size. */
export function isTextShown(element: Element, style: CSSStyleDeclaration): boolean {
  const memory = getVisibilityCache().isTextShown;
  const cachedVisibility = memory.get(element);
  if (cachedVisibility !== undefined) return cachedVisibility;
  const isShown = computeTextVisibility(element, style);
  memory.set(element, isShown);
  return isShown;
}

function computeTextVisibility(element: Element, style: CSSStyleDeclaration): boolean {
  if (Number.parseFloat(style.fontSize) < 2 || hidesDescendants(element, style) || isShrunk(element)) return false;
  const { textIndent } = style;
  if (textIndent !== '0px' && Math.abs(Number.parseFloat(textIndent)) > 500) return false;
  const color = style.webkitTextFillColor || style.color;
  if (isTransparent(color)) return style.backgroundClip === 'text';
  const background = findBackground(element, style);
  return background === '' || !areSimilarColors(color, background) || hasNearbyImage(element);
}

/**
 * findBackground returns the background color behind an element, or an empty string if an image is behind the element.
 */
function findBackground(element: Element, style: CSSStyleDeclaration): string {
  const { backgrounds } = getVisibilityCache();
  const cachedBackground = backgrounds.get(element);
  if (cachedBackground !== undefined) return cachedBackground;
  let background = style.backgroundColor;
  if (style.backgroundImage !== 'none') background = '';
  else if (isTransparent(background)) {
    const parent = getFlatParent(element);
    background = parent ? findBackground(parent, getComputedStyle(parent)) : readCanvasColor(style);
  }
  backgrounds.set(element, background);
  return background;
}

export function isNameShown(element: Element, style: CSSStyleDeclaration): boolean {
  if (!isRendered(element, { opacityProperty: true })) return false;
  return hasOwnText(element) ? isTextShown(element, style) : !isShrunk(element);
}

export function hasOwnText(element: Element): boolean {
  return listChildNodes(element).some((child) => child instanceof Text && child.data.trim() !== '');
}

export function isFaintText(style: CSSStyleDeclaration): boolean {
  if (Number(style.opacity) < 0.05 || Number.parseFloat(style.fontSize) < 2) return true;
  return isTransparent(style.webkitTextFillColor || style.color) && style.backgroundClip !== 'text';
}

/**
 * In a frame, the color behind the document is unknown, because the parent document can be visible through the frame.
 */
function readCanvasColor(style: CSSStyleDeclaration): string {
  if (window.parent !== window) return '';
  const scheme = style.colorScheme;
  const isDark =
    /\bdark\b/.test(scheme) && (!/\blight\b/.test(scheme) || matchMedia('(prefers-color-scheme: dark)').matches);
  return isDark ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)';
}

function hidesDescendants(element: Element, style: CSSStyleDeclaration): boolean {
  return style.contentVisibility === 'hidden' || (element instanceof HTMLDetailsElement && !element.open);
}

function isShrunk(element: Element): boolean {
  if (!(element instanceof HTMLElement)) return false;
  const { width, height, right, bottom } = element.getBoundingClientRect();
  const isOnPage = right + scrollX > 0 && bottom + scrollY > 0;
  if ((width >= 1 && height >= 1 && isOnPage) || element.offsetWidth === 0) return false;
  // Text can overflow an element whose own height is 0, but a transform that shrinks an element to height 0 also
  // shrinks its text.
  if (width < 1 || (height < 1 && element.offsetHeight > 0)) return true;
  return !isOnPage && !isInScrolledContainer(element);
}

function isTransparent(color: string): boolean {
  if (color.startsWith('rgb(')) return false;
  return color === 'transparent' || /^rgba\(.*, 0(\.0[0-4]\d*)?\)$|\/ 0(\.0[0-4]\d*)?\)$/.test(color);
}

/**
 * MaxColorDistance is the maximum difference between text and background color (red + green + blue) at which text is
 * unreadable.
 */
const MaxColorDistance = 12;

function areSimilarColors(a: string, b: string): boolean {
  if (a === b) return true;
  const [x, y] = [parseColorChannels(a), parseColorChannels(b)];
  if (!x || !y) return false;
  return x.reduce((sum, value, i) => sum + Math.abs(value - (y[i] ?? 0)), 0) <= MaxColorDistance;
}

const MaxParsedColors = 1_000;
const parsedColors = new Map<string, readonly number[] | undefined>();

/** parseColorChannels parses each color only once, because a page has few different colors. */
function parseColorChannels(color: string): readonly number[] | undefined {
  if (parsedColors.has(color)) return parsedColors.get(color);
  if (parsedColors.size > MaxParsedColors) parsedColors.clear();
  const numbers = color.startsWith('rgb') ? color.match(/[\d.]+/g)?.map(Number) : undefined;
  const channels = numbers && (numbers.length === 3 || numbers[3] === 1) ? numbers.slice(0, 3) : undefined;
  parsedColors.set(color, channels);
  return channels;
}

const MaxImageAncestors = 5;

/** White text on a white page is readable if an image is behind the text. */
function hasNearbyImage(element: Element): boolean {
  let at: Element | null = element;
  for (let level = 0; at && at !== unclobberedDocument.body && level < MaxImageAncestors; level++) {
    if (at.querySelector('img,video,canvas,picture,svg') !== null) return true;
    if (getComputedStyle(at, '::before').content !== 'none' || hasPaintedLayer(at)) return true;
    at = getFlatParent(at);
  }
  return false;
}

const MaxLayers = 12;

function hasPaintedLayer(element: Element): boolean {
  for (const child of [...element.children].slice(0, MaxLayers)) {
    const { position, backgroundColor, backgroundImage } = getComputedStyle(child);
    const isPainted = !isTransparent(backgroundColor) || backgroundImage !== 'none';
    if (isPainted && (position === 'absolute' || position === 'fixed')) return true;
  }
  return false;
}
