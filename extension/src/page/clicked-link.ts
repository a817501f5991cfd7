/**
 * ClickedLink is the link that a click followed. Chrome blocks the new tab of a link with target="_blank", so the
 * worker opens the tab.
 */
export interface ClickedLink {
  readonly href: string;
  readonly newTab: boolean;
  /**
   * script is the javascript: address of the link. Chrome ignores such an address on a synthetic click, so the
   * worker runs the script.
   */
  readonly script?: string;
}
