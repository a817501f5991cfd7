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
  /** session is the ID of the client's session, or empty if the session is unknown. */
  readonly session: string;
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

/** WrittenFile is the content of a file: text, or data in base64. */
export interface WrittenFile {
  /** extension is the file name extension without the dot, such as har. */
  readonly extension: string;
  readonly mimeType: string;
  readonly text?: string;
  readonly data?: string;
}

/** ListedWindow is a window in the result of browser_windows. */
interface ListedWindow {
  readonly windowId: number;
  readonly state: string;
  readonly focused: boolean;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly tabs: readonly Omit<ListedTab, 'windowId'>[];
}

/** BrowserResult is the result of a browser tool. */
export interface BrowserResult {
  /** text are the words of opentabs. They contain no text of the page except addresses and quoted lines. */
  readonly text?: string;
  /**
   * content is text of the page, or data of the browser if the tool needs no tab. The server marks content as
   * untrusted.
   */
  readonly content?: string;
  /** page is the top document of the tab after the tool. */
  readonly page?: PageState;
  /** snapshot is the ID of the snapshot in content, such as s7. */
  readonly snapshot?: string;
  readonly image?: { readonly data: string; readonly mimeType: string };
  /** file is a file that the tool has written. The server names and stores the file, and sends the client a link. */
  readonly file?: WrittenFile;
  readonly tabs?: readonly ListedTab[];
  readonly windows?: readonly ListedWindow[];
  /** windowId is the ID of the window that the tool opened. */
  readonly windowId?: number;
  /**
   * downloads are all downloads that the extension started. The server shows a client only the downloads that the
   * client started.
   */
  readonly downloads?: readonly { readonly id: number; readonly text: string }[];
  /** downloadId is the ID of the download that the tool started. */
  readonly downloadId?: number;
  /** tabId is the tab that the tool opened or selected. The server makes the tab the client's current tab. */
  readonly tabId?: number;
}

/** BrowserTool runs one browser tool. A BrowserTool fails with a ToolFailure. */
export type BrowserTool = (call: BrowserCall) => Promise<BrowserResult>;
