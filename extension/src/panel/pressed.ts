import { useState } from 'preact/hooks';
import type { Action, Done } from '../panel-message.ts';
import type { Act } from './requests.ts';
import { plain } from './wording.ts';

/** Pressed is how the last action of one place in the panel stands. */
export interface Pressed {
  /** busy is true until the worker has answered. */
  readonly busy: boolean;
  /** error says why the last action did nothing, as plain text; empty if it did. */
  readonly error: string;
  run(action: Action): Promise<Done>;
}

/** usePressed keeps what became of the last action, so that it is shown where the person pressed. */
export function usePressed(act: Act): Pressed {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const run = async (action: Action) => {
    setBusy(true);
    setError('');
    const done = await act(action);
    setBusy(false);
    setError(plain(done.error ?? ''));
    return done;
  };
  return { busy, error, run };
}
