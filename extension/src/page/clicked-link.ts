/** ClickedLink is the link that a click followed. With target _blank, Chrome blocks the new tab: the worker opens it. */
export interface ClickedLink {
  readonly href: string;
  readonly newTab: boolean;
  /** The javascript: address of the link. Chrome does not run it for a click of the page script: the worker does. */
  readonly script?: string;
}
