import type { VNode } from 'preact';
import type { OptionalPermission } from '../chrome-permissions.ts';
import { ErrorText, Switch } from './choice.tsx';
import { usePermissionChange } from './permission-change.ts';
import { permissionWords } from './wording.ts';

export interface ChromePermissionsProps {
  readonly permissions: readonly OptionalPermission[];
  /** Chrome allows requests for permissions only in response to a user's click. */
  grant(name: OptionalPermission['name']): Promise<boolean>;
  revoke(name: OptionalPermission['name']): Promise<boolean>;
}

export function ChromePermissions(props: ChromePermissionsProps): VNode | null {
  if (props.permissions.length === 0) return null;
  return (
    <section aria-labelledby="chrome-permissions">
      <h2 id="chrome-permissions">Permissions of Chrome</h2>
      <p class="note">Some tools need a permission that the extension does not have at first.</p>
      <ul class="card">
        {props.permissions.map((permission) => (
          <ChromePermission key={permission.name} permission={permission} {...props} />
        ))}
      </ul>
    </section>
  );
}

function ChromePermission({
  permission: { name, isGranted },
  grant,
  revoke,
}: ChromePermissionsProps & { readonly permission: OptionalPermission }): VNode {
  const { title, effect } = permissionWords[name];
  const granting = usePermissionChange(() => grant(name), 'grant');
  const revoking = usePermissionChange(() => revoke(name), 'revoke');
  return (
    <li>
      <Switch
        label={title}
        current={isGranted}
        isBusy={false}
        send={(on) => (on ? granting.change() : revoking.change())}
      />
      <p class="note">{effect}</p>
      <ErrorText text={granting.error || revoking.error} />
    </li>
  );
}
