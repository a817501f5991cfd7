import type { VNode } from 'preact';
import { type Permission, Permissions } from '../../../wire/wire.gen.ts';
import { useChoice } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { Act } from './requests.ts';

export interface PermissionSelectProps {
  readonly label: string;
  readonly plugin: string;
  /** tool is absent for the permission of the whole plugin. */
  readonly tool?: string;
  /** permission is absent if the tool inherits the permission of its plugin. */
  readonly permission: Permission | undefined;
  readonly inherited?: Permission;
  readonly act: Act;
}

/** Inherit is the option that removes a tool's own permission. */
const Inherit = 'default';

/** PermissionSelect shows and changes a permission. It reverts the choice if the server rejects it. */
export function PermissionSelect({ label, plugin, tool, permission, inherited, act }: PermissionSelectProps): VNode {
  const { busy, error, run } = usePanelAction(act);
  const current = permission ?? Inherit;
  const [shown, choose] = useChoice<string>(current, (value) => {
    const wanted = Permissions.find((known) => known === value);
    const params = { plugin, ...(tool === undefined ? {} : { tool }), ...(wanted ? { permission: wanted } : {}) };
    return run({ op: 'permission', params });
  });
  return (
    <span class="permission">
      <select
        class={shown === Inherit ? 'inherits' : shown}
        aria-label={label}
        aria-busy={busy}
        value={shown}
        onChange={(event) => choose(event.currentTarget.value)}
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
