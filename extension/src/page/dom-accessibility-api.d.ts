// Declares the parts of dom-accessibility-api (extension/vendor) that the page script uses. Because of this
// declaration, the TypeScript compiler needs no installed npm package dom-accessibility-api.
declare module 'dom-accessibility-api' {
  export function computeAccessibleName(
    root: Element,
    options?: { readonly computedStyleSupportsPseudoElements?: boolean },
  ): string;
}
