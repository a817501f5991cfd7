import type { Report } from '../../../../wire/wire.gen.ts';
import type { Fields } from '../../record.ts';

export interface BrowserCall {
  readonly tool: string;
  /** tabId is the tab in which the tool runs, or 0 for a tool that needs no tab. */
  readonly tabId: number;
  /**
   * documentId is the top document for which the server allowed the call, or empty if the call can run in any document.
   */
  readonly documentId: string;
  readonly args: Fields;
  /** The field `session` is the ID of the client's MCP session, or empty if the session is unknown. */
  readonly session: string;
  readonly signal: AbortSignal;
  report(report: Report): void;
  /** After markActed, an error of the call no longer states that the tool has not started. */
  markActed(): void;
}

export interface PageState {
  readonly url: string;
  readonly title: string;
}

export interface ListedTab {
  readonly tabId: number;
  readonly windowId: number;
  readonly title: string;
  readonly url: string;
  readonly active: boolean;
  readonly groupTitle?: string;
}

/** WrittenFile is the content of a file, either as text or as base64 data. */
export interface WrittenFile {
  /** The field `extension` is the file name extension without the dot, such as "har". */
  readonly extension: string;
  readonly mimeType: string;
  readonly text?: string;
  readonly data?: string;
}

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

export interface BrowserResult {
  /**
   * The field `text` contains sentences of opentabs about the result, and nothing from the page except URLs and quoted
   * lines.
   */
  readonly text?: string;
  /**
   * The field `content` contains text from the page, or data of the browser such as bookmarks. When the server sends a
   * tool result to the client, the server marks the field `content` as untrusted.
   */
  readonly content?: string;
  readonly page?: PageState;
  /** The field `snapshot` is the ID of the snapshot in the field `content`, such as "s7". */
  readonly snapshot?: string;
  readonly image?: { readonly data: string; readonly mimeType: string };
  /** The server chooses a name for the file, stores the file, and sends a link to the file to the client. */
  readonly file?: WrittenFile;
  readonly tabs?: readonly ListedTab[];
  readonly windows?: readonly ListedWindow[];
  readonly windowId?: number;
  /**
   * The field `downloads` lists all downloads that the extension has started. The server removes the downloads of other
   * clients before it returns the field `downloads` to a client.
   */
  readonly downloads?: readonly { readonly id: number; readonly text: string }[];
  readonly downloadId?: number;
  /**
   * tabId is the ID of the tab that the tool has opened or selected. After the call, the server makes this tab the
   * client's current tab.
   */
  readonly tabId?: number;
  /** The field `openedTabs` contains the IDs of the tabs that a document of the tab opened during the call. */
  readonly openedTabs?: readonly number[];
}

/** A failed tool throws a ToolFailure. */
export type BrowserTool = (call: BrowserCall) => Promise<BrowserResult>;
