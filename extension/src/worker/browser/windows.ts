import type * as chromeTabs from '../../chrome-tabs.ts';
import type * as chromeWindows from '../../chrome-windows.ts';
import type { Fields } from '../../record.ts';
import { awaitWithin } from '../../within.ts';
import { readChoice, readFlag, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { isForbiddenAddress } from './frame-rules.ts';
import { formatCount, makeListResult } from './lists.ts';
import { parseWebUrl } from './navigation.ts';
import { callFailure, toolFailure } from './tool-failure.ts';

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
  const place = readWindowProperties(call.args);
  if (Object.keys(place).length === 0)
    throw callFailure('invalid_arguments', 'the action update needs state, left, top, width, height or focus');
  await changeWindow(() => browser.updateWindow(window.windowId, place));
  const now = await browser.readWindow(window.windowId);
  if (!now) return { text: `Window ${window.windowId} is closed.` };
  const { state, width, height, left, top } = now;
  return { text: `Window ${now.windowId} is ${state}, ${width} x ${height} at ${left}, ${top}.` };
}

function readWindowProperties(args: Fields): chromeWindows.WindowProperties {
  const state = readChoice(args, 'state', ['normal', 'minimized', 'maximized', 'fullscreen']);
  const sizes = (['left', 'top', 'width', 'height'] as const).flatMap((key) => {
    const value = args[key];
    return typeof value === 'number' && Number.isFinite(value) ? [[key, Math.round(value)]] : [];
  });
  if (state !== undefined && state !== 'normal' && sizes.length > 0)
    throw callFailure(
      'invalid_arguments',
      `a window that is ${state} has no other place or size. Leave out one of both`,
    );
  return {
    ...(state === undefined ? {} : { state }),
    ...(readFlag(args, 'focus') ? { focused: true } : {}),
    ...Object.fromEntries(sizes),
  };
}

/** changeWindow fails if Chrome rejects the change, such as a position outside the screen. */
async function changeWindow<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    throw toolFailure(
      'rejected',
      `Chrome rejected the change: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function openWindow(browser: WindowsBrowser, { args }: BrowserCall): Promise<BrowserResult> {
  const url = readText(args, 'url');
  const place = readWindowProperties(args);
  if ((place.state === 'maximized' || place.state === 'fullscreen') && !place.focused)
    throw callFailure('invalid_arguments', `a new window that is ${place.state} needs focus: true`);
  const opened = await changeWindow(() =>
    browser.openWindow(url === undefined ? 'about:blank' : parseWebUrl(url), place),
  );
  const text = `Opened window ${opened.windowId} with tab ${opened.tabId}, which is your current tab.`;
  return { text: url === undefined ? text : `${text} The page loads.`, ...opened };
}

/**
 * closeWindow closes a window if the user has approved the closing or the client itself has opened the window's tabs.
 */
async function closeWindow(
  browser: WindowsBrowser,
  { args }: BrowserCall,
  { windowId, tabs }: chromeWindows.WindowEntry,
): Promise<BrowserResult> {
  const closable: readonly unknown[] = Array.isArray(args._closableTabs) ? args._closableTabs : [];
  if (tabs.some(({ tabId }) => !closable.includes(tabId)))
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
  const groups = await browser.listTabGroups();
  if (action === 'list') return makeListResult(call, groups.map(formatTabGroup), 'group');
  if (action === 'create') return await createGroup(browser, args);
  if (action === 'remove') {
    const tabs = await requireTabs(browser, args);
    await browser.removeFromTabGroups(tabs.map(({ tabId }) => tabId));
    return { text: `Removed ${formatCount(tabs.length, 'tab')} from the tab groups.` };
  }
  const group = groups.find(({ groupId }) => groupId === args.groupId);
  if (!group) throw toolFailure('not_found', 'there is no such tab group. Use browser_tab_groups with the action list');
  if (action === 'add') {
    const tabs = await requireTabs(browser, args);
    if (tabs.some(({ windowId }) => windowId !== group.windowId))
      throw toolFailure('rejected', 'a tab is in another window than the group. Tabs are not moved between windows');
    await browser.addToTabGroup(
      group.groupId,
      tabs.map(({ tabId }) => tabId),
    );
    return { text: `Added ${formatCount(tabs.length, 'tab')} to group ${group.groupId}.` };
  }
  const look = readTabGroupProperties(args);
  if (Object.keys(look).length === 0)
    throw callFailure('invalid_arguments', 'the action update needs title, color or collapsed');
  await browser.updateTabGroup(group.groupId, look);
  return { text: `Updated group ${group.groupId}.` };
}

function formatTabGroup({ groupId, title, color, collapsed, windowId, tabIds }: chromeWindows.TabGroup): string {
  const look = collapsed ? `${color}, collapsed` : color;
  return `group ${groupId} ${JSON.stringify(title)} (${look}) in window ${windowId}: tabs ${tabIds.join(', ')}`;
}

async function createGroup(browser: WindowsBrowser, args: Fields): Promise<BrowserResult> {
  const tabs = await requireTabs(browser, args);
  const [first] = tabs;
  if (!first || tabs.some(({ windowId }) => windowId !== first.windowId))
    throw toolFailure('rejected', 'the tabs are in several windows. Tabs are not moved between windows');
  const groupId = await browser.createTabGroup(
    tabs.map(({ tabId }) => tabId),
    first.windowId,
  );
  const look = readTabGroupProperties(args);
  if (Object.keys(look).length > 0) await browser.updateTabGroup(groupId, look);
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
  const wanted: readonly unknown[] = Array.isArray(tabIds) ? tabIds : [];
  const all = await browser.listAllTabs();
  return wanted.map((id) => {
    const tab = all.find(({ tabId }) => tabId === id);
    if (!tab) throw toolFailure('not_found', `there is no tab ${String(id)}. Use browser_tabs with the action list`);
    return tab;
  });
}

// ---- closed ----

async function runRecentlyClosedAction(browser: WindowsBrowser, call: BrowserCall): Promise<BrowserResult> {
  const entries = await browser.listRecentlyClosed();
  const allowed = entries.filter(({ tabs }) => !tabs.some(({ url }) => isForbiddenAddress(url, call.args)));
  if (readChoice(call.args, 'action', ['list', 'restore']) !== 'restore')
    return makeListResult(call, allowed.map(formatClosedEntry), 'entry');
  const sessionId = readText(call.args, 'sessionId');
  if (sessionId === undefined)
    throw callFailure('invalid_arguments', 'the action restore needs a sessionId of the list');
  const entry = allowed.find((each) => each.sessionId === sessionId);
  if (!entry)
    throw toolFailure('not_found', 'there is no such entry. Use browser_recently_closed with the action list');
  const view = await browser.readWindowFocus();
  const tabIds = await browser.restoreRecentlyClosed(entry.sessionId);
  // Chrome activates a restored tab or window, so reactivate the tab that the user was viewing before the restore.
  for (const tabId of tabIds) await browser.restoreWindowFocus(view, tabId);
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
