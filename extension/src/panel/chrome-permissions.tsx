import type { VNode } from 'preact';
import type { OptionalPermission } from '../chrome-permissions.ts';
import { ErrorText, ToggleSwitch } from './choice.tsx';
import { usePermissionChange } from './permission-change.ts';
import { permissionTexts } from './wording.ts';

export interface ChromePermissionsProps {
  readonly permissions: readonly OptionalPermission[];
  /** Chrome allows requests for permissions only in response to a user's click. */
  grantPermission(name: OptionalPermission['name']): Promise<boolean>;
  revokePermission(name: OptionalPermission['name']): Promise<boolean>;
}

export function ChromePermissions(permissionsProps: ChromePermissionsProps): VNode | null {
  if (permissionsProps.permissions.length === 0) return null;
  return (
    <section aria-labelledby="chrome-permissions">
      <h2 id="chrome-permissions">Permissions of Chrome</h2>
      <p class="note">Some tools need a permission that the extension does not have at first.</p>
      <ul class="card">
        {permissionsProps.permissions.map((permission) => (
          <ChromePermission key={permission.name} permission={permission} {...permissionsProps} />
        ))}
      </ul>
    </section>
  );
}

function ChromePermission({
  permission: { name, isGranted },
  grantPermission,
  revokePermission,
}: ChromePermissionsProps & { readonly permission: OptionalPermission }): VNode {
  const { title, permissionEffect } = permissionTexts[name];
  const permissionGrant = usePermissionChange(() => grantPermission(name), 'grant');
  const permissionRevocation = usePermissionChange(() => revokePermission(name), 'revoke');
  return (
    <li>
      <ToggleSwitch
        label={title}
        current={isGranted}
        isBusy={false}
        sendChoice={(on) => (on ? permissionGrant.changePermission() : permissionRevocation.changePermission())}
      />
      <p class="note">{permissionEffect}</p>
      <ErrorText errorText={permissionGrant.error || permissionRevocation.error} />
    </li>
  );
}
