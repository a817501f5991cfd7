import { useState } from 'preact/hooks';
import type { Action, ActionResult } from '../panel-message.ts';
import type { Act } from './requests.ts';
import { removeHidden } from './wording.ts';

/** PanelAction is the state of the last action of one part of the panel. */
export interface PanelAction {
  /** isBusy is true until the worker answers the action. */
  readonly isBusy: boolean;
  /** error is the reason why the last action failed, as plain text; empty if the action succeeded. */
  readonly error: string;
  run(action: Action): Promise<ActionResult>;
}

/**
 * usePanelAction keeps the result of the last action, so that the panel can show an error beside the button of the
 * action.
 */
export function usePanelAction(act: Act): PanelAction {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const run = async (action: Action) => {
    setBusy(true);
    setError('');
    const done = await act(action);
    setBusy(false);
    setError(removeHidden(done.error ?? ''));
    return done;
  };
  return { isBusy: busy, error, run };
}
