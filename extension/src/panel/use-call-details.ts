import { useRef, useState } from 'preact/hooks';
import type { CallInspectResult } from '../../../wire/wire.gen.ts';
import type { Act } from './requests.ts';
import { removeHidden } from './wording.ts';

/** LoadedDetails are the details of a call that the panel loads when the user opens a part that needs them. */
export interface LoadedDetails {
  /** details is undefined until the server has answered. */
  readonly details: CallInspectResult | undefined;
  /** error is the reason why the details could not be loaded; empty for none. */
  readonly error: string;
  /** load loads the details, unless they are loaded. */
  load(): void;
  /** reload loads the details again. */
  reload(): Promise<void>;
}

/** useCallDetails loads the details of a call once, however many parts of the call need them. */
export function useCallDetails(callId: string, act: Act): LoadedDetails {
  const [details, setDetails] = useState<CallInspectResult>();
  const [error, setError] = useState('');
  const isLoading = useRef(false);
  const reload = async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    const { call, error } = await act({ op: 'inspectCall', callId });
    isLoading.current = false;
    if (call) setDetails(call);
    setError(removeHidden(error ?? (call ? '' : 'The server sent no details of this call.')));
  };
  return { details, error, reload, load: () => void (details || reload()) };
}
