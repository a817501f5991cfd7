import { useRef, useState } from 'preact/hooks';
import type { CallInspectResult } from '../../../wire/wire.gen.ts';
import type { SendAction } from './requests.ts';
import { removeHiddenCharacters } from './wording.ts';

/** LoadedDetails contains details of a call that the panel loads only on demand, such as its timing. */
export interface LoadedDetails {
  /** details is undefined until the server has sent the details of the call. */
  readonly details: CallInspectResult | undefined;
  /** error is the reason why the details of the call could not be loaded, or empty. */
  readonly error: string;
  /** load loads the details of the call, unless they are already loaded. */
  load(): void;
  /** reload loads the details of the call again. */
  reload(): Promise<void>;
}

/** useCallDetails loads the details of a call once, even if several components need them. */
export function useCallDetails(callId: string, act: SendAction): LoadedDetails {
  const [details, setDetails] = useState<CallInspectResult>();
  const [error, setError] = useState('');
  const isLoading = useRef(false);
  const reload = async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    const { call, error } = await act({ op: 'inspectCall', callId });
    isLoading.current = false;
    if (call) setDetails(call);
    setError(removeHiddenCharacters(error ?? (call ? '' : 'The server sent no details of this call.')));
  };
  return { details, error, reload, load: () => void (details || reload()) };
}
