import type { Fields } from '../../../record.ts';
import type { DebuggerCommand } from './features.ts';

export interface PressedButtonsOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

const PressedButtonsStorageKey = 'pressedButtons';
/** pointOutsidePage is a point outside the page, where the release of a mouse button has no effect. */
const pointOutsidePage = { x: -1, y: -1 };

/**
 * PressedButtons tracks which mouse buttons tools have pressed through the debugger. A mouse button that a tool pressed
 * stays pressed when the debugger is detached or the service worker stops. PressedButtons releases a pressed button
 * when a tool next uses the debugger in the tab, or when the service worker restarts.
 */
export class PressedButtons {
  readonly #options: PressedButtonsOptions;
  readonly #pressedButtonByTab = new Map<number, string>();

  constructor(options: PressedButtonsOptions) {
    this.#options = options;
  }

  record(tabId: number, method: string, { type, button }: Fields): void {
    if (method !== 'Input.dispatchMouseEvent') return;
    if (type === 'mousePressed') this.#setPressedButton(tabId, String(button));
    if (type === 'mouseReleased') this.#setPressedButton(tabId, undefined);
  }

  #setPressedButton(tabId: number, button: string | undefined): void {
    if (button !== undefined) this.#pressedButtonByTab.set(tabId, button);
    else if (!this.#pressedButtonByTab.delete(tabId)) return;
    // The pressed button is written to the session storage without waiting for the write, because waiting would delay
    // the input.
    this.#options
      .writeSessionValue(PressedButtonsStorageKey, JSON.stringify([...this.#pressedButtonByTab]))
      .catch(() => undefined);
  }

  /** The method `start` reads which mouse buttons were still pressed when the previous service worker stopped. */
  async start(): Promise<void> {
    const storedText = await this.#options.readSessionValue(PressedButtonsStorageKey).catch(() => undefined);
    const storedEntries: unknown = storedText === undefined ? [] : JSON.parse(storedText);
    for (const storedEntry of Array.isArray(storedEntries) ? storedEntries : []) {
      const [tabId, button]: unknown[] = Array.isArray(storedEntry) ? storedEntry : [];
      if (typeof tabId === 'number' && typeof button === 'string') this.#pressedButtonByTab.set(tabId, button);
    }
  }

  takeReleaseCommands(tabId: number): readonly DebuggerCommand[] {
    const button = this.#pressedButtonByTab.get(tabId);
    if (button === undefined) return [];
    this.#setPressedButton(tabId, undefined);
    return [
      dragCancelCommand,
      ['Input.dispatchMouseEvent', { type: 'mouseReleased', ...pointOutsidePage, button, clickCount: 0 }],
    ];
  }
}

/** If no drag is running, the command dragCancel has no effect. */
const dragCancelCommand: DebuggerCommand = [
  'Input.dispatchDragEvent',
  { type: 'dragCancel', ...pointOutsidePage, data: { items: [], dragOperationsMask: 0 } },
];
