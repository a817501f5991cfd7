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
   * The field `permission` is undefined for a tool without its own permission, to which the plugin's permission
   * applies.
   */
  readonly permission: Permission | undefined;
  readonly inheritedPermission?: Permission;
  readonly sendAction: SendAction;
}

/** InheritOption is the select option that removes a tool's permission, so that the plugin's permission applies. */
const InheritOption = 'default';

export function PermissionSelect({
  label,
  plugin,
  tool,
  permission,
  inheritedPermission,
  sendAction,
}: PermissionSelectProps): VNode {
  const { isBusy, error, runAction } = usePanelAction(sendAction);
  const currentPermission = permission ?? InheritOption;
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
        class={shownPermission === InheritOption ? 'inherits' : shownPermission}
        aria-label={label}
        aria-busy={isBusy}
        value={shownPermission}
        onChange={(event) => choosePermission(event.currentTarget.value)}
      >
        {inheritedPermission && <option value={InheritOption}>{`Default (${inheritedPermission})`}</option>}
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
