// Changes the values of lists, sliders, number fields and radio buttons, as the browser does for trusted key presses.
import type { Key } from './keys.ts';
import { focusElement } from './pointer.ts';

/**
 * changeValue changes the value of an element by a key, and returns what the key did; empty if the value is the same as
 * before. changeValue returns undefined if the keys of the element change no value.
 */
export function changeValue(target: Element, key: Key): string | undefined {
  if (target instanceof HTMLSelectElement)
    return key.text ? selectByFirstCharacter(target, key.text) : moveSelectedOption(target, key.key);
  if (!(target instanceof HTMLInputElement)) return undefined;
  if (target.type === 'radio') return moveSelectedRadio(target, key.key);
  if (target.type === 'range') return stepSlider(target, key.key);
  const isStep = target.type === 'number' && /^Arrow(Up|Down)$/.test(key.key) && !target.readOnly;
  return isStep ? stepValue(target, key.key === 'ArrowUp') : undefined;
}

function getArrowKeyStep(key: string): number {
  return /^Arrow(Down|Right)$/.test(key) ? 1 : /^Arrow(Up|Left)$/.test(key) ? -1 : 0;
}

/** selectByFirstCharacter selects the next option of a select element whose text begins with a character. */
function selectByFirstCharacter(select: HTMLSelectElement, character: string): string {
  if (select.multiple) return '';
  const options = [...select.options];
  const order = [...options.slice(select.selectedIndex + 1), ...options.slice(0, select.selectedIndex + 1)];
  const begin = character.toLowerCase();
  const next = order.find((option) => !option.disabled && option.label.trim().toLowerCase().startsWith(begin));
  if (!next || next.selected) return '';
  next.selected = true;
  dispatchValueEvents(select);
  return 'chose another option';
}

function moveSelectedOption(select: HTMLSelectElement, key: string): string {
  const step = getArrowKeyStep(key);
  const options = [...select.options];
  const next = options.findIndex(
    (option, i) => (step > 0 ? i > select.selectedIndex : i === select.selectedIndex - 1) && !option.disabled,
  );
  if (step === 0 || next < 0 || select.multiple) return '';
  select.selectedIndex = next;
  dispatchValueEvents(select);
  return 'chose another option';
}

function moveSelectedRadio(input: HTMLInputElement, key: string): string | undefined {
  const step = getArrowKeyStep(key);
  if (step === 0) return undefined;
  const scope: ParentNode = input.form ?? document;
  const group = [...scope.querySelectorAll('input[type=radio]')].filter(
    (other) => other instanceof HTMLInputElement && other.name === input.name && !other.disabled,
  );
  const next = group[(group.indexOf(input) + step + group.length) % group.length];
  if (!(next instanceof HTMLInputElement) || next === input) return '';
  focusElement(next);
  next.click();
  return next.checked ? 'chose another button' : '';
}

/** stepSlider moves a slider. The keys ArrowUp and ArrowRight increase the value of a slider. */
function stepSlider(input: HTMLInputElement, key: string): string | undefined {
  const [min, max] = [Number(input.min || 0), Number(input.max || 100)];
  const tenth = (max - min) / 10;
  switch (key) {
    case 'ArrowUp':
    case 'ArrowRight':
      return stepValue(input, true);
    case 'ArrowDown':
    case 'ArrowLeft':
      return stepValue(input, false);
    case 'Home':
      return setNumber(input, min);
    case 'End':
      return setNumber(input, max);
    case 'PageUp':
    case 'PageDown': {
      const step = Math.max(tenth, Number(input.step) || 1);
      return setNumber(input, input.valueAsNumber + (key === 'PageUp' ? step : -step));
    }
  }
  return undefined;
}

function stepValue(input: HTMLInputElement, isUp: boolean): string {
  if (input.step.toLowerCase() === 'any') {
    const step = input.type === 'range' ? (Number(input.max || 100) - Number(input.min || 0)) / 100 : 1;
    return setNumber(input, (input.valueAsNumber || 0) + (isUp ? step : -step));
  }
  const before = input.value;
  if (isUp) input.stepUp();
  else input.stepDown();
  return reportValue(input, before);
}

function setNumber(input: HTMLInputElement, value: number): string {
  const before = input.value;
  input.value = String(value);
  return reportValue(input, before);
}

/** reportValue dispatches the events of a changed value, and returns what the key did; empty without a change. */
function reportValue(input: HTMLInputElement, before: string): string {
  if (input.value === before) return '';
  dispatchValueEvents(input);
  return 'changed the value';
}

function dispatchValueEvents(element: Element): void {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}
