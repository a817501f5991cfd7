// Changes the values of lists, sliders, number fields and radio buttons, as the browser does for trusted key presses.
import type { Key } from './keys.ts';
import { focusElement } from './pointer.ts';

/**
 * changeValue performs a key that changes the value of an element, and describes the effect; an empty string means that
 * the value is unchanged. changeValue returns undefined if the keys of the element change no value.
 */
export function changeValue(target: Element, key: Key): string | undefined {
  if (target instanceof HTMLSelectElement)
    return key.text ? selectByFirstCharacter(target, key.text) : moveSelectedOption(target, key.key);
  if (!(target instanceof HTMLInputElement)) return undefined;
  if (target.type === 'radio') return moveSelectedRadio(target, key.key);
  if (target.type === 'range') return stepSlider(target, key.key);
  const isStepKey = target.type === 'number' && /^Arrow(Up|Down)$/.test(key.key) && !target.readOnly;
  return isStepKey ? stepValue(target, key.key === 'ArrowUp') : undefined;
}

function getArrowKeyStep(key: string): number {
  return /^Arrow(Down|Right)$/.test(key) ? 1 : /^Arrow(Up|Left)$/.test(key) ? -1 : 0;
}

/** selectByFirstCharacter selects the next option of a select element whose text begins with a character. */
function selectByFirstCharacter(selectElement: HTMLSelectElement, character: string): string {
  if (selectElement.multiple) return '';
  const options = [...selectElement.options];
  const searchOrder = [
    ...options.slice(selectElement.selectedIndex + 1),
    ...options.slice(0, selectElement.selectedIndex + 1),
  ];
  const begin = character.toLowerCase();
  const nextOption = searchOrder.find(
    (option) => !option.disabled && option.label.trim().toLowerCase().startsWith(begin),
  );
  if (!nextOption || nextOption.selected) return '';
  nextOption.selected = true;
  dispatchValueEvents(selectElement);
  return 'chose another option';
}

function moveSelectedOption(selectElement: HTMLSelectElement, key: string): string {
  const keyStep = getArrowKeyStep(key);
  const options = [...selectElement.options];
  const nextOption = options.findIndex(
    (option, i) =>
      (keyStep > 0 ? i > selectElement.selectedIndex : i === selectElement.selectedIndex - 1) && !option.disabled,
  );
  if (keyStep === 0 || nextOption < 0 || selectElement.multiple) return '';
  selectElement.selectedIndex = nextOption;
  dispatchValueEvents(selectElement);
  return 'chose another option';
}

function moveSelectedRadio(input: HTMLInputElement, key: string): string | undefined {
  const keyStep = getArrowKeyStep(key);
  if (keyStep === 0) return undefined;
  const searchScope: ParentNode = input.form ?? document;
  const radioGroup = [...searchScope.querySelectorAll('input[type=radio]')].filter(
    (otherInput) => otherInput instanceof HTMLInputElement && otherInput.name === input.name && !otherInput.disabled,
  );
  const nextOption = radioGroup[(radioGroup.indexOf(input) + keyStep + radioGroup.length) % radioGroup.length];
  if (!(nextOption instanceof HTMLInputElement) || nextOption === input) return '';
  focusElement(nextOption);
  nextOption.click();
  return nextOption.checked ? 'chose another button' : '';
}

/** stepSlider moves a slider. The keys ArrowUp and ArrowRight increase the value of a slider. */
function stepSlider(input: HTMLInputElement, key: string): string | undefined {
  const [minValue, maxValue] = [Number(input.min || 0), Number(input.max || 100)];
  const tenthOfRange = (maxValue - minValue) / 10;
  switch (key) {
    case 'ArrowUp':
    case 'ArrowRight':
      return stepValue(input, true);
    case 'ArrowDown':
    case 'ArrowLeft':
      return stepValue(input, false);
    case 'Home':
      return setFieldNumber(input, minValue);
    case 'End':
      return setFieldNumber(input, maxValue);
    case 'PageUp':
    case 'PageDown': {
      const keyStep = Math.max(tenthOfRange, Number(input.step) || 1);
      return setFieldNumber(input, input.valueAsNumber + (key === 'PageUp' ? keyStep : -keyStep));
    }
  }
  return undefined;
}

function stepValue(input: HTMLInputElement, isIncreasing: boolean): string {
  if (input.step.toLowerCase() === 'any') {
    const keyStep = input.type === 'range' ? (Number(input.max || 100) - Number(input.min || 0)) / 100 : 1;
    return setFieldNumber(input, (input.valueAsNumber || 0) + (isIncreasing ? keyStep : -keyStep));
  }
  const valueBefore = input.value;
  if (isIncreasing) input.stepUp();
  else input.stepDown();
  return reportValue(input, valueBefore);
}

function setFieldNumber(input: HTMLInputElement, value: number): string {
  const valueBefore = input.value;
  input.value = String(value);
  return reportValue(input, valueBefore);
}

/**
 * reportValue dispatches the events of a changed value and describes the change, or returns an empty string if the
 * value is unchanged.
 */
function reportValue(input: HTMLInputElement, valueBefore: string): string {
  if (input.value === valueBefore) return '';
  dispatchValueEvents(input);
  return 'changed the value';
}

function dispatchValueEvents(element: Element): void {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}
