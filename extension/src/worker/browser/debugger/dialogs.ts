import type { Fields } from '../../../record.ts';
import type { BrowserResult } from '../browser-tool.ts';

const dialogKinds = ['alert', 'confirm', 'prompt', 'beforeunload'] as const;

/** OpenDialog is a JavaScript dialog of a page that has not been answered. */
export interface OpenDialog {
  readonly kind: (typeof dialogKinds)[number];
  /** message is the text that the page shows in the dialog. */
  readonly message: string;
  /** defaultPrompt is the initial value of the text field of a prompt dialog. */
  readonly defaultPrompt: string;
  /**
   * seriesNumber is the position of the dialog in a series of dialogs that followed each other without a pause,
   * from 1.
   */
  readonly seriesNumber: number;
}

/** DialogTimeoutMs is how long a dialog may remain unanswered before it is dismissed automatically, in milliseconds. */
export const DialogTimeoutMs = 5 * 60_000;
/** MaxDismissedDialogs limits the stored dialogs that were dismissed automatically and not yet reported by a tool. */
const MaxDismissedDialogs = 100;

export interface DialogsOptions {
  /** isInFront reports whether a tab is the active tab of its window. */
  isInFront(tabId: number): Promise<boolean>;
  /** dismiss closes the dialog of a tab in the same way as a click of the user on Cancel. */
  dismiss(tabId: number): Promise<unknown>;
}

/** SuspendedTool is a running tool that cannot end until the dialog of its page is answered. */
interface SuspendedTool {
  readonly tool: Promise<BrowserResult>;
  readonly session: string;
}

/** MaxSeriesPauseMs is the longest pause between two dialogs of one series, in milliseconds. */
const MaxSeriesPauseMs = 2000;

/**
 * Dialogs stores the open dialogs of the tabs to which the debugger is attached. A dialog that remains unanswered
 * is dismissed after DialogTimeoutMs, because a dialog blocks its page. A dialog in the active tab of a window that no
 * tool opened stays open until the user answers it.
 */
export class Dialogs {
  readonly #options: DialogsOptions;
  readonly #open = new Map<number, OpenDialog>();
  readonly #rows = new Map<number, { readonly row: number; readonly closedMs: number }>();
  readonly #listeners = new Set<(tabId: number, dialog: OpenDialog) => void>();
  readonly #suspended = new Map<number, SuspendedTool>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  /** #dismissed are the dialogs that were dismissed automatically and not yet reported by a tool. */
  readonly #dismissed = new Map<number, OpenDialog>();

  constructor(options: DialogsOptions) {
    this.#options = options;
  }

  find(tabId: number): OpenDialog | undefined {
    return this.#open.get(tabId);
  }

  /** handleEvent handles a debugger event of a tab. */
  handleEvent(tabId: number, method: string, params: Fields): void {
    if (method === 'Page.javascriptDialogClosed') this.#close(tabId);
    if (method !== 'Page.javascriptDialogOpening') return;
    const { type, message, defaultPrompt } = params;
    const last = this.#rows.get(tabId);
    const dialog: OpenDialog = {
      kind: dialogKinds.find((kind) => kind === type) ?? 'alert',
      message: typeof message === 'string' ? message : '',
      defaultPrompt: typeof defaultPrompt === 'string' ? defaultPrompt : '',
      seriesNumber: last && Date.now() - last.closedMs < MaxSeriesPauseMs ? last.row + 1 : 1,
    };
    this.#open.set(tabId, dialog);
    this.#startTimer(tabId, dialog);
    for (const listener of this.#listeners) listener(tabId, dialog);
  }

  #startTimer(tabId: number, dialog: OpenDialog): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.set(
      tabId,
      setTimeout(() => void this.#expire(tabId, dialog), DialogTimeoutMs),
    );
  }

  /** #expire dismisses an unanswered dialog, unless the dialog is for the user to answer. */
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
      if (this.#dismissed.size <= MaxDismissedDialogs) break;
      this.#dismissed.delete(oldest);
    }
    await this.#options.dismiss(tabId).catch(() => undefined);
    this.markAnswered(tabId, dialog);
  }

  /** endSession dismisses the dialogs that tools of a session have opened. */
  async endSession(session: string): Promise<void> {
    for (const [tabId, suspended] of [...this.#suspended]) {
      if (suspended.session !== session) continue;
      this.#suspended.delete(tabId);
      const dialog = this.#open.get(tabId);
      if (dialog) await this.#dismiss(tabId, dialog);
    }
  }

  /** findDismissed returns the last automatically dismissed dialog of a tab, or undefined if there is none. */
  findDismissed(tabId: number): OpenDialog | undefined {
    return this.#dismissed.get(tabId);
  }

  /** forgetDismissed records that a tool has reported the automatically dismissed dialog of a tab. */
  forgetDismissed(tabId: number): void {
    this.#dismissed.delete(tabId);
  }

  #close(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    const dialog = this.#open.get(tabId);
    if (dialog) this.#rows.set(tabId, { row: dialog.seriesNumber, closedMs: Date.now() });
    this.#open.delete(tabId);
  }

  /** forgetTab deletes the dialogs of a tab from which the debugger is detached. */
  forgetTab(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    this.#open.delete(tabId);
    this.#rows.delete(tabId);
    this.#suspended.delete(tabId);
  }

  /** markAnswered records that the dialog of a tab is closed, before Chrome reports the closing. */
  markAnswered(tabId: number, dialog: OpenDialog): void {
    if (this.#open.get(tabId) === dialog) this.#close(tabId);
  }

  /** waitForNext returns a promise of the next dialog that opens in a tab. stop ends the wait. */
  waitForNext(tabId: number): { readonly opened: Promise<OpenDialog>; stop(): void } {
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

  /**
   * suspendTool stores the running tool whose page shows a dialog. browser_handle_dialog returns the result of the
   * suspended tool.
   */
  suspendTool(tabId: number, session: string, tool: Promise<BrowserResult>): void {
    tool.catch(() => undefined);
    this.#suspended.set(tabId, { tool, session });
  }

  /** takeSuspended removes and returns the tool that is suspended until the dialog of a tab is answered. */
  takeSuspended(tabId: number): Promise<BrowserResult> | undefined {
    const suspended = this.#suspended.get(tabId);
    this.#suspended.delete(tabId);
    return suspended?.tool;
  }
}
