// Dispatches key events, and performs the default actions that a browser performs only for trusted keys.
import { pressEnterInField } from './edit.ts';
import { type EditCommand, performEdit } from './editing.ts';
import { PageFailure } from './failure.ts';
import {
  containsInFlatTree,
  findClosestInFlatTree,
  getFocusedElement,
  listFlatChildren,
  selectAll,
} from './flat-tree.ts';
import { findCharacterKey } from './keyboard.ts';
import { moveCaret, scrollByKey } from './move-keys.ts';
import type { Modifier } from './operations.ts';
import { dispatchMissingFocusEvents, focusElement, type PressedModifiers, toPressedKeys } from './pointer.ts';
import { isFocusable } from './roles.ts';
import type { SecretKind } from './secret-kind.ts';
import { requireTypingApproval } from './secrets.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { changeValue } from './value-keys.ts';

export interface Key {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly pressed: PressedModifiers;
  readonly text: string;
}

/** NamedKeys maps the names of special keys to their code, key code and text. */
const NamedKeys: Readonly<Record<string, readonly [code: string, keyCode: number, text?: string]>> = {
  Enter: ['Enter', 13, '\r'],
  Tab: ['Tab', 9],
  Escape: ['Escape', 27],
  Backspace: ['Backspace', 8],
  Delete: ['Delete', 46],
  Insert: ['Insert', 45],
  ArrowUp: ['ArrowUp', 38],
  ArrowDown: ['ArrowDown', 40],
  ArrowLeft: ['ArrowLeft', 37],
  ArrowRight: ['ArrowRight', 39],
  Home: ['Home', 36],
  End: ['End', 35],
  PageUp: ['PageUp', 33],
  PageDown: ['PageDown', 34],
  ' ': ['Space', 32, ' '],
  Shift: ['ShiftLeft', 16],
  Control: ['ControlLeft', 17],
  Alt: ['AltLeft', 18],
  Meta: ['MetaLeft', 91],
  ContextMenu: ['ContextMenu', 93],
};
const KeyAliases: Readonly<Record<string, string>> = {
  esc: 'Escape',
  return: 'Enter',
  space: ' ',
  spacebar: ' ',
  up: 'ArrowUp',
  down: 'ArrowDown',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  del: 'Delete',
  ctrl: 'Control',
  cmd: 'Meta',
  command: 'Meta',
  option: 'Alt',
  plus: '+',
};
const ModifierNames: readonly Modifier[] = ['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'];

export function parseKey(keyText: string): Key {
  const keyParts =
    keyText === '+' ? ['+'] : keyText.endsWith('++') ? [...keyText.slice(0, -2).split('+'), '+'] : keyText.split('+');
  const name = resolveKeyName(keyParts.pop() ?? '');
  const modifiers = keyParts.map((part) => {
    const modifierName = ModifierNames.find(
      (modifier) => modifier.toLowerCase() === resolveKeyName(part).toLowerCase(),
    );
    if (!modifierName) throw makeUnknownKeyFailure(keyText);
    return modifierName;
  });
  const pressedModifiers = toPressedKeys(modifiers);
  const namedKey = Object.hasOwn(NamedKeys, name) ? NamedKeys[name] : undefined;
  if (namedKey)
    return {
      key: name,
      code: namedKey[0],
      keyCode: namedKey[1],
      pressed: pressedModifiers,
      text: hasCommandModifier(pressedModifiers) ? '' : (namedKey[2] ?? ''),
    };
  const f = /^F([1-9]|1[0-2])$/.exec(name);
  if (f) return { key: name, code: name, keyCode: 111 + Number(f[1]), pressed: pressedModifiers, text: '' };
  if ([...name].length !== 1) throw makeUnknownKeyFailure(keyText);
  const isLetter = /^[a-z]$/i.test(name);
  const key =
    isLetter && pressedModifiers.shiftKey
      ? name.toUpperCase()
      : isLetter && hasCommandModifier(pressedModifiers)
        ? name.toLowerCase()
        : name;
  const { code = '', keyCode = 0 } = findCharacterKey(key) ?? {};
  return { key, code, keyCode, pressed: pressedModifiers, text: hasCommandModifier(pressedModifiers) ? '' : key };
}

function resolveKeyName(name: string): string {
  const alias = KeyAliases[name.toLowerCase()];
  if (alias !== undefined) return alias;
  return (
    Object.keys(NamedKeys).find((keyName) => keyName.length > 1 && keyName.toLowerCase() === name.toLowerCase()) ??
    name.replace(/^f(\d+)$/, 'F$1')
  );
}

function makeUnknownKeyFailure(keyText: string): PageFailure {
  return new PageFailure(
    'invalid_arguments',
    `"${keyText}" is not a key. Use a character or a name such as Enter, Tab, Escape, ArrowDown, Backspace, F5, with modifiers such as Control+A.`,
  );
}

function hasCommandModifier(pressedModifiers: PressedModifiers): boolean {
  return pressedModifiers.ctrlKey || pressedModifiers.metaKey || pressedModifiers.altKey;
}

export function pressKey(target: Element, key: Key, approvedKinds: readonly SecretKind[]): string {
  requireTypingApproval(target, approvedKinds);
  const isDefault = sendKey(target, 'keydown', key);
  let progressText = '';
  if (isDefault) {
    const isKeypressAllowed = key.text === '' || sendKey(target, 'keypress', key);
    if (isKeypressAllowed) {
      requireTypingApproval(target, approvedKinds);
      progressText = performDefaultAction(getFocusedElement() ?? target, key, approvedKinds);
    }
  }
  dispatchMissingFocusEvents();
  const end = getFocusedElement() ?? target;
  sendKey(end.isConnected ? end : unclobberedDocument.body, 'keyup', key);
  return progressText;
}

export function sendKey(target: Element, type: 'keydown' | 'keypress' | 'keyup', key: Key): boolean {
  const charCode = type === 'keypress' ? (key.text.codePointAt(0) ?? 0) : key.keyCode;
  const eventInit = {
    key: key.key,
    code: key.code,
    bubbles: true,
    cancelable: true,
    composed: true,
    view: window,
    ...key.pressed,
  };
  return target.dispatchEvent(
    new KeyboardEvent(type, { ...eventInit, keyCode: charCode, charCode: type === 'keypress' ? charCode : 0 }),
  );
}

function performDefaultAction(target: Element, key: Key, approvedKinds: readonly SecretKind[]): string {
  if (hasCommandModifier(key.pressed)) return performKeyboardShortcut(target, key);
  const isEditable = isTextField(target);
  switch (key.key) {
    case 'Enter':
      return pressEnter(target, approvedKinds);
    case 'Tab':
      return moveByTab(target, key.pressed.shiftKey);
    case 'Escape':
      return closeDialog(target);
    case 'Backspace':
      return isEditable ? editByKey(target, 'backspace', approvedKinds) : '';
    case 'Delete':
      return isEditable ? editByKey(target, 'delete', approvedKinds) : '';
    case ' ':
      if (!isEditable) return clickClosestControl(target, 'button,input,summary') || scrollByKey(target, key);
      break;
  }
  if (key.text !== '' && isEditable) return editByKey(target, 'text', approvedKinds, key.text);
  return changeValue(target, key) ?? (isEditable ? moveCaret(key) : scrollByKey(target, key));
}

/**
 * editByKey performs the edit of a key, and describes the edit, or returns an empty string if the text did not change.
 */
function editByKey(target: Element, edit: EditCommand, approvedKinds: readonly SecretKind[], keyText = ''): string {
  const readText = () => (target instanceof HTMLElement ? ('value' in target ? target.value : target.innerHTML) : '');
  const textBefore = readText();
  const isDone = performEdit(target, edit, approvedKinds, keyText) === 'done' && readText() !== textBefore;
  if (!isDone) return '';
  return edit === 'backspace' || edit === 'delete' ? 'deleted' : 'typed';
}

function performKeyboardShortcut(target: Element, key: Key): string {
  if (!key.pressed.ctrlKey && !key.pressed.metaKey) return '';
  switch (key.key.toLowerCase()) {
    case 'a':
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) target.select();
      else unclobberedDocument.execCommand('selectAll');
      return 'selected all';
    case 'z':
      return unclobberedDocument.execCommand(key.pressed.shiftKey ? 'redo' : 'undo') ? 'undone' : '';
    case 'b':
    case 'i':
    case 'u': {
      const command = { b: 'bold', i: 'italic', u: 'underline' }[key.key.toLowerCase()];
      return isRichTextEditor(target) && command !== undefined && unclobberedDocument.execCommand(command)
        ? command
        : '';
    }
    case 'enter':
      return isTextField(target) ? '' : clickClosestControl(target, 'button,a[href],summary');
  }
  return '';
}

function isTextField(target: Element): boolean {
  if (target instanceof HTMLTextAreaElement) return !target.readOnly;
  if (target instanceof HTMLInputElement) {
    return (
      !target.readOnly && !/^(button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/.test(target.type)
    );
  }
  return isRichTextEditor(target);
}

function isRichTextEditor(target: Element): boolean {
  return target instanceof HTMLElement && target.isContentEditable;
}

function pressEnter(target: Element, approvedKinds: readonly SecretKind[]): string {
  if (target instanceof HTMLTextAreaElement) return editByKey(target, 'line', approvedKinds);
  if (isRichTextEditor(target)) return editByKey(target, 'paragraph', approvedKinds);
  if (target instanceof HTMLInputElement && !/^(button|submit|reset|image|file|color)$/.test(target.type)) {
    return pressEnterInField(target) ? 'submitted' : '';
  }
  return clickClosestControl(target, 'button,a[href],summary,input');
}

function clickClosestControl(target: Element, selector: string): string {
  const control = findClosestInFlatTree(target, (at) => at.matches(selector));
  if (!(control instanceof HTMLElement)) return '';
  control.click();
  return 'clicked';
}

/**
 * closeDialog closes the modal dialog or popover that the key Escape closes, unless the page prevents the default
 * action.
 */
function closeDialog(target: Element): string {
  const dialog =
    findClosestInFlatTree(target, (at) => at instanceof HTMLDialogElement && at.open) ??
    selectAll('dialog:modal').at(-1);
  // Escape closes no popover of the type "manual".
  const openPopover = selectAll('[popover]:popover-open').findLast((at) => at.getAttribute('popover') !== 'manual');
  const isOnDialog = openPopover && dialog && containsInFlatTree(dialog, openPopover);
  if (!isOnDialog && dialog instanceof HTMLDialogElement && dialog.matches(':modal')) {
    if (dialog.getAttribute('closedby') === 'none') return '';
    if (dialog.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close();
    return dialog.open ? '' : 'closed';
  }
  if (!(openPopover instanceof HTMLElement)) return '';
  openPopover.hidePopover();
  return 'closed';
}

function moveByTab(target: Element, isBackwards: boolean): string {
  const tabOrder: Element[] = [];
  collectTabStops(unclobberedDocument.querySelector('dialog:modal') ?? unclobberedDocument.body, tabOrder);
  const positiveElements = tabOrder
    .filter((element) => getTabIndex(element) > 0)
    .sort((a, b) => getTabIndex(a) - getTabIndex(b));
  const tabStops = [...positiveElements, ...tabOrder.filter((element) => getTabIndex(element) === 0)];
  const at = tabStops.indexOf(target);
  const next = isBackwards ? (at <= 0 ? tabStops.at(-1) : tabStops[at - 1]) : (tabStops[at + 1] ?? tabStops[0]);
  if (!next) return '';
  focusElement(next);
  if (next instanceof HTMLInputElement && isTextField(next)) next.select();
  return 'moved the focus';
}

function getTabIndex(element: Element): number {
  return element instanceof HTMLElement || element instanceof SVGElement ? element.tabIndex : -1;
}

function collectTabStops(element: Element, tabOrder: Element[]): void {
  if (element instanceof HTMLElement && element.inert) return;
  const isTabStop = isFocusable(element) && getTabIndex(element) >= 0 && !element.matches(':disabled');
  if (isTabStop && element.checkVisibility({ visibilityProperty: true }) && !isUncheckedRadio(element))
    tabOrder.push(element);
  for (const child of listFlatChildren(element)) if (child instanceof Element) collectTabStops(child, tabOrder);
}

function isUncheckedRadio(element: Element): boolean {
  if (!(element instanceof HTMLInputElement) || element.type !== 'radio' || element.checked || element.name === '')
    return false;
  const searchRoot: ParentNode = element.form ?? document;
  return [...searchRoot.querySelectorAll('input[type=radio]')].some(
    (otherInput) => otherInput instanceof HTMLInputElement && otherInput.name === element.name && otherInput.checked,
  );
}
