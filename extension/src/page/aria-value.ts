// Sets the values of sliders and spin buttons that pages implement themselves, by pressing arrow keys.
import { findField } from './edit.ts';
import { PageFailure } from './failure.ts';
import { parseKey, pressKey } from './keys.ts';
import { pause, waitForNextTask } from './pace.ts';
import { focusElement } from './pointer.ts';
import { computeRole } from './roles.ts';
import type { SecretKind } from './secret-kind.ts';
import type { PageContext } from './state.ts';
import { isDisabled } from './states.ts';
import { findTrustedKeyInput, focusOwnFrame, pressTrustedKey } from './trusted.ts';

const MaxKeyPresses = 1_000;
const KeyPressTimeoutMs = 20_000;
const ValueChangeTimeoutMs = 200;
const KeyPressesPerReport = 50;

/** isValueWidget reports whether an element is a slider or spin button without a field for text. */
export function isValueWidget(element: Element): boolean {
  return (
    /^(slider|spinbutton)$/.test(computeRole(element)) &&
    !Number.isNaN(readValue(element)) &&
    findField(element) === undefined
  );
}

function readValue(widget: Element): number {
  return Number.parseFloat(widget.getAttribute('aria-valuenow') ?? '');
}

function readLimit(widget: Element, attribute: 'aria-valuemin' | 'aria-valuemax'): number | undefined {
  const value = Number.parseFloat(widget.getAttribute(attribute) ?? '');
  return Number.isNaN(value) ? undefined : value;
}

/** setWidgetValue presses keys until the widget has the wanted value, and returns the value. */
export async function setWidgetValue(
  widget: Element,
  text: string,
  approvedKinds: readonly SecretKind[],
  context: PageContext,
): Promise<string> {
  const wantedValue = parseWantedValue(widget, text);
  if (isDisabled(widget)) throw new PageFailure('not_hittable', `The ${computeRole(widget)} is disabled.`);
  await focusOwnFrame(context);
  focusElement(widget);
  const end = performance.now() + KeyPressTimeoutMs;
  for (let pressCount = 0; readValue(widget) !== wantedValue; pressCount++) {
    if (pressCount >= MaxKeyPresses || performance.now() > end) throw makeValueNotReachedFailure(widget, wantedValue);
    await moveValueCloser(widget, wantedValue, approvedKinds, context);
    context.setProgressText(`moved the value to ${readValue(widget)}`);
    if (pressCount % KeyPressesPerReport === KeyPressesPerReport - 1)
      context.report({ message: 'pressing arrow keys', progress: pressCount + 1 });
  }
  return String(readValue(widget));
}

function parseWantedValue(widget: Element, text: string): number {
  const wantedValue = Number(text.trim());
  const role = computeRole(widget);
  if (text.trim() === '' || Number.isNaN(wantedValue))
    throw new PageFailure('invalid_arguments', `The ${role} takes a number, not ${JSON.stringify(text)}.`);
  const [min, max] = [readLimit(widget, 'aria-valuemin'), readLimit(widget, 'aria-valuemax')];
  if ((min !== undefined && wantedValue < min) || (max !== undefined && wantedValue > max))
    throw new PageFailure('invalid_arguments', `The ${role} takes a number from ${min ?? '-∞'} to ${max ?? '∞'}.`);
  return wantedValue;
}

/** moveValueCloser presses one arrow key, and throws an error if the value does not come closer. */
async function moveValueCloser(
  widget: Element,
  wantedValue: number,
  approvedKinds: readonly SecretKind[],
  context: PageContext,
): Promise<void> {
  const valueBefore = readValue(widget);
  const isIncreasing = wantedValue > valueBefore;
  for (const name of isIncreasing ? ['ArrowUp', 'ArrowRight'] : ['ArrowDown', 'ArrowLeft']) {
    const key = parseKey(name);
    const trustedInput = findTrustedKeyInput(widget, key, context);
    if (trustedInput) await pressTrustedKey(trustedInput, key, approvedKinds, context);
    else pressKey(widget, key, approvedKinds);
    await waitForNextTask();
    for (const end = performance.now() + ValueChangeTimeoutMs; readValue(widget) === valueBefore; ) {
      if (performance.now() > end) break;
      await pause(10, context.signal);
    }
    if (readValue(widget) !== valueBefore) break;
  }
  const now = readValue(widget);
  if (!(Math.abs(wantedValue - now) < Math.abs(wantedValue - valueBefore)))
    throw makeValueNotReachedFailure(widget, wantedValue);
}

function makeValueNotReachedFailure(widget: Element, wantedValue: number): PageFailure {
  return new PageFailure(
    'rejected',
    `Arrow keys do not move the ${computeRole(widget)} to ${wantedValue}. Its value is ${readValue(widget)}. Press keys with browser_press_key, or drag it.`,
  );
}
