import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PluginView } from '../../../wire/wire.gen.ts';
import { ErrorText, ToggleSwitch } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';
import { adapterAccessNote, removeHiddenCharacters } from './wording.ts';

interface NestedCallPermissionsProps {
  readonly plugin: PluginView;
  readonly otherPlugins: readonly string[];
  readonly sendAction: SendAction;
}

export function NestedCallPermissions({ plugin, otherPlugins, sendAction }: NestedCallPermissionsProps): VNode | null {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const { name } = plugin;
  const calls = plugin.calls ?? [];
  const deniedPlugins = plugin.refused ?? [];
  const [isExpanded, setOpen] = useState(false);
  const setAllowed = (otherPlugin: string, isAllowed: boolean) =>
    runAction({ op: 'calls', params: { plugin: name, other: otherPlugin, allowed: isAllowed } });
  const listedPlugins = [...calls, ...deniedPlugins];
  const unlistedPlugins = otherPlugins.filter(
    (otherPlugin) => otherPlugin !== name && !listedPlugins.includes(otherPlugin),
  );
  if (listedPlugins.length + unlistedPlugins.length === 0) return null;
  const isOpen = isExpanded || deniedPlugins.length > 0;
  return (
    <details class="calling" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="fold">
        {calls.length === 0 ? 'May call no other plugin' : `May call ${calls.map(removeHiddenCharacters).join(', ')}`}
        {deniedPlugins.length > 0 && <span class="needs">a call was denied</span>}
      </summary>
      <ul>
        {listedPlugins.map((otherPlugin) => (
          <li key={otherPlugin}>
            <ToggleSwitch
              label={`May call ${removeHiddenCharacters(otherPlugin)}`}
              current={calls.includes(otherPlugin)}
              isBusy={isBusy}
              sendChoice={(isAllowed) => setAllowed(otherPlugin, isAllowed)}
            />
            {deniedPlugins.includes(otherPlugin) && <span class="note"> The plugin tried to call it.</span>}
          </li>
        ))}
      </ul>
      {isOpen && unlistedPlugins.length > 0 && (
        <select
          aria-label={`Allow ${name} to call another plugin`}
          value=""
          onChange={(event) => {
            const otherPlugin = event.currentTarget.value;
            if (otherPlugin) void setAllowed(otherPlugin, true);
          }}
        >
          <option value="">Allow calls to another plugin…</option>
          {unlistedPlugins.map((unlistedPlugin) => (
            <option key={unlistedPlugin} value={unlistedPlugin}>
              {removeHiddenCharacters(unlistedPlugin)}
            </option>
          ))}
        </select>
      )}
      <ErrorText errorText={error} />
    </details>
  );
}

/** AdapterAccessSwitch is a switch that gives a late adapter its secret settings and lets it call other plugins. */
export function AdapterAccessSwitch({
  plugin,
  sendAction,
}: {
  readonly plugin: PluginView;
  readonly sendAction: SendAction;
}): VNode | null {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  if (!plugin.late) return null;
  return (
    <div class="late">
      <ToggleSwitch
        label="Secret settings and calls to other plugins"
        current={plugin.lateAccess === true}
        isBusy={isBusy}
        sendChoice={(isAllowed) => runAction({ op: 'lateAccess', params: { plugin: plugin.name, allowed: isAllowed } })}
      />
      <p class="note">{adapterAccessNote}</p>
      <ErrorText errorText={error} />
    </div>
  );
}
