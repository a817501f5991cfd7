// Declares the parts of dom-accessibility-api (extension/vendor) that the page script uses. With this declaration, tsc
// does not need the installed package.
declare module 'dom-accessibility-api' {
  export function computeAccessibleName(
    root: Element,
    options?: { readonly computedStyleSupportsPseudoElements?: boolean },
  ): string;
}
