// Wraps the Chrome functions that browser tools use on any tab, whether or not a plugin matches the tab.

import type { AnyTab } from '../../wire/wire.gen.ts';

/**
 * describeTab returns the current state of a tab, or undefined if there is no such tab. Without a tabId, describeTab
 * describes the active tab of the window that had the focus last.
 */
export async function describeTab(tabId: number | undefined): Promise<AnyTab | undefined> {
  const tab = tabId === undefined ? await findActiveTab() : await chrome.tabs.get(tabId).catch(() => undefined);
  if (tab?.id === undefined) return undefined;
  const { id, title = '', active } = tab;
  const frame = await chrome.webNavigation.getFrame({ tabId: id, frameId: 0 }).catch(() => null);
  // While a page loads, tab.url may already be the new URL although the frame still contains the old document.
  const url = frame?.url || tab.url || '';
  const problem = findAccessProblem(url, tab.discarded);
  if (problem !== undefined || !frame)
    return { tabId: id, url, title, active, problem: problem ?? 'the tab has no page yet' };
  return { tabId: id, url, title, active, documentId: frame.documentId };
}

/** findActiveTab returns the active tab of the window that had the focus last. */
async function findActiveTab(): Promise<chrome.tabs.Tab | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

/**
 * findAccessProblem returns why the extension cannot run scripts in a tab, or undefined if the extension can run
 * scripts in the tab.
 */
function findAccessProblem(url: string, discarded: boolean): string | undefined {
  if (discarded) return 'Chrome has unloaded the tab to save memory; reload it first';
  if (url.startsWith('https://') || url.startsWith('http://')) {
    return isWebStore(url) ? 'Chrome does not allow extensions in the Chrome Web Store' : undefined;
  }
  const scheme = url.slice(0, Math.max(0, url.indexOf(':')));
  return scheme === ''
    ? 'the tab has no page yet'
    : `browser tools work in http and https pages only, not in ${scheme}: pages`;
}

/** isWebStore reports whether a URL belongs to the Chrome Web Store. */
function isWebStore(url: string): boolean {
  const { hostname, pathname } = new URL(url);
  return (
    hostname === 'chromewebstore.google.com' || (hostname === 'chrome.google.com' && pathname.startsWith('/webstore'))
  );
}

// ---- tabs ----

/** TabEntry describes a tab for browser tools: its window, title, URL and tab group. */
export interface TabEntry {
  readonly tabId: number;
  readonly windowId: number;
  readonly title: string;
  readonly url: string;
  readonly active: boolean;
  readonly groupTitle?: string;
}

/** listAllTabs returns the tabs of all windows, in the order in which Chrome lists them. */
export async function listAllTabs(): Promise<TabEntry[]> {
  const [tabs, groupTitles] = await Promise.all([chrome.tabs.query({}), readGroupTitles()]);
  return tabs.flatMap(({ id, windowId, title = '', url, pendingUrl, active, groupId }) => {
    if (id === undefined || id < 0) return [];
    const groupTitle = groupTitles.get(groupId);
    const entry = { tabId: id, windowId, title, url: url || (pendingUrl ?? ''), active };
    return [groupTitle === undefined ? entry : { ...entry, groupTitle }];
  });
}

/**
 * readGroupTitles returns the title of each tab group, keyed by the ID of the group. Without the permission
 * `tabGroups`, readGroupTitles returns an empty map.
 */
async function readGroupTitles(): Promise<ReadonlyMap<number, string>> {
  if (!(await hasTabGroupsPermission())) return new Map();
  const groups = await chrome.tabGroups.query({});
  return new Map(groups.map(({ id, title = '' }) => [id, title]));
}

/** hasTabGroupsPermission reports whether the user has granted the optional permission `tabGroups`. */
function hasTabGroupsPermission(): Promise<boolean> {
  return chrome.permissions.contains({ permissions: ['tabGroups'] });
}

/** GroupColors lists the colors that a tab group in Chrome can have. */
export const GroupColors = ['blue', 'green', 'purple', 'cyan', 'orange', 'pink', 'yellow', 'red', 'grey'] as const;
/** GroupColor is a color that a tab group in Chrome can have. */
export type GroupColor = (typeof GroupColors)[number];

/**
 * groupTab moves a tab into a given tab group that is in the tab's window, or else into a new group with the given
 * title and color. groupTab returns the ID of the tab group. The extension needs the Chrome permission `tabGroups` for
 * groupTab.
 */
export async function groupTab(
  tabId: number,
  groupIds: readonly number[],
  title: string,
  color: GroupColor,
): Promise<number> {
  const { windowId } = await chrome.tabs.get(tabId);
  const inWindow = (await chrome.tabGroups.query({ windowId })).map(({ id }) => id);
  const present = groupIds.find((id) => inWindow.includes(id));
  if (present !== undefined) return await chrome.tabs.group({ tabIds: [tabId], groupId: present });
  const groupId = await chrome.tabs.group({ tabIds: [tabId], createProperties: { windowId } });
  await chrome.tabGroups.update(groupId, { title, color });
  return groupId;
}

/**
 * closeTab closes a tab. If the page asks the user to confirm leaving, the promise of closeTab settles after the user's
 * answer.
 */
export async function closeTab(tabId: number): Promise<void> {
  await chrome.tabs.remove(tabId);
}

// ---- view ----

/** WindowFocus records which tab is active in each window, and which window is focused. */
export interface WindowFocus {
  readonly activeTabs: readonly { readonly windowId: number; readonly tabId: number }[];
  readonly focusedWindow: number | undefined;
}

/** readWindowFocus returns the active tab of each window, and the focused window. */
export async function readWindowFocus(): Promise<WindowFocus> {
  const [active, windows] = await Promise.all([chrome.tabs.query({ active: true }), chrome.windows.getAll()]);
  return {
    activeTabs: active.flatMap(({ id, windowId }) => (id === undefined ? [] : [{ windowId, tabId: id }])),
    focusedWindow: windows.find((window) => window.focused)?.id,
  };
}

/** restoreWindowFocus activates the tabs and the window of an earlier WindowFocus again if a new tab became active. */
export async function restoreWindowFocus(view: WindowFocus, newTab: number): Promise<void> {
  const tab = await chrome.tabs.get(newTab).catch(() => undefined);
  if (!tab?.active) return;
  const earlier = view.activeTabs.find((entry) => entry.windowId === tab.windowId);
  if (earlier && earlier.tabId !== newTab) await chrome.tabs.update(earlier.tabId, { active: true });
  const { focused } = await chrome.windows.get(tab.windowId);
  if (focused && view.focusedWindow !== undefined && view.focusedWindow !== tab.windowId)
    await chrome.windows.update(view.focusedWindow, { focused: true });
}

// ---- screenshots ----

/** captureTab returns a PNG screenshot of the visible part of a window's active tab, as a data URL. */
export async function captureTab(windowId: number): Promise<string> {
  return await chrome.tabs.captureVisibleTab(windowId, { format: 'png' });
}

/** DisplayedTab describes the window, the viewport and the document of a tab. */
export interface DisplayedTab {
  readonly windowId: number;
  /** active is true if the window displays the tab. */
  readonly active: boolean;
  readonly loading: boolean;
  /** width is the width of the page's viewport in CSS pixels, or 0 if the width is unknown. */
  readonly width: number;
  readonly documentId: string | undefined;
}

/** readDisplayedTab returns the window, the viewport and the document of a tab, or undefined for a closed tab. */
export async function readDisplayedTab(tabId: number): Promise<DisplayedTab | undefined> {
  const [tab, frame, zoom] = await Promise.all([
    chrome.tabs.get(tabId).catch(() => undefined),
    chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null),
    chrome.tabs.getZoom(tabId).catch(() => 1),
  ]);
  if (!tab) return undefined;
  const { windowId, active, status, width = 0 } = tab;
  return { windowId, active, loading: status === 'loading', width: width / zoom, documentId: frame?.documentId };
}
