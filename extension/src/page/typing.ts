// Types into fields, presses keys, and fills forms.

import { runAction } from './act.ts';
import { isValueWidget, setWidgetValue } from './aria-value.ts';
import { clickElement } from './click.ts';
import { describeElement } from './describe.ts';
import {
  type Field,
  insertText,
  isPickerField,
  isSameValue,
  readField,
  readPublicField,
  requireField,
  selectContent,
  sendChangeWithoutFocus,
  submitButtonOf,
  submitForm,
  writeField,
} from './edit.ts';
import { performEdit } from './editing.ts';
import { PageFailure, toPageError } from './failure.ts';
import { getFocusedElement } from './flat-tree.ts';
import { type Key, parseKey, pressKey, sendKey } from './keys.ts';
import type {
  ActionArguments,
  FillArguments,
  FillField,
  FillOutcome,
  FillResult,
  PageActionResult,
  PressArguments,
  TypeArguments,
  TypeResult,
} from './operations.ts';
import { pause, waitForNextTask } from './pace.ts';
import { pasteText, readEditContextText } from './paste.ts';
import { focusElement } from './pointer.ts';
import { waitUntilReady } from './ready.ts';
import { computeRole } from './roles.ts';
import type { SecretKind } from './secret-kind.ts';
import { findSecretKind, requireFieldApproval, requireTypingApproval } from './secrets.ts';
import { chooseOptions, listSelectedLabels, showsOptionSelected } from './select.ts';
import { findTarget, type PageContext } from './state.ts';
import { isDisabled, readCheckedState, readShownValue } from './states.ts';
import { findTrustedKeyInput, focusOwnFrame, pressTrustedKey, typeTrusted } from './trusted.ts';
import { unclobberedDocument } from './unclobbered.ts';

export async function type(args: TypeArguments, context: PageContext): Promise<TypeResult> {
  const element = findTarget(args.target, context);
  if (readEditContextText(element) !== undefined) return typeByPaste(element, args, context);
  if (isValueWidget(element)) return typeValue(element, args, context);
  let field = requireField(element);
  let isExact = false;
  const result = await runAction(args, context, async () => {
    await waitUntilReady(field, args.timeoutMs, context);
    context.markActed();
    field = requireField(element); // scrolling may make the page replace the field
    const valueBefore = readField(field);
    if (args.slowly) await typeSlowly(field, args, context);
    else {
      await writeField(field, args.text, args.append ?? false, args.secrets ?? []);
      releaseLastKey(field, args.text);
    }
    await waitForValue(field, valueBefore, (args.append ? valueBefore : '') + args.text, context);
    isExact = isTypedTextShown(field, valueBefore, args);
    const notes = isExact ? [] : ['The field changed the text.'];
    if (args.submit) notes.push(...(await pressEnterAfterTyping(field, args.secrets ?? [], context)));
    const input = context.trustedInput?.hasReceivedInput ? 'trusted' : 'synthetic';
    const showsSuggestions = !args.submit && declaresSuggestions(field);
    return { target: field, input, notes, hasEffect: () => readField(field) !== valueBefore, showsSuggestions };
  });
  const value = readPublicField(field);
  return { ...result, exact: isExact, ...(value === undefined ? {} : { value }) };
}

async function typeValue(widget: Element, args: TypeArguments, context: PageContext): Promise<TypeResult> {
  const valueBefore = readShownValue(widget, computeRole(widget));
  let value = '';
  const result = await runAction(args, context, async () => {
    await waitUntilReady(widget, args.timeoutMs, context);
    context.markActed();
    value = await setWidgetValue(widget, args.text, args.secrets ?? [], context);
    const input = context.trustedInput?.hasReceivedInput ? 'trusted' : 'synthetic';
    const hasEffect = () => readShownValue(widget, computeRole(widget)) !== valueBefore;
    return { target: widget, input, notes: ['The value was set with arrow keys.'], hasEffect };
  });
  return { ...result, exact: true, value };
}

function declaresSuggestions(field: Field): boolean {
  return computeRole(field) === 'combobox' || field.matches('[aria-autocomplete],[aria-controls],[aria-haspopup]');
}

/**
 * releaseLastKey dispatches the keyup event of the last character. Pages that do not handle the event input read the
 * field when the user releases a key.
 */
function releaseLastKey(field: Field, text: string): void {
  const character = [...text].at(-1);
  if (character === undefined || character === '\n' || !field.isConnected || isPickerField(field)) return;
  sendKey(getFocusedElement() ?? field, 'keyup', parseCharacterKey(character));
}

/** typeByPaste pastes a text into an editor, because editors that use EditContext ignore text from scripts. */
async function typeByPaste(editor: Element, args: TypeArguments, context: PageContext): Promise<TypeResult> {
  const textBefore = readEditContextText(editor) ?? '';
  const wantedText = normalizeSpaces((args.append ? textBefore : '') + args.text);
  const hasText = () => normalizeSpaces(readEditContextText(editor) ?? '') === wantedText;
  const result = await runAction(args, context, async () => {
    requireFieldApproval(editor, args.secrets ?? []);
    context.markActed();
    pasteText(editor, args.text, args.append ?? false);
    for (const end = performance.now() + ValueTimeoutMs; !hasText() && performance.now() < end; )
      await pause(10, context.signal);
    const notes = hasText() ? [] : ['The editor does not show scripts its whole text. Check the text in a snapshot.'];
    if (args.submit) notes.push('Enter was not pressed: use browser_press_key.');
    return { target: editor, input: 'synthetic', notes, hasEffect: () => readEditContextText(editor) !== textBefore };
  });
  return { ...result, exact: hasText() };
}

const ValueTimeoutMs = 300;

async function waitForValue(
  field: Field,
  valueBefore: string,
  wantedText: string,
  context: PageContext,
): Promise<void> {
  const end = performance.now() + ValueTimeoutMs;
  await waitForNextTask();
  while (performance.now() < end) {
    const now = readField(field);
    if (normalizeSpaces(now) === normalizeSpaces(wantedText) || now !== valueBefore) return;
    await pause(10, context.signal);
  }
}

function isTypedTextShown(field: Field, valueBefore: string, args: TypeArguments): boolean {
  const wantedText = (args.append ? valueBefore : '') + args.text;
  const now = readField(field);
  if (normalizeSpaces(now) === normalizeSpaces(wantedText)) return true;
  if (isPickerField(field) && isSameValue(field, args.text)) return true;
  const isRejected = now === valueBefore || (now === '' && args.text.trim() !== '' && isNumberField(field));
  if (isRejected && field.isConnected) {
    const fieldDetail = findSecretKind(field) ? undefined : `the field contains: ${JSON.stringify(now.slice(0, 200))}`;
    throw new PageFailure('rejected', 'The field did not accept the text.', fieldDetail);
  }
  return false;
}

function isNumberField(field: Field): boolean {
  return field instanceof HTMLInputElement && field.type === 'number';
}

function normalizeSpaces(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\n+/g, '\n').replaceAll('\u00a0', ' ').trim();
}

async function typeSlowly(field: Field, args: TypeArguments, context: PageContext): Promise<void> {
  const { text, append = false, secrets = [] } = args;
  requireFieldApproval(field, secrets);
  await focusOwnFrame(context);
  focusElement(field);
  await selectContent(field, append);
  if (!append && readField(field) !== '') await insertText(field, '', secrets);
  const characters = [...text];
  const trustedInput = findTrustedKeyInput(field, undefined, context);
  for (const [i, character] of characters.entries()) {
    context.signal.throwIfAborted();
    if (trustedInput) await typeTrusted(trustedInput, character, secrets);
    else sendCharacter(field, character, secrets);
    context.setProgressText(`typed ${i + 1} of ${characters.length} characters`);
    if (i % 50 === 49) context.report({ message: 'typing', progress: i + 1, total: characters.length });
    await waitForNextTask();
  }
  sendChangeWithoutFocus(field);
}

function sendCharacter(field: Field, character: string, approvedKinds: readonly SecretKind[]): void {
  const key = character === '\n' ? parseKey('Enter') : parseCharacterKey(character);
  const target = getFocusedElement() ?? field;
  if (sendKey(target, 'keydown', key) && sendKey(target, 'keypress', key)) {
    requireTypingApproval(target, approvedKinds);
    performEdit(target, character === '\n' ? 'paragraph' : 'text', approvedKinds, character);
  }
  sendKey(getFocusedElement() ?? field, 'keyup', key);
}

function parseCharacterKey(character: string): Key {
  return parseKey(character === ' ' ? 'space' : character === '+' ? 'plus' : character);
}

async function pressEnterAfterTyping(
  field: Field,
  approvedKinds: readonly SecretKind[],
  context: PageContext,
): Promise<string[]> {
  const target = field.isConnected ? field : getFocusedElement();
  if (!target) return ['The field is gone, so Enter was not pressed.'];
  const enterKey = parseKey('Enter');
  await focusOwnFrame(context);
  const trustedInput = findTrustedKeyInput(target, enterKey, context);
  if (trustedInput) {
    await pressTrustedKey(trustedInput, enterKey, approvedKinds, context);
    return [];
  }
  const pressResult = pressKey(target, enterKey, approvedKinds);
  return pressResult === '' ? ['Enter was pressed, but submitted no form.'] : [];
}

export async function press(args: PressArguments, context: PageContext): Promise<PageActionResult> {
  const key = parseKey(args.key);
  const target = args.target ? findTarget(args.target, context) : undefined;
  return runAction(args, context, async () => {
    await focusOwnFrame(context);
    context.markActed();
    if (target) focusElement(target);
    const receiver = target ?? getFocusedElement() ?? unclobberedDocument.body;
    const line = describeElement(receiver, context);
    const content = readEditorContent(receiver);
    const focusedElement = getFocusedElement();
    const isEdited = () => receiver.isConnected && readEditorContent(receiver) !== content;
    const approvedKinds = args.secrets ?? [];
    const trustedInput = findTrustedKeyInput(receiver, key, context);
    const stateBefore = describeCaretAndScroll();
    const isChanged = () =>
      describeCaretAndScroll() !== stateBefore || (receiver.isConnected && describeElement(receiver, context) !== line);
    if (trustedInput) {
      await pressTrustedKey(trustedInput, key, approvedKinds, context);
      const hasEffect = () => getFocusedElement() !== focusedElement || isEdited() || isChanged();
      return { target: target ?? getFocusedElement() ?? undefined, input: 'trusted', hasEffect };
    }
    const pressResult = pressKey(receiver, key, approvedKinds);
    const isMoved = pressResult !== '' && pressResult !== 'clicked' && pressResult !== 'submitted';
    const notes = pressResult === '' ? [] : [`Enter, Tab and other keys are imitated: ${pressResult}.`];
    const hasEffect = () => isMoved || isEdited() || getFocusedElement() !== focusedElement || isChanged();
    return { target: target ?? getFocusedElement() ?? undefined, input: 'synthetic', notes, hasEffect };
  });
}

/** readEditorContent returns the HTML of an editor, because a snapshot line does not contain its empty paragraphs. */
function readEditorContent(element: Element): string | undefined {
  return element instanceof HTMLElement && element.isContentEditable ? element.innerHTML : undefined;
}

/** describeCaretAndScroll describes the caret and the scroll position, which snapshot lines do not contain. */
function describeCaretAndScroll(): string {
  const focusedElement = getFocusedElement();
  const isField = focusedElement instanceof HTMLInputElement || focusedElement instanceof HTMLTextAreaElement;
  const { anchorOffset, focusOffset } = getSelection() ?? {};
  const caret = isField ? [focusedElement.selectionStart, focusedElement.selectionEnd] : [anchorOffset, focusOffset];
  return JSON.stringify([...caret, scrollX, scrollY, focusedElement?.scrollTop, focusedElement?.scrollLeft]);
}

export async function fill(args: FillArguments, context: PageContext): Promise<FillResult> {
  if (args.fields.length === 0) throw new PageFailure('invalid_arguments', 'fields is empty. Give at least one field.');
  const outcomes: FillOutcome[] = [];
  let isSubmitted = false;
  const result = await runAction(args, context, async () => {
    for (const [i, entry] of args.fields.entries()) {
      context.signal.throwIfAborted();
      outcomes.push(await fillField(entry, args, context));
      context.setProgressText(`filled ${i + 1} of ${args.fields.length} fields`);
      const doneSteps = outcomes.filter(({ ok }) => ok).length;
      context.report({ message: 'filling the form', progress: i + 1, total: args.fields.length, doneSteps });
    }
    const notes: string[] = [];
    if (args.submit) isSubmitted = await submitFilledForm(args, outcomes, notes, context);
    else await context.trustedInput?.endFocusEmulation();
    const input = context.trustedInput?.hasReceivedInput ? 'trusted' : 'synthetic';
    return { input, notes, hasEffect: () => outcomes.some((outcome) => outcome.ok) };
  });
  return { ...result, fields: outcomes, submitted: isSubmitted };
}

async function submitFilledForm(
  args: FillArguments,
  outcomes: readonly FillOutcome[],
  notes: string[],
  context: PageContext,
): Promise<boolean> {
  if (outcomes.some((outcome) => !outcome.ok)) {
    notes.push('The form was not submitted, because a field failed.');
    return false;
  }
  for (const entry of [...args.fields].reverse()) {
    const element = context.state.refs.find(entry.target, context.prefix);
    if (!(element instanceof Element)) continue;
    const button = context.trustedInput && submitButtonOf(element);
    if (button?.checkVisibility({ visibilityProperty: true }) && !isDisabled(button)) {
      await clickElement(button, {}, context);
      return true;
    }
    if (submitForm(element)) return true;
  }
  notes.push('The form was not submitted: the fields have no form. Click its button.');
  return false;
}

async function fillField(entry: FillField, args: ActionArguments, context: PageContext): Promise<FillOutcome> {
  const { target } = entry;
  try {
    const element = findTarget(target, context);
    const value = await fillElement(element, entry.value, args, context);
    return { target, ok: true, ...(value === undefined ? {} : { value }) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { target, ok: false, error: toPageError(error, context.signal, '') };
  }
}

async function fillElement(
  element: Element,
  value: FillField['value'],
  { timeoutMs, secrets = [] }: ActionArguments,
  context: PageContext,
): Promise<string | undefined> {
  const role = computeRole(element);
  const checkedState =
    readCheckedState(element, role) ?? (/^(checkbox|switch|radio)$/.test(role) ? 'false' : undefined);
  if (checkedState !== undefined && role !== 'option') return setChecked(element, role, value, timeoutMs, context);
  if (typeof value === 'boolean') {
    throw new PageFailure(
      'invalid_arguments',
      `A ${role || 'element without a role'} takes no true or false. Give a text.`,
    );
  }
  const isList =
    element instanceof HTMLSelectElement ||
    typeof value !== 'string' ||
    role === 'listbox' ||
    isOptionPicker(element, role);
  if (isList) {
    const labelsBefore = listSelectedLabels(element).join(', ');
    const names = await chooseOptions(element, typeof value === 'string' ? [value] : value, timeoutMs, context);
    return await requireSelectedOptions(element, names, labelsBefore, context);
  }
  if (isValueWidget(element)) {
    await waitUntilReady(element, timeoutMs, context);
    context.markActed();
    return await setWidgetValue(element, value, secrets, context);
  }
  const field = requireField(element);
  await waitUntilReady(field, timeoutMs, context);
  context.markActed();
  const valueBefore = readField(field);
  await writeField(field, value, false, secrets);
  releaseLastKey(field, value);
  await waitForValue(field, valueBefore, value, context);
  isTypedTextShown(field, valueBefore, { target: '', text: value });
  return readPublicField(field);
}

/**
 * requireSelectedOptions returns the labels of the selected options of a list. If the page has undone the choice,
 * requireSelectedOptions throws an error with the code `rejected`.
 */
async function requireSelectedOptions(
  list: Element,
  names: readonly string[],
  valueBefore: string,
  context: PageContext,
): Promise<string> {
  const isShown = () => names.every((name) => showsOptionSelected(list, name));
  const readLabels = () => listSelectedLabels(list).join(', ');
  for (const end = performance.now() + ValueTimeoutMs; !isShown() && readLabels() === valueBefore; ) {
    if (performance.now() > end)
      throw new PageFailure('rejected', 'The list did not accept the option.', `the list still shows: ${valueBefore}`);
    await pause(10, context.signal);
  }
  return readLabels();
}

/** isOptionPicker reports whether an ARIA combobox has no text field. */
function isOptionPicker(element: Element, role: string): boolean {
  if (role !== 'combobox' || element instanceof HTMLInputElement) return false;
  return element.querySelector('input,textarea,[contenteditable]') === null;
}

async function setChecked(
  element: Element,
  role: string,
  value: FillField['value'],
  timeoutMs: number | undefined,
  context: PageContext,
): Promise<string> {
  const wantedState = typeof value === 'boolean' ? value : /^(true|on|yes|checked|1)$/i.test(String(value));
  const isBooleanValue =
    typeof value === 'boolean' || /^(true|false|on|off|yes|no|checked|unchecked|0|1)$/i.test(String(value));
  if (!isBooleanValue)
    throw new PageFailure('invalid_arguments', `A ${role} takes true or false, not ${JSON.stringify(value)}.`);
  const readState = () => readCheckedState(element, role) ?? 'false';
  const hasWantedState = () => readState() === String(wantedState);
  if (role === 'radio' && !wantedState && !hasWantedState())
    throw new PageFailure('invalid_arguments', 'A radio button cannot be switched off. Choose another one.');
  // A checkbox in the state "mixed" may need two clicks.
  for (let clicks = readState() === 'mixed' ? 2 : 1; clicks > 0 && !hasWantedState(); clicks--)
    await clickElement(element, timeoutMs === undefined ? {} : { timeoutMs }, context);
  if (!hasWantedState()) {
    const state = { true: 'on', false: 'off', mixed: 'mixed' }[readState()];
    throw new PageFailure('rejected', `The ${role} is still ${state} after a click.`);
  }
  return readState();
}
