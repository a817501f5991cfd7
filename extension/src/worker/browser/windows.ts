import type * as chromeTabs from '../../chrome-tabs.ts';
import type * as chromeWindows from '../../chrome-windows.ts';
import type { Fields } from '../../record.ts';
import { awaitWithin } from '../../within.ts';
import { readChoice, readFlag, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { formatCount, makeListResult } from './lists.ts';
import { parseWebUrl } from './navigation.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type WindowsBrowser = typeof chromeWindows &
  Pick<typeof chromeTabs, 'listAllTabs' | 'readWindowFocus' | 'restoreWindowFocus'>;

const CloseTimeoutMs = 2000;

export function makeWindowTools(browser: WindowsBrowser): [string, BrowserTool][] {
  return [
    ['browser_windows', (call) => runWindowAction(browser, call)],
    ['browser_tab_groups', (call) => runTabGroupAction(browser, call)],
    ['browser_recently_closed', (call) => runRecentlyClosedAction(browser, call)],
  ];
}

/**
 * formatAddress returns a URL without the parts that may contain secrets: the user name, the query and the fragment.
 */
export function formatAddress(address: string): string {
  if (!URL.canParse(address)) return 'an empty page';
  const url = new URL(address);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin + url.pathname : `${url.protocol} page`;
}

// ---- windows ----

async function runWindowAction(browser: WindowsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const action = readChoice(call.args, 'action', ['list', 'new', 'update', 'close']) ?? 'list';
  if (action === 'list') {
    const windows = await browser.listWindows();
    return { windows, text: `${formatCount(windows.length, 'window')}.` };
  }
  if (action === 'new') return await openWindow(browser, call);
  const windowId = readNumber(call.args, 'windowId');
  const window = windowId === undefined ? undefined : await browser.readWindow(windowId);
  if (!window)
    throw toolFailure('not_found', `there is no window ${windowId}. Use browser_windows with the action list`);
  if (action === 'close') return await closeWindow(browser, call, window);
  const windowProperties = readWindowProperties(call.args);
  if (Object.keys(windowProperties).length === 0)
    throw makeCallFailure('invalid_arguments', 'the action update needs state, left, top, width, height or focus');
  await changeWindow(() => browser.updateWindow(window.windowId, windowProperties));
  const now = await browser.readWindow(window.windowId);
  if (!now) return { text: `Window ${window.windowId} is closed.` };
  const { state: windowState, width, height, left, top } = now;
  return { text: `Window ${now.windowId} is ${windowState}, ${width} x ${height} at ${left}, ${top}.` };
}

function readWindowProperties(args: Fields): chromeWindows.WindowProperties {
  const windowState = readChoice(args, 'state', ['normal', 'minimized', 'maximized', 'fullscreen']);
  const sizeFields = (['left', 'top', 'width', 'height'] as const).flatMap((key) => {
    const value = args[key];
    return typeof value === 'number' && Number.isFinite(value) ? [[key, Math.round(value)]] : [];
  });
  if (windowState !== undefined && windowState !== 'normal' && sizeFields.length > 0)
    throw makeCallFailure(
      'invalid_arguments',
      `a window that is ${windowState} has no other place or size. Leave out one of both`,
    );
  return {
    ...(windowState === undefined ? {} : { state: windowState }),
    ...(readFlag(args, 'focus') ? { focused: true } : {}),
    ...Object.fromEntries(sizeFields),
  };
}

/**
 * changeWindow performs a change of a window, and throws if Chrome rejects the change, such as a position outside the
 * screen.
 */
async function changeWindow<T>(applyChange: () => Promise<T>): Promise<T> {
  try {
    return await applyChange();
  } catch (error) {
    throw toolFailure(
      'rejected',
      `Chrome rejected the change: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function openWindow(browser: WindowsBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const url = readText(args, 'url');
  const windowProperties = readWindowProperties(args);
  if ((windowProperties.state === 'maximized' || windowProperties.state === 'fullscreen') && !windowProperties.focused)
    throw makeCallFailure('invalid_arguments', `a new window that is ${windowProperties.state} needs focus: true`);
  const openedWindow = await changeWindow(() =>
    browser.openWindow(url === undefined ? 'about:blank' : parseWebUrl(url), windowProperties),
  );
  const text = `Opened window ${openedWindow.windowId} with tab ${openedWindow.tabId}, which is your current tab.`;
  return { text: url === undefined ? text : `${text} The page loads.`, ...openedWindow };
}

/**
 * closeWindow closes a window if the user has approved the closing, or if the client itself opened all tabs of the
 * window.
 */
async function closeWindow(
  browser: WindowsBrowser,
  { args }: BrowserCall,
  { windowId, tabs }: chromeWindows.WindowEntry,
): Promise<BrowserResult> {
  const closableTabs: readonly unknown[] = Array.isArray(args._closableTabs) ? args._closableTabs : [];
  if (tabs.some(({ tabId }) => !closableTabs.includes(tabId)))
    throw toolFailure(
      'rejected',
      `the tabs of window ${windowId} have changed. List the windows again, then close the window`,
    );
  await awaitWithin(browser.closeWindow(windowId), CloseTimeoutMs);
  if (await browser.readWindow(windowId))
    throw toolFailure('dialog_open', {
      forAgent: 'the window is still open: a page probably asks the user whether to leave. Ask the user to answer',
      forUser: `Window ${windowId} is still open, because a page probably asks whether to leave. Answer in the window.`,
    });
  return { text: `Closed window ${windowId} with ${formatCount(tabs.length, 'tab')}.` };
}

// ---- groups ----

const TabGroupColors = ['grey', 'blue', 'red', 'yellow', 'green', 'pink', 'purple', 'cyan', 'orange'] as const;

async function runTabGroupAction(browser: WindowsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const { args } = call;
  const action = readChoice(args, 'action', ['list', 'create', 'add', 'remove', 'update']) ?? 'list';
  const tabGroups = await browser.listTabGroups();
  if (action === 'list') return makeListResult(call, tabGroups.map(formatTabGroup), 'group');
  if (action === 'create') return await createGroup(browser, args);
  if (action === 'remove') {
    const tabs = await requireTabs(browser, args);
    await browser.removeFromTabGroups(tabs.map(({ tabId }) => tabId));
    return { text: `Removed ${formatCount(tabs.length, 'tab')} from the tab groups.` };
  }
  const tabGroup = tabGroups.find(({ groupId }) => groupId === args.groupId);
  if (!tabGroup)
    throw toolFailure('not_found', 'there is no such tab group. Use browser_tab_groups with the action list');
  if (action === 'add') {
    const tabs = await requireTabs(browser, args);
    if (tabs.some(({ windowId }) => windowId !== tabGroup.windowId))
      throw toolFailure('rejected', 'a tab is in another window than the group. Tabs are not moved between windows');
    await browser.addToTabGroup(
      tabGroup.groupId,
      tabs.map(({ tabId }) => tabId),
    );
    return { text: `Added ${formatCount(tabs.length, 'tab')} to group ${tabGroup.groupId}.` };
  }
  const groupProperties = readTabGroupProperties(args);
  if (Object.keys(groupProperties).length === 0)
    throw makeCallFailure('invalid_arguments', 'the action update needs title, color or collapsed');
  await browser.updateTabGroup(tabGroup.groupId, groupProperties);
  return { text: `Updated group ${tabGroup.groupId}.` };
}

function formatTabGroup({ groupId, title, color, collapsed, windowId, tabIds }: chromeWindows.TabGroup): string {
  const colorLabel = collapsed ? `${color}, collapsed` : color;
  return `group ${groupId} ${JSON.stringify(title)} (${colorLabel}) in window ${windowId}: tabs ${tabIds.join(', ')}`;
}

async function createGroup(browser: WindowsBrowser, args: Fields): Promise<BrowserResult> {
  const tabs = await requireTabs(browser, args);
  const [firstTab] = tabs;
  if (!firstTab || tabs.some(({ windowId }) => windowId !== firstTab.windowId))
    throw toolFailure('rejected', 'the tabs are in several windows. Tabs are not moved between windows');
  const groupId = await browser.createTabGroup(
    tabs.map(({ tabId }) => tabId),
    firstTab.windowId,
  );
  const groupProperties = readTabGroupProperties(args);
  if (Object.keys(groupProperties).length > 0) await browser.updateTabGroup(groupId, groupProperties);
  return { text: `Created group ${groupId} with ${formatCount(tabs.length, 'tab')}.` };
}

function readTabGroupProperties(args: Fields): chromeWindows.TabGroupProperties {
  const title = readText(args, 'title');
  const color = readChoice(args, 'color', TabGroupColors);
  return {
    ...(title === undefined ? {} : { title }),
    ...(color === undefined ? {} : { color }),
    ...(args.collapsed === undefined ? {} : { collapsed: readFlag(args, 'collapsed') }),
  };
}

async function requireTabs(browser: WindowsBrowser, { tabIds }: Fields): Promise<readonly chromeTabs.TabEntry[]> {
  const requestedTabIds: readonly unknown[] = Array.isArray(tabIds) ? tabIds : [];
  const all = await browser.listAllTabs();
  return requestedTabIds.map((id) => {
    const tab = all.find(({ tabId }) => tabId === id);
    if (!tab) throw toolFailure('not_found', `there is no tab ${String(id)}. Use browser_tabs with the action list`);
    return tab;
  });
}

// ---- closed ----

async function runRecentlyClosedAction(browser: WindowsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const closedEntries = await browser.listRecentlyClosed();
  const allowedEntries = closedEntries.filter(
    ({ tabs }) => !tabs.some(({ url }) => isForbiddenAddress(url, call.args)),
  );
  if (readChoice(call.args, 'action', ['list', 'restore']) !== 'restore')
    return makeListResult(call, allowedEntries.map(formatClosedEntry), 'entry');
  const sessionId = readText(call.args, 'sessionId');
  if (sessionId === undefined)
    throw makeCallFailure('invalid_arguments', 'the action restore needs a sessionId of the list');
  const entry = allowedEntries.find((closedEntry) => closedEntry.sessionId === sessionId);
  if (!entry)
    throw toolFailure('not_found', 'there is no such entry. Use browser_recently_closed with the action list');
  const focusBefore = await browser.readWindowFocus();
  const tabIds = await browser.restoreRecentlyClosed(entry.sessionId);
  // Chrome activates a restored tab or window, so reactivate the tab that the user was viewing before the restore.
  for (const tabId of tabIds) await browser.restoreWindowFocus(focusBefore, tabId);
  const text = `Restored ${tabIds.length === 1 ? 'tab' : 'tabs'} ${tabIds.join(', ')}.`;
  return { text: `${text} Select a tab with browser_tabs to use it.` };
}

const MaxShownTabs = 5;

function formatClosedEntry({
  sessionId,
  closedAtMs: closedMs,
  isWindow,
  tabs,
}: chromeWindows.RecentlyClosedEntry): string {
  const shown = tabs.slice(0, MaxShownTabs).map(({ title, url }) => `${JSON.stringify(title)} ${formatAddress(url)}`);
  if (tabs.length > MaxShownTabs) shown.push(`and ${tabs.length - MaxShownTabs} more tabs`);
  const kind = isWindow ? `window with ${formatCount(tabs.length, 'tab')}: ` : '';
  return `sessionId ${sessionId}, closed ${new Date(closedMs).toISOString()}, ${kind}${shown.join('; ')}`;
}
