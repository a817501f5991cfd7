import { useEffect, useState } from 'preact/hooks';
import type { PluginInspectResult } from '../../../wire/wire.gen.ts';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';

/** LoadedInspection is what the server reads from a plugin's files for a review, such as tool descriptions. */
export interface LoadedInspection {
  /** inspection is undefined until the server has sent what it read from the plugin's files. */
  readonly inspection: PluginInspectResult | undefined;
  readonly isBusy: boolean;
  /** error is the reason why the plugin's files could not be inspected, or empty. */
  readonly error: string;
  load(): Promise<void>;
}

/** useInspection makes the server inspect a plugin's files once, and again when load is called. */
export function useInspection(plugin: string, act: SendAction): LoadedInspection {
  const [inspection, setInspection] = useState<PluginInspectResult>();
  const { isBusy, error, run } = usePanelAction(act);
  const load = async () => {
    const { inspected } = await run({ op: 'inspectPlugin', plugin });
    if (inspected) setInspection(inspected);
  };
  useEffect(() => void load(), []);
  return { inspection, isBusy, error, load };
}
