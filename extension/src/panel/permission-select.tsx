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
  readonly inheritedPermission?: Permission;
  readonly sendAction: SendAction;
}

/** Inherit is the select option that removes a tool's permission, so that the plugin's permission applies. */
const Inherit = 'default';

export function PermissionSelect({
  label,
  plugin,
  tool,
  permission,
  inheritedPermission,
  sendAction,
}: PermissionSelectProps): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const currentPermission = permission ?? Inherit;
  const [shownPermission, choosePermission] = useOptimisticChoice<string>(currentPermission, (chosenValue) => {
    const newPermission = Permissions.find((knownPermission) => knownPermission === chosenValue);
    const params = {
      plugin,
      ...(tool === undefined ? {} : { tool }),
      ...(newPermission ? { permission: newPermission } : {}),
    };
    return runAction({ op: 'permission', params });
  });
  return (
    <span class="permission">
      <select
        class={shownPermission === Inherit ? 'inherits' : shownPermission}
        aria-label={label}
        aria-busy={isBusy}
        value={shownPermission}
        onChange={(event) => choosePermission(event.currentTarget.value)}
      >
        {inheritedPermission && <option value={Inherit}>{`Default (${inheritedPermission})`}</option>}
        {Permissions.map((knownPermission) => (
          <option key={knownPermission} value={knownPermission}>
            {knownPermission}
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
