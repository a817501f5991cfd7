import { useEffect, useState } from 'preact/hooks';
import type { PluginInspectResult } from '../../../wire/wire.gen.ts';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';

/** LoadedInspection contains what the server read from a plugin's files for a review, such as tool descriptions. */
export interface LoadedInspection {
  readonly inspection: PluginInspectResult | undefined;
  readonly isBusy: boolean;
  readonly error: string;
  loadInspection(): Promise<void>;
}

export function useInspection(plugin: string, sendAction: SendAction): LoadedInspection {
  const [inspection, setInspection] = useState<PluginInspectResult>();
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const loadInspection = async () => {
    const { inspected } = await runAction({ op: 'inspectPlugin', plugin });
    if (inspected) setInspection(inspected);
  };
  useEffect(() => void loadInspection(), []);
  return { inspection, isBusy, error, loadInspection };
}
