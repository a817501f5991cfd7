import type { Fields } from '../../../record.ts';
import type { BrowserResult } from '../browser-tool.ts';

const dialogKinds = ['alert', 'confirm', 'prompt', 'beforeunload'] as const;

/** OpenDialog is a dialog of a page that waits for an answer. */
export interface OpenDialog {
  readonly kind: (typeof dialogKinds)[number];
  /** message is text of the page. */
  readonly message: string;
  /** defaultPrompt is the text that a prompt already contains. */
  readonly defaultPrompt: string;
  /** row is the number of the dialog among those that followed each other without a pause. */
  readonly row: number;
}

/** DialogMs is how long a dialog waits for an answer before it is dismissed, in milliseconds. */
export const DialogMs = 5 * 60_000;
/** MaxDismissed limits the dismissed dialogs that no tool has named yet. */
const MaxDismissed = 100;

export interface DialogsOptions {
  /** isInFront reports whether the window of a tab displays the tab. */
  isInFront(tabId: number): Promise<boolean>;
  /** dismiss closes the dialog of a tab as the user does with Cancel. */
  dismiss(tabId: number): Promise<unknown>;
}

/** SuspendedTool is a tool that waits until its page's dialog is answered. */
interface SuspendedTool {
  readonly tool: Promise<BrowserResult>;
  readonly session: string;
}

/** RowMs is the longest pause between dialogs that follow each other, in milliseconds. */
const RowMs = 2000;

/**
 * Dialogs has the open dialogs of the tabs to which the debugger is attached. A dialog that nothing answers is dismissed
 * after DialogMs, because it blocks its page. A dialog that no tool opened in a tab in front waits for the user.
 */
export class Dialogs {
  readonly #options: DialogsOptions;
  readonly #open = new Map<number, OpenDialog>();
  readonly #rows = new Map<number, { readonly row: number; readonly closedMs: number }>();
  readonly #listeners = new Set<(tabId: number, dialog: OpenDialog) => void>();
  readonly #suspended = new Map<number, SuspendedTool>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  /** #dismissed are the dialogs that were dismissed without an answer, and that no tool has named yet. */
  readonly #dismissed = new Map<number, OpenDialog>();

  constructor(options: DialogsOptions) {
    this.#options = options;
  }

  find(tabId: number): OpenDialog | undefined {
    return this.#open.get(tabId);
  }

  /** receive records an event of the debugger. */
  receive(tabId: number, method: string, params: Fields): void {
    if (method === 'Page.javascriptDialogClosed') this.#close(tabId);
    if (method !== 'Page.javascriptDialogOpening') return;
    const { type, message, defaultPrompt } = params;
    const last = this.#rows.get(tabId);
    const dialog: OpenDialog = {
      kind: dialogKinds.find((kind) => kind === type) ?? 'alert',
      message: typeof message === 'string' ? message : '',
      defaultPrompt: typeof defaultPrompt === 'string' ? defaultPrompt : '',
      row: last && Date.now() - last.closedMs < RowMs ? last.row + 1 : 1,
    };
    this.#open.set(tabId, dialog);
    this.#startTimer(tabId, dialog);
    for (const listener of this.#listeners) listener(tabId, dialog);
  }

  #startTimer(tabId: number, dialog: OpenDialog): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.set(
      tabId,
      setTimeout(() => void this.#expire(tabId, dialog), DialogMs),
    );
  }

  /** #expire dismisses a dialog, unless the dialog is the user's. */
  async #expire(tabId: number, dialog: OpenDialog): Promise<void> {
    const isUsers = !this.#suspended.has(tabId) && (await this.#options.isInFront(tabId).catch(() => false));
    if (this.#open.get(tabId) !== dialog) return;
    if (isUsers) this.#startTimer(tabId, dialog);
    else await this.#dismiss(tabId, dialog);
  }

  async #dismiss(tabId: number, dialog: OpenDialog): Promise<void> {
    this.#suspended.delete(tabId);
    this.#dismissed.set(tabId, dialog);
    for (const oldest of this.#dismissed.keys()) {
      if (this.#dismissed.size <= MaxDismissed) break;
      this.#dismissed.delete(oldest);
    }
    await this.#options.dismiss(tabId).catch(() => undefined);
    this.markAnswered(tabId, dialog);
  }

  /** endSession dismisses the dialogs that acts of a session have opened. */
  async endSession(session: string): Promise<void> {
    for (const [tabId, suspended] of [...this.#suspended]) {
      if (suspended.session !== session) continue;
      this.#suspended.delete(tabId);
      const dialog = this.#open.get(tabId);
      if (dialog) await this.#dismiss(tabId, dialog);
    }
  }

  /** findDismissed returns the last dialog of a tab that was dismissed without an answer; undefined if there is none. */
  findDismissed(tabId: number): OpenDialog | undefined {
    return this.#dismissed.get(tabId);
  }

  /** forgetDismissed records that a tool has named the dismissed dialog of a tab. */
  forgetDismissed(tabId: number): void {
    this.#dismissed.delete(tabId);
  }

  #close(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    const dialog = this.#open.get(tabId);
    if (dialog) this.#rows.set(tabId, { row: dialog.row, closedMs: Date.now() });
    this.#open.delete(tabId);
  }

  /** forget drops what is known about a tab that the debugger leaves. */
  forget(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    this.#open.delete(tabId);
    this.#rows.delete(tabId);
    this.#suspended.delete(tabId);
  }

  /** markAnswered records that a dialog is closed, before Chrome reports it. */
  markAnswered(tabId: number, dialog: OpenDialog): void {
    if (this.#open.get(tabId) === dialog) this.#close(tabId);
  }

  /** next resolves with the dialog that opens next, until stop is called. */
  next(tabId: number): { readonly opened: Promise<OpenDialog>; stop(): void } {
    let stop = () => {};
    const opened = new Promise<OpenDialog>((resolve) => {
      const listener = (id: number, dialog: OpenDialog) => {
        if (id === tabId) resolve(dialog);
      };
      this.#listeners.add(listener);
      stop = () => this.#listeners.delete(listener);
    });
    return { opened, stop };
  }

  /** suspend keeps a tool whose page shows a dialog. Its result belongs to the answer of the dialog. */
  suspend(tabId: number, session: string, tool: Promise<BrowserResult>): void {
    tool.catch(() => undefined);
    this.#suspended.set(tabId, { tool, session });
  }

  /** takeSuspended returns the tool that waits for the answer of a tab's dialog, and forgets the tool. */
  takeSuspended(tabId: number): Promise<BrowserResult> | undefined {
    const suspended = this.#suspended.get(tabId);
    this.#suspended.delete(tabId);
    return suspended?.tool;
  }
}
