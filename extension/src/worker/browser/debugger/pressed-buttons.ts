import type { Fields } from '../../../record.ts';
import type { Command } from './features.ts';

export interface PressedButtonsOptions {
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

/** StorageKey is the key under which the session storage of the extension stores the pressed mouse buttons. */
const StorageKey = 'pressedButtons';
/** pointOutsidePage is a point outside of the page, at which the release of a mouse button drops nothing. */
const pointOutsidePage = { x: -1, y: -1 };

/**
 * PressedButtons stores which mouse buttons the debugger holds down. A mouse button stays down when the debugger is
 * detached from its tab, and when Chrome stops the service worker. A button that is still down is released when a
 * tool next uses the debugger in the tab, or when the service worker restarts.
 */
export class PressedButtons {
  readonly #options: PressedButtonsOptions;
  /** #buttons maps the ID of each tab to the mouse button that is down. */
  readonly #buttons = new Map<number, string>();

  constructor(options: PressedButtonsOptions) {
    this.#options = options;
  }

  /** record stores which mouse button a debugger command presses or releases in a tab. */
  record(tabId: number, method: string, { type, button }: Fields): void {
    if (method !== 'Input.dispatchMouseEvent') return;
    if (type === 'mousePressed') this.#set(tabId, String(button));
    if (type === 'mouseReleased') this.#set(tabId, undefined);
  }

  #set(tabId: number, button: string | undefined): void {
    if (button !== undefined) this.#buttons.set(tabId, button);
    else if (!this.#buttons.delete(tabId)) return;
    // Do not wait for the storage, because a wait would delay the input.
    this.#options.writeSessionValue(StorageKey, JSON.stringify([...this.#buttons])).catch(() => undefined);
  }

  /** start reads the mouse buttons that an earlier service worker held down. */
  async start(): Promise<void> {
    const text = await this.#options.readSessionValue(StorageKey).catch(() => undefined);
    const entries: unknown = text === undefined ? [] : JSON.parse(text);
    for (const entry of Array.isArray(entries) ? entries : []) {
      const [tabId, button]: unknown[] = Array.isArray(entry) ? entry : [];
      if (typeof tabId === 'number' && typeof button === 'string') this.#buttons.set(tabId, button);
    }
  }

  /**
   * takeReleases returns the debugger commands that release the mouse button and end the drag in a tab, and forgets
   * the button.
   */
  takeReleases(tabId: number): readonly Command[] {
    const button = this.#buttons.get(tabId);
    if (button === undefined) return [];
    this.#set(tabId, undefined);
    return [
      dragCancelCommand,
      ['Input.dispatchMouseEvent', { type: 'mouseReleased', ...pointOutsidePage, button, clickCount: 0 }],
    ];
  }
}

/**
 * dragCancelCommand is the debugger command that ends an HTML drag without a drop, and does nothing if there is no
 * drag.
 */
const dragCancelCommand: Command = [
  'Input.dispatchDragEvent',
  { type: 'dragCancel', ...pointOutsidePage, data: { items: [], dragOperationsMask: 0 } },
];
