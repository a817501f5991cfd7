// The events of a mouse, as the page gets them from a user, except that they are not trusted.
import { elementAt, flatParent, focusedElement } from './flat-tree.ts';
import type { Modifier, MouseButton } from './operations.ts';
import { isFocusable } from './roles.ts';
import { unclobbered } from './unclobbered.ts';

/** Pressed are the modifier keys of an event. */
export interface Pressed {
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

export const isMac = /Mac/.test(navigator.platform);

/** pressedKeys returns the modifier keys of an act. */
export function pressedKeys(modifiers: readonly Modifier[] = []): Pressed {
  const has = (name: Modifier) => modifiers.includes(name);
  return {
    altKey: has('Alt'),
    ctrlKey: has('Control') || (has('ControlOrMeta') && !isMac),
    metaKey: has('Meta') || (has('ControlOrMeta') && isMac),
    shiftKey: has('Shift'),
  };
}

const ButtonNumbers = { left: 0, middle: 1, right: 2 } as const;
const ButtonMasks = { left: 1, middle: 4, right: 2 } as const;

/** hovered is the element that the last move reached. */
let hovered: WeakRef<Element> | undefined;

/** Mouse makes the events of one act. */
export class Mouse {
  readonly #pressed: Pressed;
  readonly #button: MouseButton;
  #x = 0;
  #y = 0;
  #isDown = false;
  #downOn: Element | undefined;
  #sendsMouse = true;

  constructor(button: MouseButton = 'left', modifiers: readonly Modifier[] = []) {
    this.#button = button;
    this.#pressed = pressedKeys(modifiers);
  }

  /** place sets the pointer position without sending events. */
  place(x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** move moves the pointer to a point, and returns the element there. */
  move(x: number, y: number, hit = elementAt(x, y)): Element | undefined {
    [this.#x, this.#y] = [x, y];
    if (!hit) return undefined;
    const previous = hovered?.deref();
    if (previous !== hit) this.#cross(previous?.isConnected ? previous : undefined, hit);
    hovered = new WeakRef(hit);
    this.#send(hit, 'pointermove', { bubbles: true });
    if (this.#sendsMouse) this.#send(hit, 'mousemove', { bubbles: true });
    return hit;
  }

  /** #cross sends the events of leaving one element and entering another. */
  #cross(from: Element | undefined, to: Element): void {
    const outer = from ? new Set(chainOf(from)) : new Set<Element>();
    const inner = new Set(chainOf(to));
    if (from) {
      for (const type of ['pointerout', 'mouseout']) this.#send(from, type, { bubbles: true, relatedTarget: to });
      for (const at of chainOf(from)) {
        if (inner.has(at)) break;
        for (const type of ['pointerleave', 'mouseleave'])
          this.#send(at, type, { relatedTarget: to, cancelable: false });
      }
    }
    for (const type of ['pointerover', 'mouseover'])
      this.#send(to, type, { bubbles: true, relatedTarget: from ?? null });
    for (const at of chainOf(to).reverse()) {
      if (outer.has(at)) continue;
      for (const type of ['pointerenter', 'mouseenter'])
        this.#send(at, type, { relatedTarget: from ?? null, cancelable: false });
    }
  }

  /** press presses the button on an element, and moves the focus as a browser does. */
  press(hit: Element, count = 1): void {
    this.#isDown = true;
    this.#downOn = hit;
    this.#sendsMouse = this.#send(hit, 'pointerdown', { bubbles: true, pressure: 0.5 });
    if (!this.#sendsMouse) return;
    if (this.#send(hit, 'mousedown', { bubbles: true, detail: count })) moveFocus(hit);
    else announceFocus(); // the page may have moved the focus
  }

  /** release releases the button, and returns the element that gets the click. */
  release(count = 1, hit = elementAt(this.#x, this.#y)): Element | undefined {
    const target = hit ?? this.#downOn;
    this.#isDown = false;
    if (!target) return undefined;
    this.#send(target, 'pointerup', { bubbles: true });
    if (this.#sendsMouse) this.#send(target, 'mouseup', { bubbles: true, detail: count });
    this.#sendsMouse = true;
    return this.#downOn ? commonAncestor(this.#downOn, target) : target;
  }

  /**
   * click sends the event that follows a press and a release, and returns false if the page prevented the event's
   * default action.
   */
  click(target: Element, count = 1): boolean {
    const type = { left: 'click', middle: 'auxclick', right: 'contextmenu' }[this.#button];
    const isDefault = this.#send(target, type, { bubbles: true, detail: this.#button === 'right' ? 0 : count });
    if (count === 2 && this.#button === 'left') this.#send(target, 'dblclick', { bubbles: true, detail: 2 });
    announceFocus();
    return isDefault;
  }

  /** #send dispatches an event, and reports whether the page did not prevent its default action. */
  #send(target: Element, type: string, init: PointerEventInit): boolean {
    const isMove = /move|over|out|enter|leave/.test(type);
    const common: PointerEventInit = {
      cancelable: true,
      composed: true,
      view: window,
      clientX: this.#x,
      clientY: this.#y,
      screenX: screenX + this.#x,
      screenY: screenY + this.#y,
      button: isMove && !type.startsWith('mouse') ? -1 : isMove ? 0 : ButtonNumbers[this.#button],
      buttons: this.#isDown ? ButtonMasks[this.#button] : 0,
      ...this.#pressed,
      ...init,
    };
    const isPointer = type.startsWith('pointer') || type === 'click' || type === 'auxclick' || type === 'contextmenu';
    if (!isPointer) return target.dispatchEvent(new MouseEvent(type, common));
    return target.dispatchEvent(
      new PointerEvent(type, { pointerId: 1, pointerType: 'mouse', isPrimary: true, ...common }),
    );
  }
}

/** chainOf returns an element and those around it, from the inside. */
function chainOf(element: Element): Element[] {
  const chain: Element[] = [];
  for (let at: Element | null = element; at; at = flatParent(at)) chain.push(at);
  return chain;
}

function commonAncestor(a: Element, b: Element): Element | undefined {
  const around = new Set(chainOf(a));
  return chainOf(b).find((at) => around.has(at));
}

/** moveFocus focuses the nearest element around hit that takes the focus; without one, nothing has the focus. */
export function moveFocus(hit: Element): void {
  const target = chainOf(hit).find((at) => isFocusable(at) && !at.matches(':disabled'));
  if (target) giveFocus(target);
  else if (unclobbered.activeElement instanceof HTMLElement && unclobbered.activeElement !== unclobbered.body)
    takeFocus(unclobbered.activeElement);
}

/** giveFocus focuses an element. */
export function giveFocus(element: Element): void {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return;
  if (unclobbered.activeElement !== element) element.focus({ preventScroll: true });
  announceFocus();
}

function takeFocus(element: HTMLElement): void {
  element.blur();
  announceFocus();
}

/** announced is the element to which announceFocus last sent the event focus. */
let announced: WeakRef<Element> | undefined;
/** MaxFocusMoves limits how often announceFocus follows a page that moves the focus during a focus event. */
const MaxFocusMoves = 5;

/**
 * announceFocus sends focus and blur events if the focused element has changed. The browser sends no focus events
 * to a document without the browser's focus, but many pages open the list of a field on a focus event.
 */
export function announceFocus(): void {
  if (unclobbered.hasFocus()) {
    announced = undefined;
    return;
  }
  for (let moves = 0; moves < MaxFocusMoves; moves++) {
    const previous = announced?.deref();
    const focused = focusedElement();
    if ((previous ?? null) === focused) return;
    announced = focused ? new WeakRef(focused) : undefined;
    if (previous?.isConnected) sendFocus(previous, ['blur', 'focusout'], focused);
    if (focused && focusedElement() === focused) sendFocus(focused, ['focus', 'focusin'], previous ?? null);
  }
}

function sendFocus(element: Element, types: readonly string[], other: Element | null): void {
  for (const type of types) {
    const bubbles = type.length > 5; // focusin and focusout
    element.dispatchEvent(new FocusEvent(type, { bubbles, composed: true, relatedTarget: other, view: window }));
  }
}
