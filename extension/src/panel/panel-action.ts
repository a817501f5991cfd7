import { useState } from 'preact/hooks';
import type { Action, ActionResult } from '../panel-message.ts';
import type { SendAction } from './requests.ts';
import { removeHiddenCharacters } from './wording.ts';

export interface PanelAction {
  readonly isBusy: boolean;
  /** The field `error` is the reason why the last action failed, as plain text, or empty if the action succeeded. */
  readonly error: string;
  runAction(action: Action): Promise<ActionResult>;
}

/**
 * usePanelAction returns a PanelAction for one component, so that an error appears beside the button that the user
 * clicked.
 */
export function usePanelAction(sendAction: SendAction): PanelAction {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const runAction = async (action: Action) => {
    setBusy(true);
    setError('');
    const actionResult = await sendAction(action);
    setBusy(false);
    setError(removeHiddenCharacters(actionResult.error ?? ''));
    return actionResult;
  };
  return { isBusy, error, runAction };
}
