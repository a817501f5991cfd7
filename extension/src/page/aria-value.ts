// Sets the values of sliders and spin buttons that pages implement themselves, by pressing arrow keys.
import { findField } from './edit.ts';
import { PageFailure } from './failure.ts';
import { parseKey, pressKey } from './keys.ts';
import { pause, waitForNextTask } from './pace.ts';
import { focusElement } from './pointer.ts';
import { computeRole } from './roles.ts';
import type { SecretKind } from './secret-kind.ts';
import type { Context } from './state.ts';
import { isDisabled } from './states.ts';
import { findTrustedKeyInput, focusOwnFrame, pressTrusted } from './trusted.ts';

const MaxPresses = 1_000;
const PressLimitMs = 20_000;
const ReactionTimeoutMs = 200;
const PressesPerReport = 50;

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
  approved: readonly SecretKind[],
  context: Context,
): Promise<string> {
  const wanted = parseWantedValue(widget, text);
  if (isDisabled(widget)) throw new PageFailure('not_hittable', `The ${computeRole(widget)} is disabled.`);
  await focusOwnFrame(context);
  focusElement(widget);
  const end = performance.now() + PressLimitMs;
  for (let presses = 0; readValue(widget) !== wanted; presses++) {
    if (presses >= MaxPresses || performance.now() > end) throw makeUnreachedFailure(widget, wanted);
    await moveCloser(widget, wanted, approved, context);
    context.setDone(`moved the value to ${readValue(widget)}`);
    if (presses % PressesPerReport === PressesPerReport - 1)
      context.report({ message: 'pressing arrow keys', progress: presses + 1 });
  }
  return String(readValue(widget));
}

function parseWantedValue(widget: Element, text: string): number {
  const wanted = Number(text.trim());
  const role = computeRole(widget);
  if (text.trim() === '' || Number.isNaN(wanted))
    throw new PageFailure('invalid_arguments', `The ${role} takes a number, not ${JSON.stringify(text)}.`);
  const [min, max] = [readLimit(widget, 'aria-valuemin'), readLimit(widget, 'aria-valuemax')];
  if ((min !== undefined && wanted < min) || (max !== undefined && wanted > max))
    throw new PageFailure('invalid_arguments', `The ${role} takes a number from ${min ?? '-∞'} to ${max ?? '∞'}.`);
  return wanted;
}

/** moveCloser presses one arrow key, and throws an error if the value does not come closer. */
async function moveCloser(
  widget: Element,
  wanted: number,
  approved: readonly SecretKind[],
  context: Context,
): Promise<void> {
  const before = readValue(widget);
  const isUp = wanted > before;
  for (const name of isUp ? ['ArrowUp', 'ArrowRight'] : ['ArrowDown', 'ArrowLeft']) {
    const key = parseKey(name);
    const trusted = findTrustedKeyInput(widget, key, context);
    if (trusted) await pressTrusted(trusted, key, approved, context);
    else pressKey(widget, key, approved);
    await waitForNextTask();
    for (const end = performance.now() + ReactionTimeoutMs; readValue(widget) === before; ) {
      if (performance.now() > end) break;
      await pause(10, context.signal);
    }
    if (readValue(widget) !== before) break;
  }
  const now = readValue(widget);
  if (!(Math.abs(wanted - now) < Math.abs(wanted - before))) throw makeUnreachedFailure(widget, wanted);
}

function makeUnreachedFailure(widget: Element, wanted: number): PageFailure {
  return new PageFailure(
    'rejected',
    `Arrow keys do not move the ${computeRole(widget)} to ${wanted}. Its value is ${readValue(widget)}. Press keys with browser_press_key, or drag it.`,
  );
}
