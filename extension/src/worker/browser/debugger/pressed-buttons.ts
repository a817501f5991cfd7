import type { Fields } from '../../../record.ts';
import type { Command } from './features.ts';

export interface PressedButtonsOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

/** StorageKey is the key of the pressed buttons in the storage of the session. */
const StorageKey = 'pressedButtons';
/** outside is a point outside of the page, where a release drops nothing. */
const outside = { x: -1, y: -1 };

/**
 * PressedButtons stores which buttons the debugger holds down. A button stays down when the debugger leaves its tab, and when
 * Chrome stops the worker. It is released when the debugger is used in the tab again, or by the next worker.
 */
export class PressedButtons {
  readonly #options: PressedButtonsOptions;
  /** #buttons maps each tab to the button that is down. */
  readonly #buttons = new Map<number, string>();

  constructor(options: PressedButtonsOptions) {
    this.#options = options;
  }

  /** record stores what a command presses or releases in a tab. */
  record(tabId: number, method: string, { type, button }: Fields): void {
    if (method !== 'Input.dispatchMouseEvent') return;
    if (type === 'mousePressed') this.#set(tabId, String(button));
    if (type === 'mouseReleased') this.#set(tabId, undefined);
  }

  #set(tabId: number, button: string | undefined): void {
    if (button !== undefined) this.#buttons.set(tabId, button);
    else if (!this.#buttons.delete(tabId)) return;
    // Input does not wait for the storage.
    this.#options.writeSessionValue(StorageKey, JSON.stringify([...this.#buttons])).catch(() => undefined);
  }

  /** start reads the buttons that an earlier worker held down. */
  async start(): Promise<void> {
    const text = await this.#options.readSessionValue(StorageKey).catch(() => undefined);
    const entries: unknown = text === undefined ? [] : JSON.parse(text);
    for (const entry of Array.isArray(entries) ? entries : []) {
      const [tabId, button]: unknown[] = Array.isArray(entry) ? entry : [];
      if (typeof tabId === 'number' && typeof button === 'string') this.#buttons.set(tabId, button);
    }
  }

  /** takeReleases returns the commands that release what is pressed in a tab, and forgets it. */
  takeReleases(tabId: number): readonly Command[] {
    const button = this.#buttons.get(tabId);
    if (button === undefined) return [];
    this.#set(tabId, undefined);
    return [dragCancel, ['Input.dispatchMouseEvent', { type: 'mouseReleased', ...outside, button, clickCount: 0 }]];
  }
}

/** dragCancel ends a drag of HTML5 without a drop. Without a drag, dragCancel does nothing. */
const dragCancel: Command = [
  'Input.dispatchDragEvent',
  { type: 'dragCancel', ...outside, data: { items: [], dragOperationsMask: 0 } },
];
