import { createContext, type VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { CallView, PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { describeUndo, findUndoTool } from './undo.ts';
import type { LoadedDetails } from './use-call-details.ts';
import { removeHiddenCharacters } from './wording.ts';

export const UndoPluginsContext = createContext<readonly PluginView[]>([]);

/** UndoReloadIntervalMs is how often UndoButton asks the server whether a running undo has ended, in milliseconds. */
const UndoReloadIntervalMs = 1000;

interface UndoButtonProps {
  readonly call: CallView;
  readonly loadedDetails: LoadedDetails;
  readonly sendAction: SendAction;
}

export function UndoButton({ call, loadedDetails, sendAction }: UndoButtonProps): VNode | null {
  const undoTool = findUndoTool(useContext(UndoPluginsContext), call);
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const canUndo = undoTool !== undefined;
  const callUndo = loadedDetails.callDetails?.undo;
  useEffect(() => {
    if (canUndo) loadedDetails.loadDetails();
  }, [canUndo]);
  useEffect(() => {
    if (!canUndo || callUndo?.state !== 'started') return undefined;
    const timer = setInterval(() => void loadedDetails.reloadDetails(), UndoReloadIntervalMs);
    return () => clearInterval(timer);
  }, [canUndo, callUndo?.state]);
  if (!canUndo || (!loadedDetails.callDetails && loadedDetails.error === '')) return null;
  const startUndo = async () => {
    const { error } = await runAction({ op: 'undo', callId: call.callId });
    if (error === undefined) await loadedDetails.reloadDetails();
  };
  return (
    <>
      {!callUndo && (
        <div class="answers">
          <button type="button" aria-disabled={isBusy} onClick={() => void (isBusy || startUndo())}>
            Undo
          </button>
        </div>
      )}
      <p class="note" role="status">
        {callUndo && describeUndo(callUndo, removeHiddenCharacters(undoTool))}
      </p>
      <ErrorText errorText={error} />
    </>
  );
}
