// Requests trusted input, which the worker sends through Chrome's debugger. A page cannot distinguish trusted input
// from a user's input.
import { PageFailure } from './failure.ts';
import { containsInFlatTree, findClosestInFlatTree, getFocusedElement } from './flat-tree.ts';
import type { InputRequest } from './input-request.ts';
import { findCharacterKey } from './keyboard.ts';
import { type Key, parseKey } from './keys.ts';
import type { Modifier, MouseButton } from './operations.ts';
import { waitForNextFrame, waitForNextTask } from './pace.ts';
import { isMac, Mouse } from './pointer.ts';
import type { InputPoint } from './ready.ts';
import type { SecretKind } from './secret-kind.ts';
import { requireFieldApproval } from './secrets.ts';
import type { PageContext } from './state.ts';
import { unclobberedDocument } from './unclobbered.ts';

export class TrustedInput {
  readonly #send: (request: InputRequest) => Promise<boolean>;
  readonly #signal: AbortSignal;
  #hasReceivedInput = false;
  #trustedPress: TrustedPress | undefined;
  #hasFocus = true;
  #hasUserPressed = false;
  /**
   * #navigationEndMs is the time before which no input is sent, because a started navigation could replace the
   * document.
   */
  #navigationEndMs = 0;
  /**
   * #hasInputFailed is true if the worker could not send the input, for example because the user stopped the debugger.
   */
  #hasInputFailed = false;

  constructor(send: (request: InputRequest) => Promise<boolean>, signal: AbortSignal) {
    this.#send = send;
    this.#signal = signal;
    addEventListener('pointerdown', this.#onPointerDown, true);
    navigation.addEventListener('navigate', this.#onNavigate);
  }

  /** If the user presses a mouse button during an operation, the operation types no further text. */
  get hasUserPressed(): boolean {
    return this.#hasUserPressed;
  }

  /** A key press during a navigation could reach the next document, whose site the user may not have allowed. */
  async waitForNavigation(): Promise<void> {
    while (performance.now() < this.#navigationEndMs && !this.#signal.aborted) await waitForNextFrame(this.#signal);
  }

  readonly #onNavigate = ({ destination, downloadRequest }: NavigateEvent) => {
    if (!destination.sameDocument && downloadRequest === null)
      this.#navigationEndMs = performance.now() + NavigationGraceMs;
  };

  readonly #onPointerDown = (event: PointerEvent) => {
    if (event.isTrusted && !this.#trustedPress) this.#hasUserPressed = true;
  };

  get hasReceivedInput(): boolean {
    return this.#hasReceivedInput;
  }

  async requestInput(request: InputRequest): Promise<void> {
    if (request.kind === 'press') this.#trustedPress = new TrustedPress(request.button);
    if (request.kind === 'move' || request.kind === 'press') this.#trustedPress?.moveTo(request.x, request.y);
    if (!(await this.#send(request))) {
      this.#signal.throwIfAborted(); // if the operation was cancelled, the error is the cancellation
      this.#hasInputFailed = true;
      throw new PageFailure('not_hittable', 'The debugger cannot reach the position of the element in the tab.');
    }
    this.#hasReceivedInput ||= request.kind !== 'focus';
    if (request.kind === 'release') this.#trustedPress = this.#trustedPress?.close();
  }

  /**
   * endFocusEmulation sends no blur event, because in a background tab a blur event would close the menus of the page.
   * When the focus emulation ends, a field whose value changed receives the event "change". If an operation ends while
   * the mouse button is pressed, the worker releases the button, but the page receives no click.
   */
  async endFocusEmulation(): Promise<void> {
    if (!this.#hasFocus) return;
    this.#hasFocus = false;
    removeEventListener('pointerdown', this.#onPointerDown, true);
    navigation.removeEventListener('navigate', this.#onNavigate);
    if (this.#trustedPress) suppressEvent('click');
    if (this.#hasInputFailed) this.#trustedPress?.end();
    this.#trustedPress?.close();
    const stopTrustedEvent = (event: Event) => {
      if (event.isTrusted) event.stopImmediatePropagation();
    };
    for (const type of blurEvents) addEventListener(type, stopTrustedEvent, true);
    try {
      await this.#send({ kind: 'leave' });
      const end = performance.now() + FocusEndTimeoutMs;
      while (unclobberedDocument.hasFocus() && !unclobberedDocument.hidden && performance.now() < end)
        await waitForNextTask();
    } finally {
      for (const type of blurEvents) removeEventListener(type, stopTrustedEvent, true);
    }
  }
}

class TrustedPress {
  readonly #mouse: Mouse;
  readonly #controller = new AbortController();
  /** #draggedElement is the element that is dragged in an HTML drag. */
  #draggedElement: Element | undefined;

  constructor(button: MouseButton) {
    this.#mouse = new Mouse(button);
    const recordDraggedElement = ({ type, target }: DragEvent) => {
      this.#draggedElement = type === 'dragstart' && target instanceof Element ? target : undefined;
    };
    const options = { capture: true, signal: this.#controller.signal };
    for (const type of ['dragstart', 'dragend'] as const) addEventListener(type, recordDraggedElement, options);
  }

  moveTo(x: number, y: number): void {
    this.#mouse.setPosition(x, y);
  }

  end(): void {
    this.#draggedElement?.dispatchEvent(new DragEvent('dragend', { bubbles: true, composed: true }));
    this.#mouse.release();
  }

  close(): undefined {
    this.#controller.abort();
  }
}

const blurEvents = ['blur', 'focusout'] as const;
/** FocusEndTimeoutMs limits how long the document may take to lose the emulated focus, in milliseconds. */
const FocusEndTimeoutMs = 30;

/** NavigationGraceMs limits how long a started navigation may take to replace the document, in milliseconds. */
const NavigationGraceMs = 3000;

/** PointerArrivalTimeoutMs limits how long the pointer may take to reach a frame, in milliseconds. */
const PointerArrivalTimeoutMs = 1000;

export class TrustedMouse {
  readonly #context: PageContext;
  readonly #input: TrustedInput;
  readonly #button: MouseButton;
  readonly #modifiers: readonly Modifier[];

  constructor(
    input: TrustedInput,
    context: PageContext,
    button: MouseButton = 'left',
    modifiers: readonly Modifier[] = [],
  ) {
    this.#input = input;
    this.#context = context;
    this.#button = button;
    this.#modifiers = modifiers;
  }

  /**
   * If the point is on a frame element, the method `move` throws, because the user may not have allowed the site of the
   * frame.
   */
  async move(x: number, y: number, hitElement: Element): Promise<void> {
    if (isFrameElement(hitElement)) throw makeFrameAtPointFailure();
    if (globalThis.window.parent === globalThis.window) return await this.drag(x, y);
    let hasPointerArrived = false;
    const checkPointerArrival = (event: PointerEvent) => {
      if (event.isTrusted && Math.abs(event.clientX - x) < 2 && Math.abs(event.clientY - y) < 2)
        hasPointerArrived = true;
    };
    addEventListener('pointermove', checkPointerArrival, true);
    try {
      // The pointer first moves one pixel further, because a move to its current position causes no event.
      await this.#input.requestInput(this.#makeInputRequest('move', x + 1, y));
      await this.#input.requestInput(this.#makeInputRequest('move', x, y));
      const end = performance.now() + PointerArrivalTimeoutMs;
      while (!hasPointerArrived && performance.now() < end) await waitForNextFrame(this.#context.signal);
    } finally {
      removeEventListener('pointermove', checkPointerArrival, true);
    }
    if (!hasPointerArrived)
      throw new PageFailure('not_hittable', 'The pointer does not reach the element: something covers its frame.');
  }

  /** During an HTML drag, the page receives no pointer events. */
  async drag(x: number, y: number): Promise<void> {
    await this.#input.requestInput(this.#makeInputRequest('move', x, y));
  }

  async press({ x, y }: Pick<InputPoint, 'x' | 'y'>, count = 1): Promise<void> {
    if (this.#button === 'right') suppressEvent('contextmenu');
    await this.#input.requestInput({ ...this.#makeInputRequest('press', x, y), count });
  }

  async release({ x, y }: Pick<InputPoint, 'x' | 'y'>, count = 1): Promise<void> {
    await this.#input.requestInput({ ...this.#makeInputRequest('release', x, y), count });
  }

  #makeInputRequest<K extends 'move' | 'press' | 'release'>(kind: K, x: number, y: number) {
    return { kind, x, y, button: this.#button, count: 0, modifiers: this.#modifiers };
  }
}

export function isFrameElement(element: Element): boolean {
  return /^(iframe|frame|object|embed)$/.test(element.localName);
}

export function makeFrameAtPointFailure(): PageFailure {
  return new PageFailure('not_hittable', 'There is a frame at this point. Use the ref of an element in the frame.');
}

/**
 * A worker that restarts during a click releases the mouse button late, so suppressEvent suppresses a click for up to 5
 * s.
 */
const SuppressionTimeMs = { contextmenu: 1000, click: 5000 } as const;

/** suppressEvent suppresses the browser's next context menu, or hides the next click from the page. */
function suppressEvent(type: 'contextmenu' | 'click'): void {
  const controller = new AbortController();
  const { signal } = controller;
  const stopSuppressing = () => controller.abort();
  const suppressTrustedEvent = (event: Event) => {
    if (!event.isTrusted) return;
    event.preventDefault();
    if (type === 'click') event.stopImmediatePropagation();
  };
  addEventListener(type, suppressTrustedEvent, { signal, capture: type === 'click' });
  if (type === 'click') addEventListener('pointerdown', stopSuppressing, { signal, capture: true });
  setTimeout(stopSuppressing, SuppressionTimeMs[type]);
}

const PopupTypes = /^(date|month|week|time|datetime-local|color)$/;

/**
 * opensPopup reports whether a click on an element opens a browser popup that no tool can operate, such as a date
 * picker.
 */
export function opensPopup(element: Element): boolean {
  const label = findClosestInFlatTree(element, (at) => at instanceof HTMLLabelElement);
  const control = label instanceof HTMLLabelElement && label.control ? label.control : element;
  if (control instanceof HTMLSelectElement) return !control.multiple && control.size <= 1;
  return control instanceof HTMLInputElement && PopupTypes.test(control.type);
}

export function makeTrustedMouse(
  element: Element,
  options: { readonly button?: MouseButton; readonly modifiers?: readonly Modifier[] },
  context: PageContext,
): TrustedMouse | undefined {
  if (!context.trustedInput || opensPopup(element)) return undefined;
  return new TrustedMouse(context.trustedInput, context, options.button, options.modifiers);
}

/** FocusTimeoutMs limits how long a frame may take to receive the focus, in milliseconds. */
const FocusTimeoutMs = 500;

export async function focusOwnFrame(context: PageContext): Promise<void> {
  if (!context.trustedInput || unclobberedDocument.hasFocus()) return;
  await context.trustedInput.requestInput({ kind: 'focus' });
  const end = performance.now() + FocusTimeoutMs;
  while (!unclobberedDocument.hasFocus() && performance.now() < end) await waitForNextFrame(context.signal);
}

export function findTrustedKeyInput(
  receiverElement: Element,
  key: Key | undefined,
  context: PageContext,
): TrustedInput | undefined {
  if (!context.trustedInput) return undefined;
  const focusedElement = getFocusedElement() ?? unclobberedDocument.body;
  const isFocused =
    unclobberedDocument.hasFocus() &&
    (containsInFlatTree(receiverElement, focusedElement) || containsInFlatTree(focusedElement, receiverElement));
  const isPopupKey = key !== undefined && !/^(Tab|Escape)$/.test(key.key) && opensPopup(focusedElement);
  // If a frame element has the focus, trusted keys would reach the child frame. The page script of the parent frame
  // cannot check whether the focused field in a child frame is a secret field.
  return isFocused && !isPopupKey && !isFrameElement(focusedElement) ? context.trustedInput : undefined;
}

/** MacCommands maps keys to editing commands of macOS, which Chrome does not derive from a synthesized key press. */
const MacCommands: Readonly<Record<string, string>> = {
  a: 'selectAll',
  c: 'copy',
  v: 'paste',
  x: 'cut',
  z: 'undo',
  b: 'toggleBold',
  i: 'toggleItalic',
  u: 'toggleUnderline',
  ArrowLeft: 'moveToBeginningOfLine',
  ArrowRight: 'moveToEndOfLine',
  ArrowUp: 'moveToBeginningOfDocument',
  ArrowDown: 'moveToEndOfDocument',
};

function makeKeyRequest({ key, code, keyCode, text, pressed }: Key): InputRequest {
  const modifiers: Modifier[] = [];
  if (pressed.ctrlKey) modifiers.push('Control');
  if (pressed.metaKey) modifiers.push('Meta');
  if (pressed.altKey) modifiers.push('Alt');
  if (pressed.shiftKey) modifiers.push('Shift');
  const command = isMac && pressed.metaKey ? MacCommands[key] : undefined;
  const commands = command === undefined ? [] : [command === 'undo' && pressed.shiftKey ? 'redo' : command];
  return { kind: 'key', key, code, keyCode, text, modifiers, commands };
}

export async function pressTrustedKey(
  input: TrustedInput,
  key: Key,
  approvedKinds: readonly SecretKind[],
  context: PageContext,
): Promise<void> {
  await requestTyping(input, makeKeyRequest(key), approvedKinds);
  context.setProgressText(`pressed ${key.key}`);
  await waitForNextFrame(context.signal);
}

/** typeTrusted types a character by a trusted press of the key that types the character. */
export async function typeTrusted(
  input: TrustedInput,
  character: string,
  approvedKinds: readonly SecretKind[],
): Promise<void> {
  const key = character === '\n' ? undefined : findCharacterKey(character);
  if (character === '\n') return await requestTyping(input, makeKeyRequest(parseKey('Enter')), approvedKinds);
  if (!key) return await requestTyping(input, { kind: 'text', text: character }, approvedKinds);
  const { code, keyCode, needsShift } = key;
  const modifiers: readonly Modifier[] = needsShift ? ['Shift'] : [];
  const request: InputRequest = {
    kind: 'key',
    key: character,
    code,
    keyCode,
    text: character,
    modifiers,
    commands: [],
  };
  await requestTyping(input, request, approvedKinds);
}

/** A secret field that the user has not approved receives no text. */
async function requestTyping(
  input: TrustedInput,
  request: InputRequest,
  approvedKinds: readonly SecretKind[],
): Promise<void> {
  await input.waitForNavigation();
  const focusedElement = getFocusedElement();
  if (focusedElement) requireFieldApproval(focusedElement, approvedKinds);
  // The target is checked before each input event, because the page can move the focus to a secret field.
  let failure: unknown;
  const preventUnapprovedInput = (event: InputEvent) => {
    if (input.hasUserPressed) event.preventDefault();
    const [target] = event.composedPath();
    try {
      if (target instanceof Element) requireFieldApproval(target, approvedKinds);
    } catch (error) {
      failure = error;
      event.preventDefault();
    }
  };
  addEventListener('beforeinput', preventUnapprovedInput, true);
  try {
    await input.requestInput(request);
  } finally {
    removeEventListener('beforeinput', preventUnapprovedInput, true);
  }
  if (failure !== undefined) throw failure;
}
