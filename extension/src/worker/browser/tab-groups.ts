import type * as chromeBase from '../../chrome.ts';
import type * as chromePermissions from '../../chrome-permissions.ts';
import { type GroupColor, GroupColors, type groupTab } from '../../chrome-tabs.ts';
import { isRecord } from '../../record.ts';

export interface TabGroupsBrowser
  extends Pick<typeof chromeBase, 'readSetting' | 'writeSetting' | 'readSessionValue' | 'writeSessionValue'>,
    Pick<typeof chromePermissions, 'hasPermission'> {
  readonly groupTab: typeof groupTab;
}

/** GroupColorsSetting is the setting that stores the color of each client's tab groups, as JSON. */
const GroupColorsSetting = 'tabGroupColors';
/** Tab group IDs are in the session storage, because Chrome assigns new IDs when the browser restarts. */
const TabGroupsStorageKey = 'tabGroups';
const MaxGroups = 50;
const MaxColors = 50;

/**
 * TabGroups adds the tabs that clients open to tab groups. Each client has a fixed color, and one tab group in each
 * window. A client never uses a tab group that the user created, even if the group has the client's name.
 */
export class TabGroups {
  readonly #browser: TabGroupsBrowser;
  /** TabGroups adds one tab after the other, because concurrent additions could create two groups for one client. */
  #lastGroupAddition: Promise<void> = Promise.resolve();

  constructor(browser: TabGroupsBrowser) {
    this.#browser = browser;
  }

  /**
   * If the Chrome permission tabGroups is missing, `addToGroup` does nothing. `addToGroup` ignores Chrome's errors,
   * because Chrome rejects tabs in popup windows.
   */
  add(tabId: number, client: string): Promise<void> {
    this.#lastGroupAddition = this.#lastGroupAddition
      .then(() => this.#addToGroup(tabId, client))
      .catch(() => undefined);
    return this.#lastGroupAddition;
  }

  async #addToGroup(tabId: number, client: string): Promise<void> {
    if (client === '' || !(await this.#browser.hasPermission('tabGroups'))) return;
    const groupsByClient = readGroups(await this.#browser.readSessionValue(TabGroupsStorageKey));
    const clientGroups = groupsByClient.get(client) ?? [];
    const groupId = await this.#browser.groupTab(tabId, clientGroups, client, await this.#chooseColor(client));
    if (clientGroups.includes(groupId)) return;
    groupsByClient.delete(client);
    groupsByClient.set(client, [...clientGroups, groupId].slice(-MaxGroups));
    const entries = [...groupsByClient].slice(-MaxGroups);
    await this.#browser.writeSessionValue(TabGroupsStorageKey, JSON.stringify(Object.fromEntries(entries)));
  }

  /** #chooseColor gives a new client a color that no other client has, if possible. */
  async #chooseColor(client: string): Promise<GroupColor> {
    const colorByClient = readColors(await this.#browser.readSetting(GroupColorsSetting));
    const storedColor = colorByClient.get(client);
    if (storedColor) return storedColor;
    const usedColors = new Set(colorByClient.values());
    const color =
      GroupColors.find((groupColor) => !usedColors.has(groupColor)) ??
      GroupColors[colorByClient.size % GroupColors.length] ??
      'grey';
    colorByClient.set(client, color);
    const entries = [...colorByClient].slice(-MaxColors);
    await this.#browser.writeSetting(GroupColorsSetting, JSON.stringify(Object.fromEntries(entries)));
    return color;
  }
}

function readGroups(groupsText: string | undefined): Map<string, readonly number[]> {
  const storedColor: unknown = groupsText === undefined ? {} : JSON.parse(groupsText);
  return new Map(
    Object.entries(isRecord(storedColor) ? storedColor : {}).map(([client, ids]) => [
      client,
      Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [],
    ]),
  );
}

function readColors(groupsText: string | undefined): Map<string, GroupColor> {
  const colorByClient = new Map<string, GroupColor>();
  const storedColor: unknown = groupsText === undefined ? {} : JSON.parse(groupsText);
  for (const [client, value] of Object.entries(isRecord(storedColor) ? storedColor : {})) {
    const color = GroupColors.find((groupColor) => groupColor === value);
    if (color) colorByClient.set(client, color);
  }
  return colorByClient;
}
