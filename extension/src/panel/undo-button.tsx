import { createContext, type VNode } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { CallView, PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { describeUndo, findUndoTool } from './undo.ts';
import type { LoadedDetails } from './use-call-details.ts';
import { removeHiddenCharacters } from './wording.ts';

export const UndoPlugins = createContext<readonly PluginView[]>([]);

/** ReloadIntervalMs is how often UndoButton asks the server whether a running undo has ended, in milliseconds. */
const ReloadIntervalMs = 1000;

interface UndoButtonProps {
  readonly call: CallView;
  readonly loadedDetails: LoadedDetails;
  readonly act: SendAction;
}

export function UndoButton({ call, loadedDetails, act }: UndoButtonProps): VNode | null {
  const undoTool = findUndoTool(useContext(UndoPlugins), call);
  const { isBusy, error, run } = usePanelAction(act);
  const canUndo = undoTool !== undefined;
  const undo = loadedDetails.callDetails?.undo;
  useEffect(() => {
    if (canUndo) loadedDetails.load();
  }, [canUndo]);
  useEffect(() => {
    if (!canUndo || undo?.state !== 'started') return undefined;
    const timer = setInterval(() => void loadedDetails.reload(), ReloadIntervalMs);
    return () => clearInterval(timer);
  }, [canUndo, undo?.state]);
  if (!canUndo || (!loadedDetails.callDetails && loadedDetails.error === '')) return null;
  const start = async () => {
    const { error } = await run({ op: 'undo', callId: call.callId });
    if (error === undefined) await loadedDetails.reload();
  };
  return (
    <>
      {!undo && (
        <div class="answers">
          <button type="button" aria-disabled={isBusy} onClick={() => void (isBusy || start())}>
            Undo
          </button>
        </div>
      )}
      <p class="note" role="status">
        {undo && describeUndo(undo, removeHiddenCharacters(undoTool))}
      </p>
      <ErrorText text={error} />
    </>
  );
}
