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

export function AllowSiteButton({
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

export function SiteAccessRequests({
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
          <AllowSiteButton host={host} grantAccess={grantAccess} />
        </section>
      ))}
    </>
  );
}

/** ChromeSites lists the sites that Chrome lets the extension access, and lets the user add and remove sites. */
export function ChromeSites(siteAccessProps: SiteAccessProps): VNode | null {
  const { patterns, isOptional, shownHost, grant: grantAccess, revoke: revokeAccess } = siteAccessProps;
  const hasAllSitesAccess = patterns.includes(AllSitesPattern);
  const grantAllSites = usePermissionChange(() => grantAccess(AllSitesPattern), 'grant');
  const revokeAllSites = usePermissionChange(() => revokeAccess(AllSitesPattern), 'revoke');
  if (hasAllSitesAccess && !isOptional) return null;
  const canAllowShownHost =
    shownHost !== undefined && !hasAllSitesAccess && !patterns.includes(makeSitePattern(shownHost));
  return (
    <section aria-labelledby="chrome-sites">
      <h2 id="chrome-sites">Sites in Chrome</h2>
      <p class="note">Chrome lets opentabs use only these sites. Agents also need your approval for each site.</p>
      <ul class="card">
        <li>
          <ToggleSwitch
            label="All sites"
            current={hasAllSitesAccess}
            isBusy={false}
            sendChoice={(on) => (on ? grantAllSites.changePermission() : revokeAllSites.changePermission())}
          />
          <p class="note">Pictures of pages need access to all sites.</p>
          <ErrorText errorText={grantAllSites.error || revokeAllSites.error} />
        </li>
        {patterns
          .filter((pattern) => pattern !== AllSitesPattern)
          .map((pattern) => (
            <AllowedSiteRow key={pattern} pattern={pattern} revokeAccess={revokeAccess} />
          ))}
        {canAllowShownHost && (
          <li>
            <AllowSiteButton host={shownHost} grantAccess={grantAccess} />
          </li>
        )}
      </ul>
    </section>
  );
}

function AllowedSiteRow({
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
