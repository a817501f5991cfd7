import type { InputRequest } from '../../../page/input-request.ts';
import type { Modifier } from '../../../page/operations.ts';
import { type Fields, isRecord } from '../../../record.ts';
import type { DebuggerSession } from './debuggers.ts';

/** TabPoint is a point in the viewport of a tab, in CSS pixels. */
export interface TabPoint {
  readonly x: number;
  readonly y: number;
}

export interface TabInputOptions {
  readonly session: DebuggerSession;
  /** The field `children` contains the debugger session IDs of the cross-site frames in which focus emulation is on. */
  readonly children: readonly string[];
  /**
   * findPoint converts a point of the frame to the tab's viewport, or returns undefined for a rotated or hidden frame.
   * If isShown is true, findPoint scrolls the point into view.
   */
  findPoint(tabPoint: TabPoint, isShown: boolean): Promise<TabPoint | undefined>;
  /** The method `focus` moves the keyboard focus to the frame, and resolves with true on success. */
  focus(): Promise<boolean>;
  /** dialogOpened resolves when the page opens a JavaScript dialog, which blocks further input. */
  readonly dialogOpened: Promise<unknown>;
}

const InputTimeoutMs = 10_000;

const modifierBits: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };
const modifierKeys: Readonly<Record<string, readonly [code: string, keyCode: number]>> = {
  Alt: ['AltLeft', 18],
  Control: ['ControlLeft', 17],
  Meta: ['MetaLeft', 91],
  Shift: ['ShiftLeft', 16],
};

type MouseRequest = Extract<InputRequest, { kind: 'move' | 'press' | 'release' }>;
type KeyRequest = Extract<InputRequest, { kind: 'key' }>;

/** The caller of an operation must call TabInput.releaseAll when the operation ends. */
export class TabInput {
  /** hasUnmappablePoint is true if a point of the frame could not be converted to a point of the tab. */
  hasUnmappablePoint = false;
  /** hasSentInput is true if the page has received any input except pointer moves. */
  hasSentInput = false;
  readonly #options: TabInputOptions;
  readonly #stopListening: () => void;
  #pressedButton: { readonly request: MouseRequest; at: TabPoint } | undefined;
  /** #drag is the data of an HTML drag that Chrome reported instead of starting the drag. */
  #drag: Fields | undefined;
  #isDialogOpen = false;
  /**
   * #pendingKeyReleases contains the events that release the pressed keys, in the order in which the keys were pressed.
   */
  readonly #pendingKeyReleases: Fields[] = [];

  constructor(options: TabInputOptions) {
    this.#options = options;
    this.#stopListening = options.session.onEvent((method, { data: dragData }) => {
      if (method === 'Input.dragIntercepted' && isRecord(dragData)) this.#drag = dragData;
    });
    void options.dialogOpened.then(() => {
      this.#isDialogOpen = true;
    });
  }

  /** If the page shows a dialog, sendRequest does not wait for the page to handle the event. */
  async sendRequest(request: InputRequest): Promise<boolean> {
    switch (request.kind) {
      case 'key':
        await this.#pressKey(request);
        return true;
      case 'text':
        this.hasSentInput = true;
        await this.#send('Input.insertText', { text: request.text });
        return true;
      case 'focus':
        return await this.#options.focus();
      case 'leave':
        for (const child of ['', ...this.#options.children])
          await this.#options.session
            .send('Emulation.setFocusEmulationEnabled', { enabled: false }, undefined, child)
            .catch(() => undefined);
        return true;
      default:
        return await this.#sendMouseRequest(request);
    }
  }

  /**
   * releaseAll releases all pressed keys and mouse buttons, cancels a drag without a drop, and removes the event
   * listener.
   */
  async releaseAll(): Promise<void> {
    if (this.#pressedButton) {
      const { request, at: pressPoint } = this.#pressedButton;
      if (this.#drag) await this.#dispatchDrag('dragCancel', pressPoint, request.modifiers).catch(() => undefined);
      await this.#dispatchMouse('mouseReleased', pressPoint, request, 0).catch(() => undefined);
    }
    await this.#releaseKeys();
    this.#stopListening();
  }

  async #sendMouseRequest(request: MouseRequest): Promise<boolean> {
    const tabPoint = await this.#options.findPoint(
      request,
      this.#pressedButton === undefined && request.kind !== 'release',
    );
    if (!tabPoint) {
      this.hasUnmappablePoint = true;
      return false;
    }
    if (request.kind === 'press') {
      this.hasSentInput = true;
      this.#pressedButton = { request, at: tabPoint };
      await this.#dispatchMouse('mousePressed', tabPoint, request, request.count);
    } else if (request.kind === 'release') {
      await this.#releaseButton(request, tabPoint);
    } else {
      if (this.#pressedButton) this.#pressedButton.at = tabPoint;
      if (this.#drag) await this.#dragOver(request, tabPoint);
      else await this.#dispatchMouse('mouseMoved', tabPoint, request, 0);
    }
    return true;
  }

  async #releaseButton(request: MouseRequest, tabPoint: TabPoint): Promise<void> {
    if (this.#drag) {
      await this.#dragOver(request, tabPoint);
      await this.#dispatchDrag('drop', tabPoint, request.modifiers);
    }
    this.#pressedButton = undefined;
    this.#drag = undefined;
    await this.#dispatchMouse('mouseReleased', tabPoint, request, request.count);
  }

  /**
   * Chrome determines the frame under the pointer only on dragEnter, so #dragOver always sends dragEnter before
   * dragOver. Although #dragOver repeats the command dragEnter, the page receives no further dragenter event.
   */
  async #dragOver({ modifiers }: MouseRequest, tabPoint: TabPoint): Promise<void> {
    await this.#dispatchDrag('dragEnter', tabPoint, modifiers);
    await this.#dispatchDrag('dragOver', tabPoint, modifiers);
  }

  async #dispatchDrag(type: string, tabPoint: TabPoint, modifiers: readonly Modifier[]): Promise<void> {
    const params = { type, ...tabPoint, data: this.#drag ?? {}, modifiers: toModifierBits(modifiers) };
    await this.#send('Input.dispatchDragEvent', params);
  }

  async #dispatchMouse(type: string, { x, y }: TabPoint, request: MouseRequest, clickCount: number): Promise<void> {
    const isButtonDown = type === 'mousePressed' || (type === 'mouseMoved' && this.#pressedButton !== undefined);
    const button = type === 'mouseMoved' && !isButtonDown ? 'none' : request.button;
    const buttonBits = isButtonDown ? { left: 1, right: 2, middle: 4 }[request.button] : 0;
    await this.#send('Input.dispatchMouseEvent', {
      type,
      x,
      y,
      button,
      buttons: buttonBits,
      clickCount,
      modifiers: toModifierBits(request.modifiers),
      pointerType: 'mouse',
    });
  }

  async #pressKey({ key, code, keyCode, text, modifiers, commands }: KeyRequest): Promise<void> {
    this.hasSentInput = true;
    const pressedModifiers: Modifier[] = [];
    try {
      for (const modifier of modifiers) {
        pressedModifiers.push(modifier);
        await this.#pressModifier(modifier, pressedModifiers);
      }
      const event = { key, code, windowsVirtualKeyCode: keyCode, modifiers: toModifierBits(modifiers) };
      const textParams = text === '' ? {} : { text, unmodifiedText: text };
      this.#pendingKeyReleases.push({ ...event, type: 'keyUp' });
      const type = text === '' ? 'rawKeyDown' : 'keyDown';
      await this.#send('Input.dispatchKeyEvent', { ...event, ...textParams, type, commands: [...commands] });
    } finally {
      await this.#releaseKeys();
    }
  }

  async #pressModifier(modifier: Modifier, pressedModifiers: readonly Modifier[]): Promise<void> {
    const [code, windowsVirtualKeyCode] = modifierKeys[modifier] ?? ['', 0];
    const event = { key: modifier, code, windowsVirtualKeyCode, location: 1 };
    this.#pendingKeyReleases.push({
      ...event,
      type: 'keyUp',
      modifiers: toModifierBits(pressedModifiers.slice(0, -1)),
    });
    await this.#send('Input.dispatchKeyEvent', {
      ...event,
      type: 'rawKeyDown',
      modifiers: toModifierBits(pressedModifiers),
    });
  }

  async #releaseKeys(): Promise<void> {
    for (const event of this.#pendingKeyReleases.splice(0).reverse())
      await this.#send('Input.dispatchKeyEvent', event).catch(() => undefined);
  }

  async #send(method: string, params: Fields): Promise<void> {
    const commandPromise = this.#options.session.send(method, params, InputTimeoutMs);
    commandPromise.catch(() => undefined);
    if (!this.#isDialogOpen) await Promise.race([commandPromise, this.#options.dialogOpened]);
  }
}

function toModifierBits(modifiers: readonly Modifier[]): number {
  return modifiers.reduce((bitMask, modifier) => bitMask | (modifierBits[modifier] ?? 0), 0);
}
