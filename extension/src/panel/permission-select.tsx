import type { VNode } from 'preact';
import { type Permission, Permissions } from '../../../wire/wire.gen.ts';
import { useOptimisticChoice } from './choice.tsx';
import { usePanelAction } from './panel-action.ts';
import type { SendAction } from './requests.ts';

export interface PermissionSelectProps {
  readonly label: string;
  readonly plugin: string;
  readonly tool?: string;
  /**
   * The field `permission` is undefined if the user set none for the tool, which then has the permission of its plugin.
   */
  readonly permission: Permission | undefined;
  readonly inherited?: Permission;
  readonly act: SendAction;
}

/** Inherit is the select option that removes a tool's permission, so that the plugin's permission applies. */
const Inherit = 'default';

export function PermissionSelect({ label, plugin, tool, permission, inherited, act }: PermissionSelectProps): VNode {
  const { isBusy, error, run } = usePanelAction(act);
  const current = permission ?? Inherit;
  const [shownPermission, choose] = useOptimisticChoice<string>(current, (value) => {
    const newPermission = Permissions.find((known) => known === value);
    const params = {
      plugin,
      ...(tool === undefined ? {} : { tool }),
      ...(newPermission ? { permission: newPermission } : {}),
    };
    return run({ op: 'permission', params });
  });
  return (
    <span class="permission">
      <select
        class={shownPermission === Inherit ? 'inherits' : shownPermission}
        aria-label={label}
        aria-busy={isBusy}
        value={shownPermission}
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
