import type { TabHold } from '../../../../wire/wire.gen.ts';
import type * as chromeDebugger from '../../chrome-debugger.ts';
import type * as pages from '../../chrome-pages.ts';
import type { InputKind } from '../../chrome-pages.ts';
import type { PanelTabHold } from '../../panel-message.ts';
import type { Fields } from '../../record.ts';
import { Signal } from '../signal.ts';
import type { BrowserCall } from './browser-tool.ts';
import { makeCallFailure } from './tool-failure.ts';

export interface UserInputOptions extends Pick<typeof pages, 'watchInput'> {
  readonly sendToDebugger: typeof chromeDebugger.sendToDebugger;
  report(tabId: number): void;
}

/** InputWatchExtensionMs extends each watch for user input, so that the watch need not restart before every action. */
const InputWatchExtensionMs = 60_000;
/**
 * InputWatchRenewalIntervalMs is the interval at which a long action renews the watch for user input in its tab, in
 * milliseconds.
 */
const InputWatchRenewalIntervalMs = 30_000;
/** TabUseDurationMs is how long a tab counts as used by a client after the client's last action, in milliseconds. */
const TabUseDurationMs = 60_000;
/**
 * MaxInputReportDelayMs limits how long a page may take to report an input event that the debugger has sent, in
 * milliseconds.
 */
const MaxInputReportDelayMs = 2000;

/** MaxHoldReportDelayMs is the longest time that a frame of the server about tab holds needs, in milliseconds. */
const MaxHoldReportDelayMs = 1000;

const modifierKeys = ['Alt', 'AltGraph', 'CapsLock', 'Control', 'Fn', 'Meta', 'NumLock', 'ScrollLock', 'Shift'];

/** ExpectedInput is an input event that the debugger has sent and that the page has not reported yet. */
interface ExpectedInput {
  readonly tabId: number;
  readonly kind: InputKind;
}

interface RunningAction {
  readonly tabId: number;
  stop(): void;
}

/**
 * UserInput watches the tabs that clients use, and reports when the user clicks or types in one of the tabs. UserInput
 * ignores clicks and keys that the extension itself sent through the debugger.
 */
export class UserInput {
  readonly changed = new Signal();
  /** The signal `released` fires with a tab whose client may no longer act there, because the user stopped the client. */
  readonly released = new Signal<[tabId: number]>();
  readonly #options: UserInputOptions;
  readonly #expectedInputs = new Set<ExpectedInput>();
  /**
   * #watchEndMsByTab contains when a tab's documents stop reporting user input, in milliseconds since 1970, by tab ID.
   */
  readonly #watchEndMsByTab = new Map<number, number>();
  readonly #runningActions = new Set<RunningAction>();
  #storedTabHolds: readonly PanelTabHold[] = [];

  constructor(options: UserInputOptions) {
    this.#options = options;
  }

  get tabHolds(): readonly PanelTabHold[] {
    const nowMs = Date.now();
    return this.#storedTabHolds
      .map((hold) => (this.#hasRunningAction(hold.tabId) ? { ...hold, endMs: nowMs + TabUseDurationMs } : hold))
      .filter(({ endMs }) => endMs > nowMs);
  }

  #hasRunningAction(tabId: number): boolean {
    return [...this.#runningActions].some((runningAction) => runningAction.tabId === tabId);
  }

  /** Without a link to the server, the extension does not know which clients hold tabs. */
  forgetTabHolds(): void {
    this.#storedTabHolds = [];
    this.changed.emit();
  }

  setTabHolds(tabHolds: readonly TabHold[]): void {
    const nowMs = Date.now();
    // A hold that ends by time disappears from the list, too.
    const releasedHolds = this.#storedTabHolds.filter(
      ({ tabId, endMs }) => endMs > nowMs + MaxHoldReportDelayMs && tabHolds.every((hold) => hold.tabId !== tabId),
    );
    this.#storedTabHolds = tabHolds.map(({ leftMs, ...hold }) => ({ ...hold, endMs: nowMs + leftMs }));
    for (const [tabId, endMs] of this.#watchEndMsByTab) if (endMs <= nowMs) this.#watchEndMsByTab.delete(tabId);
    for (const { tabId, endMs } of this.#storedTabHolds) {
      if ((this.#watchEndMsByTab.get(tabId) ?? 0) >= endMs) continue;
      this.#watchEndMsByTab.set(tabId, endMs + InputWatchExtensionMs);
      this.#watchTabInput(tabId, undefined);
    }
    this.changed.emit();
    for (const { tabId } of releasedHolds) this.released.emit(tabId);
  }

  recordDocument(tabId: number, documentId: string): void {
    if (this.tabHolds.some((hold) => hold.tabId === tabId)) this.#watchTabInput(tabId, [documentId]);
  }

  /**
   * If the user clicks or types in the tab during the action, stopOnInput cancels the action with the error tab_taken.
   */
  async stopOnInput<R>(call: BrowserCall, runAction: (call: BrowserCall) => Promise<R>): Promise<R> {
    const { tabId, signal } = call;
    const controller = new AbortController();
    const runningAction: RunningAction = { tabId, stop: () => controller.abort(makeTabTakenFailure(tabId)) };
    this.#runningActions.add(runningAction);
    const renewalTimer = setInterval(() => this.#extendInputWatch(tabId), InputWatchRenewalIntervalMs);
    try {
      return await runAction({ ...call, signal: AbortSignal.any([signal, controller.signal]) });
    } finally {
      clearInterval(renewalTimer);
      this.#runningActions.delete(runningAction);
    }
  }

  #extendInputWatch(tabId: number): void {
    const endMs = Date.now() + TabUseDurationMs;
    if ((this.#watchEndMsByTab.get(tabId) ?? 0) >= endMs || this.tabHolds.every((hold) => hold.tabId !== tabId)) return;
    this.#watchEndMsByTab.set(tabId, endMs + InputWatchExtensionMs);
    this.#watchTabInput(tabId, undefined);
  }

  #watchTabInput(tabId: number, documentIds: string[] | undefined): void {
    const limitMs = (this.#watchEndMsByTab.get(tabId) ?? 0) - Date.now();
    // Ignore errors, because Chrome does not run the extension's scripts in some pages, such as error pages.
    this.#options.watchInput(tabId, documentIds, limitMs).catch(() => undefined);
  }

  /** The method `receive` ignores clicks and keys that the debugger has sent. */
  receive(tabId: number, kind: InputKind): void {
    for (const input of this.#expectedInputs) {
      if (input.tabId !== tabId || input.kind !== kind) continue;
      this.#expectedInputs.delete(input);
      return;
    }
    this.#options.report(tabId);
    for (const runningAction of this.#runningActions) if (runningAction.tabId === tabId) runningAction.stop();
  }

  /**
   * sendToDebugger sends a debugger command, and marks the resulting input as input that does not come from the user.
   */
  readonly sendToDebugger: typeof chromeDebugger.sendToDebugger = async (tabId, method, params = {}, childId = '') => {
    const kind = findExpectedInput(method, params);
    if (kind === undefined) return await this.#options.sendToDebugger(tabId, method, params, childId);
    const input: ExpectedInput = { tabId, kind };
    this.#expectedInputs.add(input);
    try {
      return await this.#options.sendToDebugger(tabId, method, params, childId);
    } finally {
      setTimeout(() => this.#expectedInputs.delete(input), MaxInputReportDelayMs);
    }
  };
}

function makeTabTakenFailure(tabId: number): Error {
  return makeCallFailure('tab_taken', {
    forAgent: `the user took tab ${tabId} back by a click or a key while the tool ran.`,
    forUser: `You used tab ${tabId} while the tool ran, so the tool stopped. The agent has to read the page again before it acts there.`,
  });
}

function findExpectedInput(method: string, params: Fields): InputKind | undefined {
  const { type, key, autoRepeat } = params;
  switch (method) {
    case 'Input.dispatchMouseEvent':
      return type === 'mousePressed' ? 'pointer' : undefined;
    case 'Input.dispatchTouchEvent':
      return type === 'touchStart' ? 'pointer' : undefined;
    case 'Input.dispatchKeyEvent':
      if (type !== 'keyDown' && type !== 'rawKeyDown') return undefined;
      return autoRepeat === true || (typeof key === 'string' && modifierKeys.includes(key)) ? undefined : 'key';
    default:
      return undefined;
  }
}
