// Declares the types of dom-accessibility-api, so that the extension compiles without the npm package.
declare module 'dom-accessibility-api' {
  export function computeAccessibleName(
    root: Element,
    options?: { readonly computedStyleSupportsPseudoElements?: boolean },
  ): string;
}
