import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Permission, Permissions } from '../../../wire/wire.gen.ts';
import { usePressed } from './pressed.ts';
import type { Act } from './requests.ts';

export interface PermissionSelectProps {
  readonly label: string;
  readonly plugin: string;
  /** tool is absent for the plugin's own permission. */
  readonly tool?: string;
  /** permission is absent where the inherited one holds. */
  readonly permission: Permission | undefined;
  readonly inherited?: Permission;
  readonly act: Act;
}

/** Inherit is the choice of a tool to have no permission of its own. */
const Inherit = 'default';

/** PermissionSelect shows a permission and changes it; it goes back to what holds if the server refuses. */
export function PermissionSelect({ label, plugin, tool, permission, inherited, act }: PermissionSelectProps): VNode {
  const { busy, error, run } = usePressed(act);
  const holds = permission ?? Inherit;
  /** chosen is shown from the choice until the server's list changes or it refuses. */
  const [chosen, setChosen] = useState<{ readonly value: string; readonly before: string }>();
  const shown = chosen && chosen.before === holds ? chosen.value : holds;
  // Forgotten, not only hidden: it must not come back when another surface sets what held before.
  if (chosen && chosen.before !== holds) setChosen(undefined);
  const choose = async (value: string) => {
    setChosen({ value, before: holds });
    const wanted = Permissions.find((known) => known === value);
    const params = { plugin, ...(tool === undefined ? {} : { tool }), ...(wanted ? { permission: wanted } : {}) };
    const { error } = await run({ op: 'permission', params });
    if (error !== undefined) setChosen(undefined);
  };
  return (
    <span class="permission">
      <select
        class={shown === Inherit ? 'inherits' : shown}
        aria-label={label}
        aria-busy={busy}
        value={shown}
        onChange={(event) => void choose(event.currentTarget.value)}
      >
        {inherited && <option value={Inherit}>{`Default (${inherited})`}</option>}
        {Permissions.map((known) => (
          <option key={known} value={known}>
            {known}
          </option>
        ))}
      </select>
      {error && (
        <span class="error" role="alert">
          {error}
        </span>
      )}
    </span>
  );
}
