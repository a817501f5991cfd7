// Wraps Chrome's functions for windows, tab groups and recently closed tabs.

interface WindowTab {
  readonly tabId: number;
  readonly title: string;
  readonly url: string;
  readonly active: boolean;
}

export interface WindowEntry {
  readonly windowId: number;
  readonly state: string;
  readonly focused: boolean;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly tabs: readonly WindowTab[];
}

export async function listWindows(): Promise<WindowEntry[]> {
  const windows = await chrome.windows.getAll({ populate: true, windowTypes: ['normal', 'popup'] });
  return windows.flatMap(toWindowEntry);
}

export async function readWindow(windowId: number): Promise<WindowEntry | undefined> {
  const window = await chrome.windows.get(windowId, { populate: true }).catch(() => undefined);
  return window ? toWindowEntry(window)[0] : undefined;
}

function toWindowEntry(window: chrome.windows.Window): WindowEntry[] {
  if (window.id === undefined) return [];
  const { id, state: windowState = 'normal', focused, left = 0, top = 0, width = 0, height = 0, tabs = [] } = window;
  const closedTabs = tabs.flatMap(({ id: tabId, title = '', url, pendingUrl, active }) =>
    tabId === undefined ? [] : [{ tabId, title, url: url || (pendingUrl ?? ''), active }],
  );
  return [{ windowId: id, state: windowState, focused, left, top, width, height, tabs: closedTabs }];
}

export interface WindowProperties {
  readonly state?: 'normal' | 'minimized' | 'maximized' | 'fullscreen';
  readonly left?: number;
  readonly top?: number;
  readonly width?: number;
  readonly height?: number;
  readonly focused?: boolean;
}

export async function openWindow(
  url: string,
  windowProperties: WindowProperties,
): Promise<{ windowId: number; tabId: number }> {
  const window = await chrome.windows.create({ url, focused: false, ...windowProperties });
  const tabId = window?.tabs?.[0]?.id;
  if (window?.id === undefined || tabId === undefined) throw new Error('the browser opened no window');
  return { windowId: window.id, tabId };
}

export async function updateWindow(windowId: number, windowProperties: WindowProperties): Promise<void> {
  await chrome.windows.update(windowId, windowProperties);
}

/** If a page asks the user whether to leave, the promise of closeWindow settles after the user's answer. */
export async function closeWindow(windowId: number): Promise<void> {
  await chrome.windows.remove(windowId);
}

// ---- groups ----

export interface TabGroup {
  readonly groupId: number;
  readonly windowId: number;
  readonly title: string;
  readonly color: string;
  readonly collapsed: boolean;
  readonly tabIds: readonly number[];
}

export async function listTabGroups(): Promise<TabGroup[]> {
  const [tabGroups, tabs] = await Promise.all([chrome.tabGroups.query({}), chrome.tabs.query({})]);
  return tabGroups.map(({ id, windowId, title = '', color, collapsed }) => {
    const tabIds = tabs.flatMap((tab) => (tab.groupId === id && tab.id !== undefined ? [tab.id] : []));
    return { groupId: id, windowId, title, color, collapsed, tabIds };
  });
}

export interface TabGroupProperties {
  readonly title?: string;
  readonly color?: `${chrome.tabGroups.Color}`;
  readonly collapsed?: boolean;
}

export async function createTabGroup(tabIds: readonly number[], windowId: number): Promise<number> {
  const [firstTabId, ...otherTabIds] = tabIds;
  if (firstTabId === undefined) throw new Error('a tab group needs a tab');
  return await chrome.tabs.group({ tabIds: [firstTabId, ...otherTabIds], createProperties: { windowId } });
}

export async function addToTabGroup(groupId: number, tabIds: readonly number[]): Promise<void> {
  const [firstTabId, ...otherTabIds] = tabIds;
  if (firstTabId !== undefined) await chrome.tabs.group({ tabIds: [firstTabId, ...otherTabIds], groupId });
}

export async function removeFromTabGroups(tabIds: readonly number[]): Promise<void> {
  const [firstTabId, ...otherTabIds] = tabIds;
  if (firstTabId !== undefined) await chrome.tabs.ungroup([firstTabId, ...otherTabIds]);
}

export async function updateTabGroup(groupId: number, groupProperties: TabGroupProperties): Promise<void> {
  await chrome.tabGroups.update(groupId, groupProperties);
}

// ---- sessions ----

export interface RecentlyClosedEntry {
  readonly sessionId: string;
  /** closedAtMs is the time when the tab or window was closed, in milliseconds since 1970. */
  readonly closedAtMs: number;
  readonly isWindow: boolean;
  readonly tabs: readonly { readonly title: string; readonly url: string }[];
}

export async function listRecentlyClosed(): Promise<RecentlyClosedEntry[]> {
  const sessions = await chrome.sessions.getRecentlyClosed();
  return sessions.flatMap(({ tab, window, lastModified }) => {
    const sessionId = tab?.sessionId ?? window?.sessionId;
    if (sessionId === undefined) return [];
    const tabs = (tab ? [tab] : (window?.tabs ?? [])).map(({ title = '', url = '' }) => ({ title, url }));
    return [{ sessionId, closedAtMs: lastModified * 1000, isWindow: tab === undefined, tabs }];
  });
}

export async function restoreRecentlyClosed(sessionId: string): Promise<number[]> {
  const { tab, window } = await chrome.sessions.restore(sessionId);
  const tabs = tab ? [tab] : (window?.tabs ?? []);
  return tabs.flatMap(({ id }) => (id === undefined ? [] : [id]));
}
