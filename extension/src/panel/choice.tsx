import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionResult } from '../panel-message.ts';

/**
 * useChoice returns the value that a control shows and a function that changes the value. A new choice is shown at
 * once, until the value of the server changes or the server rejects the choice.
 */
export function useChoice<T>(current: T, send: (value: T) => Promise<ActionResult>): [T, (value: T) => void] {
  const [chosenValue, setChosenValue] = useState<{ readonly value: T; readonly before: T }>();
  const shownValue = chosenValue?.before === current ? chosenValue.value : current;
  // The user's choice is dropped, so that the choice does not reappear when another surface restores the old value.
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
  /** current is the value that the server sent. */
  readonly current: boolean;
  readonly busy: boolean;
  send(on: boolean): Promise<ActionResult>;
}

/** Switch shows a choice at once, and reverts the choice if the server rejects the change. */
export function Switch({ label, current, busy, send }: SwitchProps): VNode {
  const [on, choose] = useChoice(current, send);
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

/** ErrorText shows why an action failed, and nothing for an empty string. */
export function ErrorText({ text }: { readonly text: string }): VNode | null {
  return text === '' ? null : (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
