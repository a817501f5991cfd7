// The functions in this file wrap Chrome's API chrome.permissions. The user grants optional permissions with a click in
// the side panel.

export function hasPermission(permission: chrome.runtime.ManifestPermission): Promise<boolean> {
  return chrome.permissions.contains({ permissions: [permission] });
}

export const optionalPermissionNames = [
  'tabGroups',
  'downloads',
  'history',
  'bookmarks',
  'sessions',
  'cookies',
  'browsingData',
] as const;

export interface OptionalPermission {
  readonly name: (typeof optionalPermissionNames)[number];
  readonly isGranted: boolean;
}

export async function listOptionalPermissions(): Promise<OptionalPermission[]> {
  const optionalPermissions: readonly string[] = chrome.runtime.getManifest().optional_permissions ?? [];
  const { permissions = [] } = await chrome.permissions.getAll();
  return optionalPermissionNames
    .filter((name) => optionalPermissions.includes(name))
    .map((name) => ({ name, isGranted: permissions.includes(name) }));
}

/** Chrome allows grantPermission only while the extension handles a user's click. */
export async function grantPermission(name: OptionalPermission['name']): Promise<boolean> {
  return await chrome.permissions.request({ permissions: [name] });
}

export async function revokePermission(name: OptionalPermission['name']): Promise<boolean> {
  return await chrome.permissions.remove({ permissions: [name] });
}

export interface SitePermissions {
  /** The field `patterns` contains Chrome match patterns such as `*://example.com/*`, or AllSitesPattern. */
  readonly patterns: readonly string[];
  /** isOptional is false if the manifest itself requires access to all sites. */
  readonly isOptional: boolean;
}

export const AllSitesPattern = '<all_urls>';

export async function readSitePermissions(): Promise<SitePermissions> {
  const { origins = [] } = await chrome.permissions.getAll();
  const optionalPermissions: unknown = Reflect.get(chrome.runtime.getManifest(), 'optional_host_permissions');
  return { patterns: origins, isOptional: Array.isArray(optionalPermissions) };
}

export async function listAllowedSites(): Promise<readonly string[]> {
  return (await readSitePermissions()).patterns;
}

export function makeSitePattern(host: string): string {
  return `*://${host}/*`;
}

/** Chrome allows grantSite only while the extension handles a user's click. */
export async function grantSite(pattern: string): Promise<boolean> {
  return await chrome.permissions.request({ origins: [pattern] });
}

export async function revokeSite(pattern: string): Promise<boolean> {
  return await chrome.permissions.remove({ origins: [pattern] });
}

export function onActiveTabChange(listener: () => void): void {
  chrome.tabs.onActivated.addListener(listener);
  chrome.tabs.onUpdated.addListener((_tabId, { url }) => {
    if (url !== undefined) listener();
  });
}

export async function readActiveTabHost(): Promise<string | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const url = tab?.url ?? '';
  if (!/^https?:/.test(url)) return undefined;
  return new URL(url).hostname;
}
