// The functions of Chrome that browser tools use on any tab, whether or not a plugin matches the tab.

import type { AnyTab } from '../../wire/wire.gen.ts';

/**
 * describeTab returns the current state of a tab, or undefined if there is no such tab. Without a tabId, describeTab
 * describes the tab that the user looks at.
 */
export async function describeTab(tabId: number | undefined): Promise<AnyTab | undefined> {
  const tab = tabId === undefined ? await lookedAtTab() : await chrome.tabs.get(tabId).catch(() => undefined);
  if (tab?.id === undefined) return undefined;
  const { id, title = '', active } = tab;
  const frame = await chrome.webNavigation.getFrame({ tabId: id, frameId: 0 }).catch(() => null);
  // While a page loads, tab.url may already be the address of the next document.
  const url = frame?.url || tab.url || '';
  const problem = problemOf(url, tab.discarded);
  if (problem !== undefined || !frame)
    return { tabId: id, url, title, active, problem: problem ?? 'the tab has no page yet' };
  return { tabId: id, url, title, active, documentId: frame.documentId };
}

/** lookedAtTab returns the active tab of the window that had the focus last. */
async function lookedAtTab(): Promise<chrome.tabs.Tab | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

/** problemOf returns why scripts of the extension cannot run in a tab, or undefined if they can. */
function problemOf(url: string, discarded: boolean): string | undefined {
  if (discarded) return 'Chrome has unloaded the tab to save memory; reload it first';
  if (url.startsWith('https://') || url.startsWith('http://')) {
    return isWebStore(url) ? 'Chrome lets no extension into its Web Store' : undefined;
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
