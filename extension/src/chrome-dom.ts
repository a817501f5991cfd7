// Reads the shadow roots of elements, including closed ones, in content scripts.

interface ShadowRootReader {
  readonly openOrClosedShadowRoot?: (element: Element) => object | null;
}

declare const chrome: { readonly dom?: ShadowRootReader } | undefined;

const shadowRootReader = typeof chrome === 'undefined' ? undefined : chrome.dom;

export function readShadowRoot(element: Element): ShadowRoot | null {
  const open = element.shadowRoot;
  if (open !== null || !(element instanceof HTMLElement)) return open;
  const root = shadowRootReader?.openOrClosedShadowRoot?.(element);
  return root instanceof ShadowRoot ? root : null;
}
