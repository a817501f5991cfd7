import type * as chromeBase from '../../chrome.ts';
import type * as chromeTabs from '../../chrome-tabs.ts';
import { awaitWithin } from '../../within.ts';
import { readChoice, readFlag, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { waitForLoad } from './loads.ts';
import { describeLoad, type NavigationBrowser, parseWebUrl } from './navigation.ts';
import type { TabGroups } from './tab-groups.ts';
import { TabWatch } from './tab-watch.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type TabListBrowser = NavigationBrowser &
  Pick<typeof chromeTabs, 'listAllTabs' | 'closeTab' | 'describeTab'> &
  Pick<typeof chromeBase, 'openBackgroundTab' | 'activateTab' | 'readTabState'>;

const CloseTimeoutMs = 2000;
const BlankPageUrl = 'about:blank';

export function makeTabListTools(browser: TabListBrowser, tabGroups: TabGroups): [string, BrowserTool][] {
  const openTabTool = (_: TabListBrowser, call: BrowserCall) => openTab(browser, tabGroups, call);
  const actions = { list: listTabs, new: openTabTool, select: selectTab, close: closeTab } as const;
  const names = ['list', 'new', 'select', 'close'] as const;
  return [
    ['browser_tabs', async (call) => await actions[readChoice(call.args, 'action', names) ?? 'list'](browser, call)],
  ];
}

/** The server searches the list, because the extension does not know which addresses the client is allowed to see. */
async function listTabs(browser: TabListBrowser): Promise<BrowserResult> {
  const tabs = await browser.listAllTabs();
  return { tabs, text: `${tabs.length} ${tabs.length === 1 ? 'tab' : 'tabs'}.` };
}

async function openTab(browser: TabListBrowser, tabGroups: TabGroups, call: BrowserCall): Promise<BrowserResult> {
  const url = readText(call.args, 'url');
  const tabUrl = url === undefined ? BlankPageUrl : parseWebUrl(url);
  const tabWatch = new TabWatch(browser.watchTabs);
  try {
    const tabId = await browser.openBackgroundTab(tabUrl);
    tabWatch.setTab(tabId);
    await tabGroups.add(tabId, readText(call.args, '_client') ?? '');
    const loaded = url === undefined ? '' : await describeNewTab(browser, { ...call, tabId }, tabWatch, tabUrl);
    const isFocused = readFlag(call.args, 'focus');
    if (isFocused) await browser.activateTab(tabId);
    const placeNote = isFocused ? '' : ' in the background';
    return { text: `Opened tab ${tabId}${placeNote}. It is your current tab. ${loaded}`.trim(), tabId };
  } finally {
    tabWatch.stop();
  }
}

/** If the page fails to load, describeNewTab closes the tab. */
async function describeNewTab(
  browser: TabListBrowser,
  call: BrowserCall,
  tabWatch: TabWatch,
  tabUrl: string,
): Promise<string> {
  try {
    return describeLoad(await waitForLoad(browser, call, tabWatch, 'load', { isNewTab: true }), 'load', tabUrl);
  } catch (error) {
    await browser.closeTab(call.tabId).catch(() => undefined);
    throw error;
  }
}

function readTabId({ args, tabId }: BrowserCall): number | undefined {
  return readNumber(args, 'tabId') ?? (tabId > 0 ? tabId : undefined);
}

async function selectTab(browser: TabListBrowser, call: BrowserCall): Promise<BrowserResult> {
  const tab = await browser.describeTab(readTabId(call));
  if (!tab) throw makeNoTabFailure(call);
  const isFocused = readFlag(call.args, 'focus');
  if (isFocused) await browser.activateTab(tab.tabId);
  const sentences = [`Tab ${tab.tabId} is your current tab.`];
  if (isFocused) sentences.push('The browser displays it.');
  if (tab.problem !== undefined) sentences.push(`Browser tools cannot read it: ${tab.problem}.`);
  return { text: sentences.join(' '), tabId: tab.tabId };
}

async function closeTab(browser: TabListBrowser, call: BrowserCall): Promise<BrowserResult> {
  const tabId = readTabId(call);
  if (tabId === undefined)
    throw makeCallFailure('invalid_arguments', {
      forAgent: 'the action close needs a tabId',
      forUser: 'The call names no tab to close. In a terminal, choose a tab with --tab.',
    });
  if ((await browser.readTabState(tabId)) === 'closed') throw makeNoTabFailure(call);
  await awaitWithin(browser.closeTab(tabId), CloseTimeoutMs);
  if ((await browser.readTabState(tabId)) !== 'closed')
    throw toolFailure('dialog_open', {
      forAgent: 'the tab is still open: the page probably asks the user whether to leave. Ask the user to answer',
      forUser: `Tab ${tabId} is still open, because its page probably asks whether to leave. Answer in the tab.`,
    });
  return { text: `Closed tab ${tabId}.` };
}

function makeNoTabFailure(call: BrowserCall): Error {
  const tabId = readTabId(call);
  const problem = tabId === undefined ? 'no window of the browser displays a tab' : `there is no tab ${tabId}`;
  return toolFailure('not_found', `${problem}. Use browser_tabs with the action list or new`);
}
