import { useRef, useState } from 'preact/hooks';
import type { CallInspectResult } from '../../../wire/wire.gen.ts';
import type { SendAction } from './requests.ts';
import { removeHiddenCharacters } from './wording.ts';

/** LoadedDetails contains details of a call that the panel loads only on demand, such as its timing. */
export interface LoadedDetails {
  readonly callDetails: CallInspectResult | undefined;
  readonly error: string;
  loadDetails(): void;
  reloadDetails(): Promise<void>;
}

export function useCallDetails(callId: string, sendAction: SendAction): LoadedDetails {
  const [callDetails, setDetails] = useState<CallInspectResult>();
  const [error, setError] = useState('');
  const isLoading = useRef(false);
  const reloadDetails = async () => {
    if (isLoading.current) return;
    isLoading.current = true;
    const { call, error } = await sendAction({ op: 'inspectCall', callId });
    isLoading.current = false;
    if (call) setDetails(call);
    setError(removeHiddenCharacters(error ?? (call ? '' : 'The server sent no details of this call.')));
  };
  return { callDetails, error, reloadDetails, loadDetails: () => void (callDetails || reloadDetails()) };
}
