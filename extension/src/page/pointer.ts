// Dispatches untrusted mouse and pointer events, in the order in which a user's mouse causes them.
import { findElementAtPoint, getFlatParent, getFocusedElement } from './flat-tree.ts';
import type { Modifier, MouseButton } from './operations.ts';
import { isFocusable } from './roles.ts';
import { unclobberedDocument } from './unclobbered.ts';

export interface PressedModifiers {
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

export const isMac = /Mac/.test(navigator.platform);

export function toPressedKeys(modifiers: readonly Modifier[] = []): PressedModifiers {
  const hasModifier = (name: Modifier) => modifiers.includes(name);
  return {
    altKey: hasModifier('Alt'),
    ctrlKey: hasModifier('Control') || (hasModifier('ControlOrMeta') && !isMac),
    metaKey: hasModifier('Meta') || (hasModifier('ControlOrMeta') && isMac),
    shiftKey: hasModifier('Shift'),
  };
}

const ButtonNumbers = { left: 0, middle: 1, right: 2 } as const;
const ButtonMasks = { left: 1, middle: 4, right: 2 } as const;

/** hoveredElement is the element under the pointer after the last move. */
let hoveredElement: WeakRef<Element> | undefined;

export class Mouse {
  readonly #pressedModifiers: PressedModifiers;
  readonly #button: MouseButton;
  #x = 0;
  #y = 0;
  #isButtonDown = false;
  #pressedElement: Element | undefined;
  #sendsMouseEvents = true;

  constructor(button: MouseButton = 'left', modifiers: readonly Modifier[] = []) {
    this.#button = button;
    this.#pressedModifiers = toPressedKeys(modifiers);
  }

  setPosition(x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
  }

  get isButtonDown(): boolean {
    return this.#isButtonDown;
  }

  move(x: number, y: number, hitElement = findElementAtPoint(x, y)): Element | undefined {
    [this.#x, this.#y] = [x, y];
    if (!hitElement) return undefined;
    const previous = hoveredElement?.deref();
    if (previous !== hitElement) this.#dispatchCrossingEvents(previous?.isConnected ? previous : undefined, hitElement);
    hoveredElement = new WeakRef(hitElement);
    this.#send(hitElement, 'pointermove', { bubbles: true });
    if (this.#sendsMouseEvents) this.#send(hitElement, 'mousemove', { bubbles: true });
    return hitElement;
  }

  #dispatchCrossingEvents(previousElement: Element | undefined, to: Element): void {
    const outerElements = previousElement ? new Set(listAncestorsAndSelf(previousElement)) : new Set<Element>();
    const innerElements = new Set(listAncestorsAndSelf(to));
    if (previousElement) {
      for (const type of ['pointerout', 'mouseout'])
        this.#send(previousElement, type, { bubbles: true, relatedTarget: to });
      for (const at of listAncestorsAndSelf(previousElement)) {
        if (innerElements.has(at)) break;
        for (const type of ['pointerleave', 'mouseleave'])
          this.#send(at, type, { relatedTarget: to, cancelable: false });
      }
    }
    for (const type of ['pointerover', 'mouseover'])
      this.#send(to, type, { bubbles: true, relatedTarget: previousElement ?? null });
    for (const at of listAncestorsAndSelf(to).reverse()) {
      if (outerElements.has(at)) continue;
      for (const type of ['pointerenter', 'mouseenter'])
        this.#send(at, type, { relatedTarget: previousElement ?? null, cancelable: false });
    }
  }

  press(hitElement: Element, count = 1): void {
    this.#isButtonDown = true;
    this.#pressedElement = hitElement;
    this.#sendsMouseEvents = this.#send(hitElement, 'pointerdown', { bubbles: true, pressure: 0.5 });
    if (!this.#sendsMouseEvents) return;
    if (this.#send(hitElement, 'mousedown', { bubbles: true, detail: count })) moveFocus(hitElement);
    else dispatchMissingFocusEvents();
  }

  release(count = 1, hitElement = findElementAtPoint(this.#x, this.#y)): Element | undefined {
    const target = hitElement ?? this.#pressedElement;
    this.#isButtonDown = false;
    if (!target) return undefined;
    this.#send(target, 'pointerup', { bubbles: true });
    if (this.#sendsMouseEvents) this.#send(target, 'mouseup', { bubbles: true, detail: count });
    this.#sendsMouseEvents = true;
    return this.#pressedElement ? findCommonAncestor(this.#pressedElement, target) : target;
  }

  click(target: Element, count = 1): boolean {
    const type = { left: 'click', middle: 'auxclick', right: 'contextmenu' }[this.#button];
    const isDefault = this.#send(target, type, { bubbles: true, detail: this.#button === 'right' ? 0 : count });
    if (count === 2 && this.#button === 'left') this.#send(target, 'dblclick', { bubbles: true, detail: 2 });
    dispatchMissingFocusEvents();
    return isDefault;
  }

  #send(target: Element, type: string, eventInit: PointerEventInit): boolean {
    const isMoveEvent = /move|over|out|enter|leave/.test(type);
    const baseEventInit: PointerEventInit = {
      cancelable: true,
      composed: true,
      view: window,
      clientX: this.#x,
      clientY: this.#y,
      screenX: screenX + this.#x,
      screenY: screenY + this.#y,
      button: isMoveEvent && !type.startsWith('mouse') ? -1 : isMoveEvent ? 0 : ButtonNumbers[this.#button],
      buttons: this.#isButtonDown ? ButtonMasks[this.#button] : 0,
      ...this.#pressedModifiers,
      ...eventInit,
    };
    const isPointerEvent =
      type.startsWith('pointer') || type === 'click' || type === 'auxclick' || type === 'contextmenu';
    if (!isPointerEvent) return target.dispatchEvent(new MouseEvent(type, baseEventInit));
    return target.dispatchEvent(
      new PointerEvent(type, { pointerId: 1, pointerType: 'mouse', isPrimary: true, ...baseEventInit }),
    );
  }
}

function listAncestorsAndSelf(element: Element): Element[] {
  const ancestorChain: Element[] = [];
  for (let at: Element | null = element; at; at = getFlatParent(at)) ancestorChain.push(at);
  return ancestorChain;
}

function findCommonAncestor(a: Element, b: Element): Element | undefined {
  const ancestors = new Set(listAncestorsAndSelf(a));
  return listAncestorsAndSelf(b).find((at) => ancestors.has(at));
}

/** moveFocus focuses `hitElement`, or else its nearest focusable ancestor. */
export function moveFocus(hitElement: Element): void {
  const target = listAncestorsAndSelf(hitElement).find((at) => isFocusable(at) && !at.matches(':disabled'));
  if (target) focusElement(target);
  else if (
    unclobberedDocument.activeElement instanceof HTMLElement &&
    unclobberedDocument.activeElement !== unclobberedDocument.body
  )
    blurElement(unclobberedDocument.activeElement);
}

export function focusElement(element: Element): void {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return;
  if (unclobberedDocument.activeElement !== element) element.focus({ preventScroll: true });
  dispatchMissingFocusEvents();
}

function blurElement(element: HTMLElement): void {
  element.blur();
  dispatchMissingFocusEvents();
}

let lastAnnouncedFocus: WeakRef<Element> | undefined;
/**
 * MaxFocusMoves limits how often dispatchMissingFocusEvents follows a page that moves the focus in its focus handlers.
 */
const MaxFocusMoves = 5;

/**
 * dispatchMissingFocusEvents dispatches the focus and blur events that a browser omits in a document without the focus.
 */
export function dispatchMissingFocusEvents(): void {
  if (unclobberedDocument.hasFocus()) {
    lastAnnouncedFocus = undefined;
    return;
  }
  for (let moveCount = 0; moveCount < MaxFocusMoves; moveCount++) {
    const previous = lastAnnouncedFocus?.deref();
    const focusedElement = getFocusedElement();
    if ((previous ?? null) === focusedElement) return;
    lastAnnouncedFocus = focusedElement ? new WeakRef(focusedElement) : undefined;
    if (previous?.isConnected) sendFocus(previous, ['blur', 'focusout'], focusedElement);
    if (focusedElement && getFocusedElement() === focusedElement)
      sendFocus(focusedElement, ['focus', 'focusin'], previous ?? null);
  }
}

function sendFocus(element: Element, types: readonly string[], relatedElement: Element | null): void {
  for (const type of types) {
    const bubbles = type.length > 5; // only focusin and focusout bubble, but not focus and blur
    element.dispatchEvent(
      new FocusEvent(type, { bubbles, composed: true, relatedTarget: relatedElement, view: window }),
    );
  }
}
