import type { Report } from '../../../../wire/wire.gen.ts';
import type { Fields } from '../../record.ts';

/** BrowserCall is one call of a browser tool. */
export interface BrowserCall {
  readonly tool: string;
  /** tabId is 0 if the call has no tab. */
  readonly tabId: number;
  /** documentId is the top document that the server has judged, or empty if the call is not pinned to a document. */
  readonly documentId: string;
  readonly args: Fields;
  /** signal is aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  report(report: Report): void;
}

/** PageState is the top document of a tab. */
export interface PageState {
  readonly url: string;
  readonly title: string;
}

/** ListedTab is a tab in the result of browser_tabs. */
export interface ListedTab {
  readonly tabId: number;
  readonly windowId: number;
  readonly title: string;
  readonly url: string;
  /** active is true if the window of the tab displays the tab. */
  readonly active: boolean;
  readonly groupTitle?: string;
}

/** BrowserResult is the result of a browser tool. */
export interface BrowserResult {
  /** text are the words of opentabs. They contain no text of the page except addresses and quoted lines. */
  readonly text?: string;
  /** content is text of the page. The server marks it as untrusted. */
  readonly content?: string;
  /** page is the top document of the tab after the tool. */
  readonly page?: PageState;
  readonly image?: { readonly data: string; readonly mimeType: string };
  readonly tabs?: readonly ListedTab[];
  /** tabId is the tab that the tool opened or selected. The server makes the tab the client's current tab. */
  readonly tabId?: number;
}

/** BrowserTool runs one browser tool. A BrowserTool fails with a ToolFailure. */
export type BrowserTool = (call: BrowserCall) => Promise<BrowserResult>;
