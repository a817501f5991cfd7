// Sets the text of form fields, and dispatches the events that typing causes.
import { findForm } from './describe.ts';
import { performEdit } from './editing.ts';
import { PageFailure } from './failure.ts';
import { listFlatChildren } from './flat-tree.ts';
import { waitForNextTask } from './pace.ts';
import { focusElement } from './pointer.ts';
import { computeRole } from './roles.ts';
import type { SecretKind } from './secret-kind.ts';
import { findSecretKind, requireFieldApproval } from './secrets.ts';
import { isDisabled, readEditableText } from './states.ts';
import { getFormElements, unclobberedDocument } from './unclobbered.ts';

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLElement;

const PickerInputTypes = /^(date|month|week|time|datetime-local|color|range)$/;
const NonTextInputTypes = /^(button|checkbox|file|hidden|image|radio|reset|submit)$/;

const InputFormats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  month: '2026-01',
  week: '2026-W05',
  time: '13:45',
  'datetime-local': '2026-01-31T13:45',
  color: '#ff8800',
  range: 'a number between its minimum and maximum',
};

export function requireField(element: Element): Field {
  const field = findField(element);
  if (!field) {
    const elementKind = computeRole(element) || 'element without a role';
    throw new PageFailure(
      'wrong_element',
      `The target is a ${elementKind}, which does not accept text. Use the ref of a textbox, or click it.`,
    );
  }
  if (isDisabled(field)) throw new PageFailure('not_hittable', 'The field is disabled.');
  if ((isInput(field) || isTextArea(field)) && field.readOnly) {
    throw new PageFailure('wrong_element', 'The field is read-only. Click it: the page may open a picker.');
  }
  return field;
}

export function findField(element: Element): Field | undefined {
  const field = findFieldIn(element, 0);
  return (
    field ?? (element instanceof HTMLLabelElement && element.control ? findFieldIn(element.control, 0) : undefined)
  );
}

function findFieldIn(element: Element, depth: number): Field | undefined {
  if (isInput(element)) return NonTextInputTypes.test(element.type) ? undefined : element;
  if (isTextArea(element)) return element;
  if (element instanceof HTMLElement && element.isContentEditable) return element;
  if (depth > 8 || element instanceof HTMLSelectElement) return undefined;
  for (const child of listFlatChildren(element)) {
    const field = child instanceof Element ? findFieldIn(child, depth + 1) : undefined;
    if (field) return field;
  }
  return undefined;
}

function isInput(element: Element): element is HTMLInputElement {
  return element instanceof HTMLInputElement;
}

function isTextArea(element: Element): element is HTMLTextAreaElement {
  return element instanceof HTMLTextAreaElement;
}

export function readField(field: Field): string {
  if (isInput(field) || isTextArea(field)) return field.value;
  return (readEditableText(field) ?? '').replaceAll('\u00a0', ' ');
}

export function readPublicField(field: Field): string | undefined {
  return findSecretKind(field) ? undefined : readField(field);
}

/** writeField dispatches the same kinds of events as a user's typing. */
export async function writeField(
  field: Field,
  text: string,
  append: boolean,
  approvedKinds: readonly SecretKind[],
): Promise<void> {
  requireFieldApproval(field, approvedKinds);
  focusElement(field);
  if (isPickerField(field)) {
    chooseValue(field, text);
    return;
  }
  // A script cannot set the selection in number and email fields, so typed text replaces the whole value of such a
  // field.
  const replacesWholeValue = isInput(field) && field.selectionEnd === null;
  const oldText = replacesWholeValue && append ? readField(field) : '';
  await selectContent(field, append && !replacesWholeValue);
  await insertText(field, oldText + text, approvedKinds);
  sendChangeWithoutFocus(field);
}

/**
 * chooseValue sets the value of a field whose value the user picks, such as a date. If the field does not accept the
 * value, chooseValue throws, and the field keeps its value.
 */
function chooseValue(field: HTMLInputElement, value: string): void {
  const valueBefore = field.value;
  field.value = value;
  if (value !== '' && !isSameValue(field, value)) {
    const nearestValueNote = field.type === 'range' ? ` The nearest value is ${field.value}.` : '';
    field.value = valueBefore;
    const format = InputFormats[field.type] ?? '';
    throw new PageFailure(
      'rejected',
      `The field of type ${field.type} does not accept ${JSON.stringify(value)}. Use the form ${format}.${nearestValueNote}`,
    );
  }
  sendInput(field, 'insertReplacementText', value);
  sendChange(field);
}

/** isPickerField reports whether a user picks the value of a field, such as a date, instead of typing the value. */
export function isPickerField(field: Field): field is HTMLInputElement {
  return isInput(field) && PickerInputTypes.test(field.type);
}

/** isSameValue reports whether a picker field contains the given value, in any notation that the browser accepts. */
export function isSameValue(field: HTMLInputElement, value: string): boolean {
  const [shownValue, wantedValue] = [field.value.toLowerCase(), value.trim().toLowerCase()];
  if (field.type === 'range') return Number(shownValue) === Number(wantedValue);
  // The browser accepts color names as values, and normalizes a date with a time: it replaces a space with T and omits
  // seconds of 0.
  if (field.type === 'color') return shownValue !== '#000000' || isBlack(wantedValue);
  if (field.type !== 'datetime-local') return shownValue === wantedValue;
  return shownValue !== '' && wantedValue.replace(' ', 't').startsWith(shownValue);
}

function isBlack(color: string): boolean {
  return /^(black|#0{3,4}|#0{6}(00)?)$/.test(color) || /^(rgb|hsl)a?\(/.test(color);
}

export async function selectContent(field: Field, placesCaretAtEnd: boolean): Promise<void> {
  if (isInput(field) || isTextArea(field)) {
    const end = field.value.length;
    if (!placesCaretAtEnd) field.select();
    else if (field.selectionEnd !== null) field.setSelectionRange(end, end);
    return;
  }
  const selection = getSelection();
  if (!selection) return;
  const selectInField = () => {
    selection.selectAllChildren(field);
    if (placesCaretAtEnd) selection.collapseToEnd();
  };
  selectInField();
  const selectedText = selection.toString();
  // Editors read the selection on the event selectionchange, which the browser dispatches later, or not at all in a
  // hidden tab.
  document.dispatchEvent(new Event('selectionchange'));
  await waitForNextTask();
  // In a document without the focus, some editors react to selectionchange by restoring their own selection.
  if (!placesCaretAtEnd && selection.toString() !== selectedText) selectInField();
}

/**
 * insertText replaces the selection with text. `execCommand` dispatches trusted events, even in a document without the
 * focus.
 */
export async function insertText(field: Field, text: string, approvedKinds: readonly SecretKind[]): Promise<void> {
  const isSingleLineField = isInput(field);
  const lines = isSingleLineField || isTextArea(field) ? [text] : text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (i > 0) {
      performEdit(field, 'paragraph', approvedKinds);
      // An editor with its own text model moves the caret in a later task.
      await waitForNextTask();
    }
    if (line === '' && lines.length > 1) continue;
    if (line !== '' || readField(field) !== '') insertLine(field, line, approvedKinds);
    if (i < lines.length - 1) await waitForNextTask(); // an editor must read each edit before the next edit
  }
}

function insertLine(field: Field, line: string, approvedKinds: readonly SecretKind[]): void {
  const valueBefore = readField(field);
  const outcome =
    line === '' ? performEdit(field, 'backspace', approvedKinds) : performEdit(field, 'text', approvedKinds, line);
  if (outcome === 'failed' && readField(field) === valueBefore) setValue(field, line);
}

/** setValue sets the value of a field directly if the browser refuses to type, such as in an invisible field. */
function setValue(field: Field, value: string): void {
  if (isInput(field) || isTextArea(field)) field.value = value;
  else field.textContent = value;
  sendInput(field, value === '' ? 'deleteContentBackward' : 'insertText', value);
}

/** In a document without the focus, the browser does not dispatch "change" when the focus leaves a field. */
export function sendChangeWithoutFocus(field: Field): void {
  if (!unclobberedDocument.hasFocus() && (isInput(field) || isTextArea(field))) sendChange(field);
}

function sendInput(field: Element, inputType: string, data: string): void {
  field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType, data }));
}

export function sendChange(field: Element): void {
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

/**
 * SubmitOnEnterTypes contains the types of fields in which the key Enter submits a form that has no submit button, if
 * the form has only one such field.
 */
const SubmitOnEnterTypes = /^(text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/;

export function pressEnterInField(field: Element): boolean {
  const form = findForm(field);
  if (!form) return false;
  const controls = [...(getFormElements(form) ?? [])];
  const fields = controls.filter((control) => isInput(control) && SubmitOnEnterTypes.test(control.type));
  return (controls.some(isSubmitButton) || fields.length <= 1) && submitForm(field);
}

export function submitForm(element: Element): boolean {
  const form = findForm(element);
  if (!form) return false;
  const button = submitButtonOf(element);
  // The key Enter does nothing if the submit button is disabled.
  if (button instanceof HTMLElement && isDisabled(button)) return false;
  if (button instanceof HTMLElement) button.click();
  else HTMLFormElement.prototype.requestSubmit.call(form);
  return true;
}

export function submitButtonOf(element: Element): Element | undefined {
  const form = findForm(element);
  return form ? [...(getFormElements(form) ?? [])].find(isSubmitButton) : undefined;
}

function isSubmitButton(element: Element): boolean {
  if (element instanceof HTMLButtonElement) return element.type === 'submit';
  return element instanceof HTMLInputElement && (element.type === 'submit' || element.type === 'image');
}
