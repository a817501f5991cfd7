// Reads the shadow roots of elements, including closed ones, in content scripts.

interface ShadowRootReader {
  readonly openOrClosedShadowRoot?: (element: Element) => object | null;
}

declare const chrome: { readonly dom?: ShadowRootReader } | undefined;

const shadowRootReader = typeof chrome === 'undefined' ? undefined : chrome.dom;

export function readShadowRoot(element: Element): ShadowRoot | null {
  const openShadowRoot = element.shadowRoot;
  if (openShadowRoot !== null || !(element instanceof HTMLElement)) return openShadowRoot;
  const closedRoot = shadowRootReader?.openOrClosedShadowRoot?.(element);
  return closedRoot instanceof ShadowRoot ? closedRoot : null;
}
