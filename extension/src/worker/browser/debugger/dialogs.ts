import type { Fields } from '../../../record.ts';
import type { BrowserResult } from '../browser-tool.ts';
import { makeCallFailure, type ToolFailure } from '../tool-failure.ts';

const dialogKinds = ['alert', 'confirm', 'prompt', 'beforeunload'] as const;

/** OpenDialog is a JavaScript dialog, such as alert() or confirm(), that is not answered yet. */
export interface OpenDialog {
  readonly kind: (typeof dialogKinds)[number];
  readonly message: string;
  readonly defaultPrompt: string;
  /** numberInSeries is the position of the dialog in a series of consecutive dialogs, starting at 1. */
  readonly numberInSeries: number;
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

/**
 * SuspendedTool is a running tool whose call has returned early, because the page opened a dialog. No running call can
 * cancel the tool, so its own `controller` stops the tool.
 */
export interface SuspendedTool {
  readonly tabId: number;
  readonly tool: Promise<BrowserResult>;
  readonly session: string;
  readonly controller: AbortController;
}

/** DialogSeriesPauseMs is the longest pause between two consecutive dialogs of one series, in milliseconds. */
const DialogSeriesPauseMs = 2000;

/**
 * TabDialogs stores the open JavaScript dialogs of all tabs to which the debugger is attached. A dialog blocks its
 * page, so TabDialogs dismisses each dialog that is unanswered after DialogTimeoutMs. If no tool opened the dialog and
 * its tab is the active tab, the dialog stays open until the user answers it.
 */
export class TabDialogs {
  readonly #options: DialogsOptions;
  readonly #openDialogs = new Map<number, OpenDialog>();
  readonly #lastDialogSeriesByTab = new Map<number, { readonly numberInSeries: number; readonly closedAtMs: number }>();
  readonly #listeners = new Set<(tabId: number, dialog: OpenDialog) => void>();
  /** #suspendedTools contains the tools whose dialogs are still open, by tab ID. */
  readonly #suspendedTools = new Map<number, SuspendedTool>();
  /**
   * #unattendedTools contains all suspended tools that have not ended. A tool can continue after the user has answered
   * its dialog.
   */
  readonly #unattendedTools = new Set<SuspendedTool>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #dismissedDialogs = new Map<number, OpenDialog>();

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
    const lastDialogSeries = this.#lastDialogSeriesByTab.get(tabId);
    const dialog: OpenDialog = {
      kind: dialogKinds.find((kind) => kind === type) ?? 'alert',
      message: typeof dialogMessage === 'string' ? dialogMessage : '',
      defaultPrompt: typeof defaultPrompt === 'string' ? defaultPrompt : '',
      numberInSeries:
        lastDialogSeries && Date.now() - lastDialogSeries.closedAtMs < DialogSeriesPauseMs
          ? lastDialogSeries.numberInSeries + 1
          : 1,
    };
    this.#openDialogs.set(tabId, dialog);
    this.#startTimer(tabId, dialog);
    for (const listener of this.#listeners) listener(tabId, dialog);
  }

  #startTimer(tabId: number, dialog: OpenDialog): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.set(
      tabId,
      setTimeout(() => void this.#handleDialogTimeout(tabId, dialog), DialogTimeoutMs),
    );
  }

  async #handleDialogTimeout(tabId: number, dialog: OpenDialog): Promise<void> {
    const isLeftToUser = !this.#suspendedTools.has(tabId) && (await this.#options.isInFront(tabId).catch(() => false));
    if (this.#openDialogs.get(tabId) !== dialog) return;
    if (isLeftToUser) this.#startTimer(tabId, dialog);
    else await this.#dismissDialog(tabId, dialog);
  }

  async #dismissDialog(tabId: number, dialog: OpenDialog): Promise<void> {
    // The tool must stop before its page continues.
    this.#suspendedTools.get(tabId)?.controller.abort(makeStopReason('the dialog of the action had no answer'));
    this.#suspendedTools.delete(tabId);
    this.#dismissedDialogs.set(tabId, dialog);
    for (const oldestTabId of this.#dismissedDialogs.keys()) {
      if (this.#dismissedDialogs.size <= MaxDismissedDialogs) break;
      this.#dismissedDialogs.delete(oldestTabId);
    }
    await this.#options.dismiss(tabId).catch(() => undefined);
    this.markAnswered(tabId, dialog);
  }

  /** endSession stops the suspended tools of an MCP session, and dismisses the dialogs that the tools have opened. */
  async endSession(session: string): Promise<void> {
    for (const suspendedTool of [...this.#unattendedTools])
      if (suspendedTool.session === session)
        suspendedTool.controller.abort(makeStopReason('the session of the client ended'));
    for (const [tabId, suspendedTool] of [...this.#suspendedTools]) {
      const dialog = suspendedTool.session === session ? this.#openDialogs.get(tabId) : undefined;
      if (dialog) await this.#dismissDialog(tabId, dialog);
    }
  }

  /**
   * stopSuspendedTools stops the suspended tools in a tab in which the user stopped the client. stopSuspendedTools returns
   * true if it stopped a tool.
   */
  stopSuspendedTools(tabId: number): boolean {
    const stoppedTools = [...this.#unattendedTools].filter((suspendedTool) => suspendedTool.tabId === tabId);
    for (const { controller } of stoppedTools) controller.abort(makeStopReason('the user stopped the client'));
    return stoppedTools.length > 0;
  }

  findDismissedDialog(tabId: number): OpenDialog | undefined {
    return this.#dismissedDialogs.get(tabId);
  }

  forgetDismissedDialog(tabId: number): void {
    this.#dismissedDialogs.delete(tabId);
  }

  #close(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    const dialog = this.#openDialogs.get(tabId);
    if (dialog)
      this.#lastDialogSeriesByTab.set(tabId, { numberInSeries: dialog.numberInSeries, closedAtMs: Date.now() });
    this.#openDialogs.delete(tabId);
    this.#suspendedTools.delete(tabId);
  }

  forgetTab(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    this.#openDialogs.delete(tabId);
    this.#lastDialogSeriesByTab.delete(tabId);
    this.#suspendedTools.delete(tabId);
  }

  /** markAnswered records at once that a dialog is closed, without waiting for Chrome's event. */
  markAnswered(tabId: number, dialog: OpenDialog): void {
    if (this.#openDialogs.get(tabId) === dialog) this.#close(tabId);
  }

  waitForNextDialog(tabId: number): { readonly opened: Promise<OpenDialog>; stop(): void } {
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

  /**
   * suspendTool stores a running tool until its dialog is answered; then browser_handle_dialog returns the tool's
   * result. If the dialog is already closed, suspendTool only ensures that the tool can still be stopped.
   */
  suspendTool(suspendedTool: SuspendedTool): void {
    const { tabId, tool } = suspendedTool;
    const forgetTool = () => this.#unattendedTools.delete(suspendedTool);
    this.#unattendedTools.add(suspendedTool);
    tool.then(forgetTool, forgetTool);
    if (this.#openDialogs.has(tabId)) this.#suspendedTools.set(tabId, suspendedTool);
  }

  /** The method `findSuspendedTool` returns a tool only to the MCP session that started the tool. */
  findSuspendedTool(tabId: number, session: string): SuspendedTool | undefined {
    const suspendedTool = this.#suspendedTools.get(tabId);
    return suspendedTool?.session === session ? suspendedTool : undefined;
  }
}

function makeStopReason(why: string): ToolFailure {
  return makeCallFailure('cancelled', `${why}, so the action was stopped`);
}
