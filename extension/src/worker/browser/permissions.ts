import type { BrowserTool } from './browser-tool.ts';
import { toolFailure } from './tool-failure.ts';

/** OptionalPermission is a Chrome permission that the user can grant with a switch in the side panel. */
export type OptionalPermission =
  | 'bookmarks'
  | 'browsingData'
  | 'cookies'
  | 'downloads'
  | 'history'
  | 'sessions'
  | 'tabGroups';

/** neededPermissions contains the optional Chrome permissions that a browser tool needs, by the name of the tool. */
export const neededPermissions: ReadonlyMap<string, readonly OptionalPermission[]> = new Map([
  ['browser_cookies', ['cookies']],
  ['browser_clear_site_data', ['browsingData', 'cookies']],
  ['browser_tab_groups', ['tabGroups']],
  ['browser_history', ['history']],
  ['browser_bookmarks', ['bookmarks']],
  ['browser_recently_closed', ['sessions']],
  ['browser_downloads', ['downloads']],
]);

export const permissionTitles: Readonly<Record<OptionalPermission, string>> = {
  bookmarks: 'Bookmarks',
  browsingData: 'Deleting the data of sites',
  cookies: 'Cookies',
  downloads: 'Downloads',
  history: 'History',
  sessions: 'Recently closed tabs',
  tabGroups: 'Tab groups',
};

type PermissionReader = (permission: OptionalPermission) => Promise<boolean>;

/**
 * requirePermissions wraps a tool so that the tool fails with needs_permission until the user has granted all needed
 * Chrome permissions.
 */
export function requirePermissions(name: string, runTool: BrowserTool, hasPermission: PermissionReader): BrowserTool {
  const neededPermissionNames = neededPermissions.get(name);
  if (!neededPermissionNames) return runTool;
  return async (call) => {
    const isGranted = await Promise.all(neededPermissionNames.map(hasPermission));
    const missingPermissions = neededPermissionNames.filter((_, i) => !isGranted[i]);
    if (missingPermissions.length > 0) throw makeMissingPermissionFailure(name, missingPermissions);
    return await runTool(call);
  };
}

function makeMissingPermissionFailure(name: string, missingPermissions: readonly OptionalPermission[]): Error {
  const [names, titles] = [
    missingPermissions,
    missingPermissions.map((permission) => permissionTitles[permission]),
  ].map((texts) => texts.map((text) => `"${text}"`).join(' and '));
  const permissionFact = `${name} needs Chrome's ${missingPermissions.length === 1 ? 'permission' : 'permissions'} ${names}`;
  return toolFailure('needs_permission', {
    forAgent:
      `${permissionFact}. Ask the user to open the side panel of opentabs and to switch on ${titles} under Browser, Permissions ` +
      'of Chrome',
    forUser: `${permissionFact}. Open the side panel of opentabs and switch on ${titles} under Browser, Permissions of Chrome.`,
  });
}
