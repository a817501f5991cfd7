// The part of Chrome's API that content scripts use on elements.

interface ShadowRootReader {
  readonly openOrClosedShadowRoot?: (element: Element) => object | null;
}

declare const chrome: { readonly dom?: ShadowRootReader } | undefined;

const shadowRootReader = typeof chrome === 'undefined' ? undefined : chrome.dom;

/** readShadowRoot returns the open or closed shadow root of an element, and null if there is none. */
export function readShadowRoot(element: Element): ShadowRoot | null {
  const open = element.shadowRoot;
  if (open !== null || !(element instanceof HTMLElement)) return open;
  const root = shadowRootReader?.openOrClosedShadowRoot?.(element);
  return root instanceof ShadowRoot ? root : null;
}
