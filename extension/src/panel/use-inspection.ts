import { useEffect, useState } from 'preact/hooks';
import type { PluginInspectResult } from '../../../wire/wire.gen.ts';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';

/** LoadedInspection is the description of a plugin, which the server reads from the plugin's files. */
export interface LoadedInspection {
  /** inspection is undefined until the server sends the description of the plugin. */
  readonly inspection: PluginInspectResult | undefined;
  readonly isBusy: boolean;
  /** error is the reason why the description could not be loaded, or empty without an error. */
  readonly error: string;
  load(): Promise<void>;
}

/** useInspection requests the description of a plugin once, and again when load is called. */
export function useInspection(plugin: string, act: Act): LoadedInspection {
  const [inspection, setInspection] = useState<PluginInspectResult>();
  const { isBusy, error, run } = usePanelAction(act);
  const load = async () => {
    const { inspected } = await run({ op: 'inspectPlugin', plugin });
    if (inspected) setInspection(inspected);
  };
  useEffect(() => void load(), []);
  return { inspection, isBusy, error, load };
}
