// The functions in this file wrap Chrome's API chrome.permissions. The user grants optional permissions with a click in
// the side panel.

/** hasPermission reports whether the user has granted an optional permission. */
export function hasPermission(permission: chrome.runtime.ManifestPermission): Promise<boolean> {
  return chrome.permissions.contains({ permissions: [permission] });
}

/**
 * optionalPermissionNames are the Chrome permissions that the user can grant in the side panel, in the panel's order.
 */
export const optionalPermissionNames = [
  'tabGroups',
  'downloads',
  'history',
  'bookmarks',
  'sessions',
  'cookies',
  'browsingData',
] as const;

/**
 * OptionalPermission describes one optional permission from the manifest: its name, and whether the user has granted
 * it.
 */
export interface OptionalPermission {
  readonly name: (typeof optionalPermissionNames)[number];
  readonly isGranted: boolean;
}

/** listOptionalPermissions returns the optional permissions in the manifest, in the order of the side panel. */
export async function listOptionalPermissions(): Promise<OptionalPermission[]> {
  const optional: readonly string[] = chrome.runtime.getManifest().optional_permissions ?? [];
  const { permissions = [] } = await chrome.permissions.getAll();
  return optionalPermissionNames
    .filter((name) => optional.includes(name))
    .map((name) => ({ name, isGranted: permissions.includes(name) }));
}

/**
 * grantPermission requests an optional permission from Chrome, and reports whether the extension then has the
 * permission. Chrome allows grantPermission only while the extension handles a user's click.
 */
export async function grantPermission(name: OptionalPermission['name']): Promise<boolean> {
  return await chrome.permissions.request({ permissions: [name] });
}

/**
 * revokePermission removes an optional permission, and reports whether the extension no longer has the permission.
 */
export async function revokePermission(name: OptionalPermission['name']): Promise<boolean> {
  return await chrome.permissions.remove({ permissions: [name] });
}

/** SitePermissions are the sites to which Chrome gives the extension access. */
export interface SitePermissions {
  /** patterns contains Chrome match patterns such as `*://example.com/*`; it can also contain AllSitesPattern. */
  readonly patterns: readonly string[];
  /** isOptional is false if the manifest itself requires access to all sites. */
  readonly isOptional: boolean;
}

/** AllSitesPattern is the match pattern for all sites. */
export const AllSitesPattern = '<all_urls>';

/** readSitePermissions returns the sites to which the extension has access. */
export async function readSitePermissions(): Promise<SitePermissions> {
  const { origins = [] } = await chrome.permissions.getAll();
  const optional: unknown = Reflect.get(chrome.runtime.getManifest(), 'optional_host_permissions');
  return { patterns: origins, isOptional: Array.isArray(optional) };
}

/** listAllowedSites returns the match patterns of the sites to which the extension has access. */
export async function listAllowedSites(): Promise<readonly string[]> {
  return (await readSitePermissions()).patterns;
}

/** makeSitePattern returns the match pattern for all http and https pages of a host name. */
export function makeSitePattern(host: string): string {
  return `*://${host}/*`;
}

/**
 * grantSite requests access to the sites of a match pattern from Chrome, and reports whether the extension then has
 * access. Chrome allows grantSite only while the extension handles a user's click.
 */
export async function grantSite(pattern: string): Promise<boolean> {
  return await chrome.permissions.request({ origins: [pattern] });
}

/**
 * revokeSite asks Chrome to remove the extension's access to all sites of a match pattern. revokeSite returns false if
 * Chrome refused.
 */
export async function revokeSite(pattern: string): Promise<boolean> {
  return await chrome.permissions.remove({ origins: [pattern] });
}

/**
 * onActiveTabChange calls the listener when another tab becomes active in a window, or when the URL of a tab changes.
 */
export function onActiveTabChange(listener: () => void): void {
  chrome.tabs.onActivated.addListener(listener);
  chrome.tabs.onUpdated.addListener((_tabId, { url }) => {
    if (url !== undefined) listener();
  });
}

/** readActiveTabHost returns the host of the http or https page in the current window's active tab, or undefined. */
export async function readActiveTabHost(): Promise<string | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const url = tab?.url ?? '';
  if (!/^https?:/.test(url)) return undefined;
  return new URL(url).hostname;
}
