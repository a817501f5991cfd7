import type { Fields } from '../../../record.ts';
import type { BrowserResult } from '../browser-tool.ts';

const dialogKinds = ['alert', 'confirm', 'prompt', 'beforeunload'] as const;

/** OpenDialog is a JavaScript dialog, such as alert() or confirm(), that is not answered yet. */
export interface OpenDialog {
  readonly kind: (typeof dialogKinds)[number];
  readonly message: string;
  readonly defaultPrompt: string;
  /** seriesNumber is the position of the dialog in a series of consecutive dialogs, starting at 1. */
  readonly seriesNumber: number;
}

/**
 * DialogTimeoutMs is how long a JavaScript dialog may stay unanswered before the worker dismisses the dialog, in
 * milliseconds.
 */
export const DialogTimeoutMs = 5 * 60_000;
const MaxDismissedDialogs = 100;

export interface DialogsOptions {
  isInFront(tabId: number): Promise<boolean>;
  dismiss(tabId: number): Promise<unknown>;
}

/** SuspendedTool is a running tool that waits until the agent has answered a dialog of its page. */
interface SuspendedTool {
  readonly tool: Promise<BrowserResult>;
  readonly session: string;
}

/** MaxSeriesPauseMs is the longest pause between two consecutive dialogs of one series, in milliseconds. */
const MaxSeriesPauseMs = 2000;

/**
 * TabDialogs stores the open JavaScript dialogs of all tabs to which the debugger is attached. A dialog blocks its
 * page, so Dialogs dismisses each dialog that is unanswered after DialogTimeoutMs. If no tool opened the dialog and its
 * tab is the active tab, the dialog stays open until the user answers it.
 */
export class TabDialogs {
  readonly #options: DialogsOptions;
  readonly #openDialogs = new Map<number, OpenDialog>();
  readonly #lastSeries = new Map<number, { readonly seriesNumber: number; readonly closedAtMs: number }>();
  readonly #listeners = new Set<(tabId: number, dialog: OpenDialog) => void>();
  readonly #suspendedTools = new Map<number, SuspendedTool>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #dismissed = new Map<number, OpenDialog>();

  constructor(options: DialogsOptions) {
    this.#options = options;
  }

  find(tabId: number): OpenDialog | undefined {
    return this.#openDialogs.get(tabId);
  }

  handleEvent(tabId: number, method: string, params: Fields): void {
    if (method === 'Page.javascriptDialogClosed') this.#close(tabId);
    if (method !== 'Page.javascriptDialogOpening') return;
    const { type, message: dialogMessage, defaultPrompt } = params;
    const lastSeries = this.#lastSeries.get(tabId);
    const dialog: OpenDialog = {
      kind: dialogKinds.find((kind) => kind === type) ?? 'alert',
      message: typeof dialogMessage === 'string' ? dialogMessage : '',
      defaultPrompt: typeof defaultPrompt === 'string' ? defaultPrompt : '',
      seriesNumber:
        lastSeries && Date.now() - lastSeries.closedAtMs < MaxSeriesPauseMs ? lastSeries.seriesNumber + 1 : 1,
    };
    this.#openDialogs.set(tabId, dialog);
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

  async #expire(tabId: number, dialog: OpenDialog): Promise<void> {
    const isUsers = !this.#suspendedTools.has(tabId) && (await this.#options.isInFront(tabId).catch(() => false));
    if (this.#openDialogs.get(tabId) !== dialog) return;
    if (isUsers) this.#startTimer(tabId, dialog);
    else await this.#dismiss(tabId, dialog);
  }

  async #dismiss(tabId: number, dialog: OpenDialog): Promise<void> {
    this.#suspendedTools.delete(tabId);
    this.#dismissed.set(tabId, dialog);
    for (const oldest of this.#dismissed.keys()) {
      if (this.#dismissed.size <= MaxDismissedDialogs) break;
      this.#dismissed.delete(oldest);
    }
    await this.#options.dismiss(tabId).catch(() => undefined);
    this.markAnswered(tabId, dialog);
  }

  /** endSession dismisses the dialogs that tools of an MCP session have opened. */
  async endSession(session: string): Promise<void> {
    for (const [tabId, suspended] of [...this.#suspendedTools]) {
      if (suspended.session !== session) continue;
      this.#suspendedTools.delete(tabId);
      const dialog = this.#openDialogs.get(tabId);
      if (dialog) await this.#dismiss(tabId, dialog);
    }
  }

  findDismissed(tabId: number): OpenDialog | undefined {
    return this.#dismissed.get(tabId);
  }

  forgetDismissed(tabId: number): void {
    this.#dismissed.delete(tabId);
  }

  #close(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    const dialog = this.#openDialogs.get(tabId);
    if (dialog) this.#lastSeries.set(tabId, { seriesNumber: dialog.seriesNumber, closedAtMs: Date.now() });
    this.#openDialogs.delete(tabId);
  }

  forgetTab(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    this.#openDialogs.delete(tabId);
    this.#lastSeries.delete(tabId);
    this.#suspendedTools.delete(tabId);
  }

  /** markAnswered records that a dialog is closed, without waiting for Chrome's event. */
  markAnswered(tabId: number, dialog: OpenDialog): void {
    if (this.#openDialogs.get(tabId) === dialog) this.#close(tabId);
  }

  waitForNext(tabId: number): { readonly opened: Promise<OpenDialog>; stop(): void } {
    let stopWaiting = () => {};
    const dialogOpened = new Promise<OpenDialog>((resolve) => {
      const listener = (id: number, dialog: OpenDialog) => {
        if (id === tabId) resolve(dialog);
      };
      this.#listeners.add(listener);
      stopWaiting = () => this.#listeners.delete(listener);
    });
    return { opened: dialogOpened, stop: stopWaiting };
  }

  /** When the dialog has been answered, the tool browser_handle_dialog returns the result of the stored tool. */
  suspendTool(tabId: number, session: string, tool: Promise<BrowserResult>): void {
    tool.catch(() => undefined);
    this.#suspendedTools.set(tabId, { tool, session });
  }

  takeSuspended(tabId: number): Promise<BrowserResult> | undefined {
    const suspended = this.#suspendedTools.get(tabId);
    this.#suspendedTools.delete(tabId);
    return suspended?.tool;
  }
}
