// Wraps the Chrome functions that browser tools use on any tab, whether or not a plugin matches the tab.

import type { AnyTab } from '../../wire/wire.gen.ts';

/** Without a tabId, describeTab describes the active tab of the window that had the focus last. */
export async function describeTab(tabId: number | undefined): Promise<AnyTab | undefined> {
  const tab = tabId === undefined ? await findActiveTab() : await chrome.tabs.get(tabId).catch(() => undefined);
  if (tab?.id === undefined) return undefined;
  const { id, title = '', active } = tab;
  const frame = await chrome.webNavigation.getFrame({ tabId: id, frameId: 0 }).catch(() => null);
  // While a page loads, tab.url may already be the new URL although the frame still shows the old document. In a
  // view-source tab, the frame has the URL of the page whose source the tab shows.
  const url = isViewSourceTab(tab) ? (tab.url ?? '') : frame?.url || tab.url || '';
  const problem = findAccessProblem(url, tab.discarded);
  if (problem !== undefined || !frame)
    return { tabId: id, url, title, active, problem: problem ?? 'the tab has no page yet' };
  return { tabId: id, url, title, active, documentId: frame.documentId };
}

function isViewSourceTab({ url = '' }: chrome.tabs.Tab): boolean {
  return url.startsWith('view-source:');
}

async function findActiveTab(): Promise<chrome.tabs.Tab | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

function findAccessProblem(url: string, isDiscarded: boolean): string | undefined {
  if (isDiscarded) return 'Chrome has unloaded the tab to save memory; reload it first';
  if (url.startsWith('https://') || url.startsWith('http://')) {
    return isWebStore(url) ? 'Chrome does not allow extensions in the Chrome Web Store' : undefined;
  }
  const scheme = url.slice(0, Math.max(0, url.indexOf(':')));
  return scheme === ''
    ? 'the tab has no page yet'
    : `browser tools work in http and https pages only, not in ${scheme}: pages`;
}

function isWebStore(url: string): boolean {
  const { hostname, pathname } = new URL(url);
  return (
    hostname === 'chromewebstore.google.com' || (hostname === 'chrome.google.com' && pathname.startsWith('/webstore'))
  );
}

// ---- tabs ----

export interface TabEntry {
  readonly tabId: number;
  readonly windowId: number;
  readonly title: string;
  readonly url: string;
  readonly active: boolean;
  readonly groupTitle?: string;
}

export async function listAllTabs(): Promise<TabEntry[]> {
  const [tabs, groupTitles] = await Promise.all([chrome.tabs.query({}), readGroupTitles()]);
  return tabs.flatMap(({ id, windowId, title = '', url, pendingUrl, active, groupId }) => {
    if (id === undefined || id < 0) return [];
    const groupTitle = groupTitles.get(groupId);
    const activeTabEntry = { tabId: id, windowId, title, url: url || (pendingUrl ?? ''), active };
    return [groupTitle === undefined ? activeTabEntry : { ...activeTabEntry, groupTitle }];
  });
}

/** Without the permission `tabGroups`, readGroupTitles returns an empty map. */
async function readGroupTitles(): Promise<ReadonlyMap<number, string>> {
  if (!(await hasTabGroupsPermission())) return new Map();
  const tabGroups = await chrome.tabGroups.query({});
  return new Map(tabGroups.map(({ id, title = '' }) => [id, title]));
}

function hasTabGroupsPermission(): Promise<boolean> {
  return chrome.permissions.contains({ permissions: ['tabGroups'] });
}

export const GroupColors = ['blue', 'green', 'purple', 'cyan', 'orange', 'pink', 'yellow', 'red', 'grey'] as const;
export type GroupColor = (typeof GroupColors)[number];

export async function groupTab(
  tabId: number,
  groupIds: readonly number[],
  title: string,
  color: GroupColor,
): Promise<number> {
  const { windowId } = await chrome.tabs.get(tabId);
  const windowGroupIds = (await chrome.tabGroups.query({ windowId })).map(({ id }) => id);
  const presentGroupId = groupIds.find((id) => windowGroupIds.includes(id));
  if (presentGroupId !== undefined) return await chrome.tabs.group({ tabIds: [tabId], groupId: presentGroupId });
  const groupId = await chrome.tabs.group({ tabIds: [tabId], createProperties: { windowId } });
  await chrome.tabGroups.update(groupId, { title, color });
  return groupId;
}

/** If the page asks the user whether to leave, the promise of closeTab settles after the user's answer. */
export async function closeTab(tabId: number): Promise<void> {
  await chrome.tabs.remove(tabId);
}

// ---- view ----

export interface WindowFocus {
  readonly activeTabs: readonly { readonly windowId: number; readonly tabId: number }[];
  readonly focusedWindow: number | undefined;
}

export async function readWindowFocus(): Promise<WindowFocus> {
  const [active, windows] = await Promise.all([chrome.tabs.query({ active: true }), chrome.windows.getAll()]);
  return {
    activeTabs: active.flatMap(({ id, windowId }) => (id === undefined ? [] : [{ windowId, tabId: id }])),
    focusedWindow: windows.find((window) => window.focused)?.id,
  };
}

export async function restoreWindowFocus(windowFocus: WindowFocus, newTab: number): Promise<void> {
  const tab = await chrome.tabs.get(newTab).catch(() => undefined);
  if (!tab?.active) return;
  const earlierActiveTab = windowFocus.activeTabs.find((activeTabEntry) => activeTabEntry.windowId === tab.windowId);
  if (earlierActiveTab && earlierActiveTab.tabId !== newTab)
    await chrome.tabs.update(earlierActiveTab.tabId, { active: true });
  const { focused } = await chrome.windows.get(tab.windowId);
  if (focused && windowFocus.focusedWindow !== undefined && windowFocus.focusedWindow !== tab.windowId)
    await chrome.windows.update(windowFocus.focusedWindow, { focused: true });
}

// ---- screenshots ----

export async function captureTab(windowId: number): Promise<string> {
  return await chrome.tabs.captureVisibleTab(windowId, { format: 'png' });
}

export interface DisplayedTab {
  readonly windowId: number;
  readonly active: boolean;
  readonly loading: boolean;
  readonly width: number;
  readonly documentId: string | undefined;
}

export async function readDisplayedTab(tabId: number): Promise<DisplayedTab | undefined> {
  const [tab, frame, zoomFactor] = await Promise.all([
    chrome.tabs.get(tabId).catch(() => undefined),
    chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null),
    chrome.tabs.getZoom(tabId).catch(() => 1),
  ]);
  if (!tab) return undefined;
  const { windowId, active, status, width = 0 } = tab;
  return { windowId, active, loading: status === 'loading', width: width / zoomFactor, documentId: frame?.documentId };
}
