import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionResult } from '../panel-message.ts';

/** useOptimisticChoice makes a control show the user's choice until the server confirms or rejects the choice. */
export function useOptimisticChoice<T>(
  currentValue: T,
  sendChoice: (value: T) => Promise<ActionResult>,
): [T, (value: T) => void] {
  const [chosenValue, setChosenValue] = useState<{ readonly value: T; readonly previousValue: T }>();
  const shownValue = chosenValue?.previousValue === currentValue ? chosenValue.value : currentValue;
  // When the server's value changes, the control drops the user's choice, which would otherwise reappear later.
  if (chosenValue && chosenValue.previousValue !== currentValue) setChosenValue(undefined);
  const chooseValue = async (value: T) => {
    setChosenValue({ value, previousValue: currentValue });
    const { error } = await sendChoice(value);
    if (error !== undefined) setChosenValue(undefined);
  };
  return [shownValue, (value) => void chooseValue(value)];
}

interface SwitchProps {
  readonly label: ComponentChildren;
  readonly current: boolean;
  readonly isBusy: boolean;
  sendChoice(isOn: boolean): Promise<ActionResult>;
}

/** ToggleSwitch is a toggle that changes at once when clicked, and reverts if the server rejects the change. */
export function ToggleSwitch({ label, current: currentValue, isBusy, sendChoice }: SwitchProps): VNode {
  const [isOn, chooseValue] = useOptimisticChoice(currentValue, sendChoice);
  return (
    <label>
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        aria-busy={isBusy}
        onChange={(event) => chooseValue(event.currentTarget.checked)}
      />{' '}
      {label}
    </label>
  );
}

export function ErrorText({ errorText }: { readonly errorText: string }): VNode | null {
  return errorText === '' ? null : (
    <p class="error" role="alert">
      {errorText}
    </p>
  );
}
