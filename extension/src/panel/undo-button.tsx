import { createContext, type VNode } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { CallView, PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';
import { undoToolOf } from './undo.ts';
import { removeHidden } from './wording.ts';

/** UndoPlugins are the plugins whose tools declare how their calls are undone. */
export const UndoPlugins = createContext<readonly PluginView[]>([]);

interface UndoButtonProps {
  readonly call: CallView;
  readonly act: Act;
}

/** UndoButton undoes a call that is done, if the author of its tool declares how. */
export function UndoButton({ call, act }: UndoButtonProps): VNode | null {
  const undoTool = undoToolOf(useContext(UndoPlugins), call);
  const { isBusy, error, run } = usePanelAction(act);
  const [isStarted, setStarted] = useState(false);
  if (undoTool === undefined) return null;
  const undo = async () => {
    setStarted(false);
    const { error } = await run({ op: 'undo', callId: call.callId });
    setStarted(error === undefined);
  };
  return (
    <>
      <div class="answers">
        <button type="button" aria-disabled={isBusy} onClick={() => void (isBusy || undo())}>
          Undo
        </button>
      </div>
      <p class="note" role="status">
        {isStarted &&
          `Undo started as a new call of ${removeHidden(undoTool)}, with the permissions of the side panel.`}
      </p>
      <ErrorText text={error} />
    </>
  );
}
