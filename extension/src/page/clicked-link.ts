/** Chrome blocks the new tab of a link with target="_blank", so the worker opens the link in a new tab. */
export interface ClickedLink {
  readonly href: string;
  readonly newTab: boolean;
  /** Chrome ignores a `javascript:` URL on a synthetic click, so the worker runs the script. */
  readonly script?: string;
}
