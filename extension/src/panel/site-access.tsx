import type { VNode } from 'preact';
import { AllSitesPattern, makeSitePattern, type SitePermissions } from '../chrome-permissions.ts';
import { ErrorText, ToggleSwitch } from './choice.tsx';
import { usePermissionChange } from './permission-change.ts';

export interface SiteAccessProps extends SitePermissions {
  readonly shownHost: string | undefined;
  /** Chrome allows requests for access to sites only in response to a user's click. */
  grant(pattern: string): Promise<boolean>;
  revoke(pattern: string): Promise<boolean>;
}

export function AllowSite({
  host,
  grantAccess,
}: {
  readonly host: string;
  grantAccess: SiteAccessProps['grant'];
}): VNode {
  const { error, changePermission } = usePermissionChange(() => grantAccess(makeSitePattern(host)), 'grant');
  return (
    <>
      <button type="button" onClick={() => void changePermission()}>
        Allow on {host}
      </button>
      <ErrorText errorText={error} />
    </>
  );
}

export function NeededSites({
  hosts,
  grantAccess,
}: {
  readonly hosts: readonly string[];
  grantAccess: SiteAccessProps['grant'];
}): VNode {
  return (
    <>
      {hosts.map((host) => (
        <section key={host} class="notice quiet" role="note">
          <h2>An agent needs access to {host}.</h2>
          <p>Chrome lets opentabs use only the sites that you allow. Press the button only if you expected this.</p>
          <AllowSite host={host} grantAccess={grantAccess} />
        </section>
      ))}
    </>
  );
}

/** ChromeSites lists the sites that Chrome lets the extension access, and lets the user add and remove sites. */
export function ChromeSites(siteAccessProps: SiteAccessProps): VNode | null {
  const { patterns, isOptional, shownHost, grant: grantAccess, revoke: revokeAccess } = siteAccessProps;
  const hasAllSites = patterns.includes(AllSitesPattern);
  const grantAll = usePermissionChange(() => grantAccess(AllSitesPattern), 'grant');
  const revokeAll = usePermissionChange(() => revokeAccess(AllSitesPattern), 'revoke');
  if (hasAllSites && !isOptional) return null;
  const canAllowShown = shownHost !== undefined && !hasAllSites && !patterns.includes(makeSitePattern(shownHost));
  return (
    <section aria-labelledby="chrome-sites">
      <h2 id="chrome-sites">Sites in Chrome</h2>
      <p class="note">Chrome lets opentabs use only these sites. Agents also need your approval for each site.</p>
      <ul class="card">
        <li>
          <ToggleSwitch
            label="All sites"
            current={hasAllSites}
            isBusy={false}
            sendChoice={(on) => (on ? grantAll.changePermission() : revokeAll.changePermission())}
          />
          <p class="note">Pictures of pages need access to all sites.</p>
          <ErrorText errorText={grantAll.error || revokeAll.error} />
        </li>
        {patterns
          .filter((pattern) => pattern !== AllSitesPattern)
          .map((pattern) => (
            <AllowedSite key={pattern} pattern={pattern} revokeAccess={revokeAccess} />
          ))}
        {canAllowShown && (
          <li>
            <AllowSite host={shownHost} grantAccess={grantAccess} />
          </li>
        )}
      </ul>
    </section>
  );
}

function AllowedSite({
  pattern,
  revokeAccess,
}: {
  readonly pattern: string;
  revokeAccess: SiteAccessProps['revoke'];
}): VNode {
  const { error, changePermission } = usePermissionChange(() => revokeAccess(pattern), 'revoke');
  const host = pattern.replace(/^\*:\/\//, '').replace(/\/\*$/, '');
  return (
    <li class="head">
      <span>{host}</span>
      <button type="button" aria-label={`Remove access to ${host}`} onClick={() => void changePermission()}>
        Remove
      </button>
      <ErrorText errorText={error} />
    </li>
  );
}
