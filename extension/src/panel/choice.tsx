import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionResult } from '../panel-message.ts';

/** useOptimisticChoice makes a control show the user's choice until the server confirms or rejects the choice. */
export function useOptimisticChoice<T>(current: T, send: (value: T) => Promise<ActionResult>): [T, (value: T) => void] {
  const [chosenValue, setChosenValue] = useState<{ readonly value: T; readonly before: T }>();
  const shownValue = chosenValue?.before === current ? chosenValue.value : current;
  // When the server's value changes, the control drops the user's choice, which would otherwise reappear later.
  if (chosenValue && chosenValue.before !== current) setChosenValue(undefined);
  const choose = async (value: T) => {
    setChosenValue({ value, before: current });
    const { error } = await send(value);
    if (error !== undefined) setChosenValue(undefined);
  };
  return [shownValue, (value) => void choose(value)];
}

interface SwitchProps {
  readonly label: ComponentChildren;
  readonly current: boolean;
  readonly busy: boolean;
  send(on: boolean): Promise<ActionResult>;
}

/** Switch is a toggle that changes at once when clicked, and reverts if the server rejects the change. */
export function Switch({ label, current, busy, send }: SwitchProps): VNode {
  const [on, choose] = useOptimisticChoice(current, send);
  return (
    <label>
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        checked={on}
        aria-busy={busy}
        onChange={(event) => choose(event.currentTarget.checked)}
      />{' '}
      {label}
    </label>
  );
}

export function ErrorText({ text }: { readonly text: string }): VNode | null {
  return text === '' ? null : (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
