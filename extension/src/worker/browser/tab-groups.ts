import type * as chromeBase from '../../chrome.ts';
import type * as chromePermissions from '../../chrome-permissions.ts';
import { type GroupColor, GroupColors, type groupTab } from '../../chrome-tabs.ts';
import { isRecord } from '../../record.ts';

export interface TabGroupsBrowser
  extends Pick<typeof chromeBase, 'readSetting' | 'writeSetting' | 'readSessionValue' | 'writeSessionValue'>,
    Pick<typeof chromePermissions, 'hasPermission'> {
  readonly groupTab: typeof groupTab;
}

/** ColorsSetting is the setting that stores the tab group color of each client, as JSON. */
const ColorsSetting = 'tabGroupColors';
/**
 * GroupsValue is the session value that stores the tab group IDs of each client, as JSON. Chrome gives tab groups
 * new IDs after a restart.
 */
const GroupsValue = 'tabGroups';
/** MaxGroups limits both the number of clients with stored tab groups and the stored tab groups of each client. */
const MaxGroups = 50;
/**
 * MaxColors limits the number of clients with a stored tab group color. The color of the client that was added
 * first is dropped first.
 */
const MaxColors = 50;

/**
 * TabGroups puts the tabs that clients open into tab groups. Each client has one tab group in each window, with a
 * fixed color. A tab group that the user made is never used for a client, even if its title is the client's name.
 */
export class TabGroups {
  readonly #browser: TabGroupsBrowser;
  /**
   * #lastAdd resolves when the previous tab is in its tab group, so that two simultaneous tabs of a client do not
   * create two tab groups.
   */
  #lastAdd: Promise<void> = Promise.resolve();

  constructor(browser: TabGroupsBrowser) {
    this.#browser = browser;
  }

  /**
   * add puts a tab into the tab group of a client. add does nothing without the Chrome permission tabGroups, or if
   * Chrome rejects the tab group, for example in a popup window.
   */
  add(tabId: number, client: string): Promise<void> {
    this.#lastAdd = this.#lastAdd.then(() => this.#add(tabId, client)).catch(() => undefined);
    return this.#lastAdd;
  }

  async #add(tabId: number, client: string): Promise<void> {
    if (client === '' || !(await this.#browser.hasPermission('tabGroups'))) return;
    const groups = readGroups(await this.#browser.readSessionValue(GroupsValue));
    const present = groups.get(client) ?? [];
    const groupId = await this.#browser.groupTab(tabId, present, client, await this.#colorOf(client));
    if (present.includes(groupId)) return;
    groups.delete(client);
    groups.set(client, [...present, groupId].slice(-MaxGroups));
    const entries = [...groups].slice(-MaxGroups);
    await this.#browser.writeSessionValue(GroupsValue, JSON.stringify(Object.fromEntries(entries)));
  }

  /**
   * #colorOf returns the stored tab group color of a client. A new client gets a color that no other client has, if
   * possible.
   */
  async #colorOf(client: string): Promise<GroupColor> {
    const colors = readColors(await this.#browser.readSetting(ColorsSetting));
    const stored = colors.get(client);
    if (stored) return stored;
    const used = new Set(colors.values());
    const color =
      GroupColors.find((free) => !used.has(free)) ?? GroupColors[colors.size % GroupColors.length] ?? 'grey';
    colors.set(client, color);
    const entries = [...colors].slice(-MaxColors);
    await this.#browser.writeSetting(ColorsSetting, JSON.stringify(Object.fromEntries(entries)));
    return color;
  }
}

function readGroups(text: string | undefined): Map<string, readonly number[]> {
  const stored: unknown = text === undefined ? {} : JSON.parse(text);
  return new Map(
    Object.entries(isRecord(stored) ? stored : {}).map(([client, ids]) => [
      client,
      Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [],
    ]),
  );
}

function readColors(text: string | undefined): Map<string, GroupColor> {
  const colors = new Map<string, GroupColor>();
  const stored: unknown = text === undefined ? {} : JSON.parse(text);
  for (const [client, value] of Object.entries(isRecord(stored) ? stored : {})) {
    const color = GroupColors.find((known) => known === value);
    if (color) colors.set(client, color);
  }
  return colors;
}
