// Declares the parts of dom-accessibility-api (extension/vendor) that the page script uses. With this declaration file,
// the extension compiles without installing the npm package dom-accessibility-api.
declare module 'dom-accessibility-api' {
  export function computeAccessibleName(
    root: Element,
    options?: { readonly computedStyleSupportsPseudoElements?: boolean },
  ): string;
}
