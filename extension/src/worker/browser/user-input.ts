import type { TabHold } from '../../../../wire/wire.gen.ts';
import type * as chromeDebugger from '../../chrome-debugger.ts';
import type * as pages from '../../chrome-pages.ts';
import type { InputKind } from '../../chrome-pages.ts';
import type { PanelHold } from '../../panel-message.ts';
import type { Fields } from '../../record.ts';
import { Signal } from '../signal.ts';
import type { BrowserCall } from './browser-tool.ts';
import { callFailure } from './tool-failure.ts';

export interface UserInputOptions extends Pick<typeof pages, 'watchInput'> {
  readonly sendToDebugger: typeof chromeDebugger.sendToDebugger;
  /** report reports that the user has clicked or typed in a tab. */
  report(tabId: number): void;
}

/** WatchExtraMs is how long a page reports input after the end of a hold, so that not each act must renew the watch. */
const WatchExtraMs = 60_000;
/** RenewMs is the interval at which the watch of a tab is renewed while an act runs there. */
const RenewMs = 30_000;
/** HoldMs is how long a client holds a tab after the end of an act. */
const HoldMs = 60_000;
/** ArrivalMs is how long the report of an event may take after the debugger's command that caused the event. */
const ArrivalMs = 2000;

const modifierKeys = ['Alt', 'AltGraph', 'CapsLock', 'Control', 'Fn', 'Meta', 'NumLock', 'ScrollLock', 'Shift'];

/** ExpectedInput is input of the debugger whose report has not arrived. */
interface ExpectedInput {
  readonly tabId: number;
  readonly kind: InputKind;
}

/** RunningAct is an act that runs in a tab. stop ends the act. */
interface RunningAct {
  readonly tabId: number;
  stop(): void;
}

/**
 * UserInput watches the tabs that clients hold, and reports when the user clicks or types there. UserInput does not
 * report input that the extension itself has sent with the debugger.
 */
export class UserInput {
  /** changed reports a new list of held tabs. */
  readonly changed = new Signal();
  readonly #options: UserInputOptions;
  readonly #expected = new Set<ExpectedInput>();
  /** #watchEnds maps each watched tab to the time when its documents stop to report. */
  readonly #watchEnds = new Map<number, number>();
  readonly #acts = new Set<RunningAct>();
  #holds: readonly PanelHold[] = [];

  constructor(options: UserInputOptions) {
    this.#options = options;
  }

  /** holds are the tabs in which clients act, or have acted in the last minute. */
  get holds(): readonly PanelHold[] {
    const nowMs = Date.now();
    return this.#holds
      .map((hold) => (this.#hasAct(hold.tabId) ? { ...hold, endMs: nowMs + HoldMs } : hold))
      .filter(({ endMs }) => endMs > nowMs);
  }

  #hasAct(tabId: number): boolean {
    return [...this.#acts].some((act) => act.tabId === tabId);
  }

  /** setHolds replaces the list of held tabs, and watches their documents. */
  setHolds(holds: readonly TabHold[]): void {
    const nowMs = Date.now();
    this.#holds = holds.map(({ leftMs, ...hold }) => ({ ...hold, endMs: nowMs + leftMs }));
    for (const [tabId, endMs] of this.#watchEnds) if (endMs <= nowMs) this.#watchEnds.delete(tabId);
    for (const { tabId, endMs } of this.#holds) {
      if ((this.#watchEnds.get(tabId) ?? 0) >= endMs) continue;
      this.#watchEnds.set(tabId, endMs + WatchExtraMs);
      this.#watch(tabId, undefined);
    }
    this.changed.emit();
  }

  /** recordDocument watches a new document of a held tab. */
  recordDocument(tabId: number, documentId: string): void {
    if (this.holds.some((hold) => hold.tabId === tabId)) this.#watch(tabId, [documentId]);
  }

  /** stopOnInput runs an act, and ends it with tab_taken when the user clicks or types in the tab of the call. */
  async stopOnInput<R>(call: BrowserCall, run: (call: BrowserCall) => Promise<R>): Promise<R> {
    const { tabId, signal } = call;
    const controller = new AbortController();
    const act: RunningAct = { tabId, stop: () => controller.abort(tabTaken(tabId)) };
    this.#acts.add(act);
    const renewal = setInterval(() => this.#renew(tabId), RenewMs);
    try {
      return await run({ ...call, signal: AbortSignal.any([signal, controller.signal]) });
    } finally {
      clearInterval(renewal);
      this.#acts.delete(act);
    }
  }

  /** #renew continues the watch of a tab whose act takes longer than the watch. */
  #renew(tabId: number): void {
    const endMs = Date.now() + HoldMs;
    if ((this.#watchEnds.get(tabId) ?? 0) >= endMs || this.holds.every((hold) => hold.tabId !== tabId)) return;
    this.#watchEnds.set(tabId, endMs + WatchExtraMs);
    this.#watch(tabId, undefined);
  }

  #watch(tabId: number, documentIds: string[] | undefined): void {
    const limitMs = (this.#watchEnds.get(tabId) ?? 0) - Date.now();
    // Chrome runs no script in some pages, such as its error pages.
    this.#options.watchInput(tabId, documentIds, limitMs).catch(() => undefined);
  }

  /** receive handles the report of a click or a key in a watched document. */
  receive(tabId: number, kind: InputKind): void {
    for (const input of this.#expected) {
      if (input.tabId !== tabId || input.kind !== kind) continue;
      this.#expected.delete(input);
      return;
    }
    this.#options.report(tabId);
    for (const act of this.#acts) if (act.tabId === tabId) act.stop();
  }

  /** sendToDebugger sends a command to the debugger. The input that the command causes is not the user's. */
  readonly sendToDebugger: typeof chromeDebugger.sendToDebugger = async (tabId, method, params = {}, childId = '') => {
    const kind = inputOf(method, params);
    if (kind === undefined) return await this.#options.sendToDebugger(tabId, method, params, childId);
    const input: ExpectedInput = { tabId, kind };
    this.#expected.add(input);
    try {
      return await this.#options.sendToDebugger(tabId, method, params, childId);
    } finally {
      setTimeout(() => this.#expected.delete(input), ArrivalMs);
    }
  };
}

/** tabTaken returns the failure of an act during which the user clicked or typed in the tab. */
function tabTaken(tabId: number): Error {
  return callFailure('tab_taken', `the user took tab ${tabId} back by a click or a key while the tool ran.`);
}

/** inputOf returns the input that a page reports for a command of the debugger; undefined if it reports none. */
function inputOf(method: string, params: Fields): InputKind | undefined {
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
