import type * as chromeBase from '../../chrome.ts';
import type * as pages from '../../chrome-pages.ts';
import { awaitWithin } from '../../within.ts';
import { readChoice, readText, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { type LoadBrowser, type LoadOutcome, LoadStates, type WaitUntil, waitForLoad } from './loads.ts';
import type { FullSnapshot, Snapshots } from './snapshots.ts';
import { TabWatch } from './tab-watch.ts';
import { makeCallFailure, toolFailure } from './tool-failure.ts';

export type NavigationBrowser = LoadBrowser &
  Pick<typeof pages, 'watchTabs' | 'startNavigation' | 'navigateHistory'> &
  Pick<typeof chromeBase, 'reloadTab'>;

const StartTimeoutMs = 2000;

export function makeNavigationTools(
  browser: NavigationBrowser,
  snapshots: Pick<Snapshots, 'takeFull' | 'takeOfNewDocument'>,
): [string, BrowserTool][] {
  return [
    [
      'browser_navigate',
      async (call) => {
        const navigation = await navigate(browser, call);
        const snapshot = readChoice(call.args, 'snapshot', ['diff', 'none', 'full']) ?? 'diff';
        if (snapshot === 'full' && navigation.hasAccess)
          return addSnapshot(navigation, await snapshots.takeFull({ ...call, documentId: '' }));
        const isShown = snapshot === 'diff' && navigation.isReadable;
        return addSnapshot(navigation, isShown ? await snapshots.takeOfNewDocument(call) : undefined);
      },
    ],
    [
      'browser_navigate_back',
      async (call) => {
        const navigation = await runHistoryAction(browser, call, 'back', 'load');
        return addSnapshot(navigation, navigation.isReadable ? await snapshots.takeOfNewDocument(call) : undefined);
      },
    ],
  ];
}

function addSnapshot({ text, url }: Navigation, snapshot: FullSnapshot | undefined): BrowserResult {
  if (!snapshot) return { text };
  const { note, ...shown } = snapshot;
  const hasMoved = url !== undefined && removeFragment(url) !== removeFragment(shown.page.url);
  const sentences = [text, hasMoved ? 'The page then led to another address.' : '', note];
  return { text: sentences.filter((word) => word !== '').join(' '), ...shown };
}

function removeFragment(url: string): string {
  return url.replace(/#.*$/s, '');
}

interface Navigation {
  readonly text: string;
  /** The field `url` is the address of the page at the end of the load, or undefined if unknown. */
  readonly url?: string | undefined;
  /** isReadable is true if the tab shows a new document that the extension can read. */
  readonly isReadable: boolean;
  readonly hasAccess: boolean;
}

function toNavigation({ isNewDocument, accessProblem, page }: LoadOutcome, text: string): Navigation {
  const hasAccess = accessProblem === undefined;
  return { text, url: page?.url, hasAccess, isReadable: isNewDocument && hasAccess };
}

async function navigate(browser: NavigationBrowser, call: BrowserCall): Promise<Navigation> {
  const waitUntil = readChoice(call.args, 'waitUntil', LoadStates) ?? 'load';
  const go = readChoice(call.args, 'go', ['back', 'forward', 'reload']);
  const url = readText(call.args, 'url');
  if ((url === undefined) === (go === undefined))
    throw makeCallFailure('invalid_arguments', 'browser_navigate needs either url, or go: back, forward or reload');
  if (go !== undefined) return await runHistoryAction(browser, call, go, waitUntil);
  const address = parseWebUrl(requireText(call.args, 'url'));
  const outcome = await runNavigation(browser, call, () => browser.startNavigation(call.tabId, address), waitUntil);
  return toNavigation(outcome, describeLoad(outcome, waitUntil, address));
}

export async function reloadPage(browser: NavigationBrowser, call: BrowserCall): Promise<string> {
  return (await runHistoryAction(browser, call, 'reload', 'load')).text;
}

async function runHistoryAction(
  browser: NavigationBrowser,
  call: BrowserCall,
  go: 'back' | 'forward' | 'reload',
  waitUntil: WaitUntil,
): Promise<Navigation> {
  const start = {
    back: () => browser.navigateHistory(call.tabId, -1),
    forward: () => browser.navigateHistory(call.tabId, 1),
    reload: () => browser.reloadTab(call.tabId),
  }[go];
  const outcome = await runNavigation(browser, call, start, waitUntil, go !== 'reload');
  return toNavigation(outcome, describeLoad(outcome, waitUntil));
}

async function runNavigation(
  browser: NavigationBrowser,
  call: BrowserCall,
  start: () => Promise<void>,
  waitUntil: WaitUntil,
  isHistoryNavigation = false,
): Promise<LoadOutcome> {
  const watch = new TabWatch(browser.watchTabs, call.tabId);
  try {
    let problem: unknown;
    // Limit the wait: while the page shows a dialog, the promise of Chrome's navigation function stays pending.
    await awaitWithin(
      start().catch((error: unknown) => {
        problem = error;
      }),
      StartTimeoutMs,
    );
    if (problem !== undefined) throw problem;
    call.markActed();
    return await waitForLoad(browser, call, watch, waitUntil, { isHistoryNavigation });
  } finally {
    watch.stop();
  }
}

export function parseWebUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    const problem = 'is not a whole address. Write the scheme and the host, such as https://example.com/';
    throw toolFailure('invalid_url', `"${text.slice(0, 200)}" ${problem}`);
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url.href;
  throw toolFailure('invalid_url', `browser tools open http and https addresses only, not ${url.protocol} addresses`);
}

/**
 * describeLoad mentions no URLs, because the server adds the page's URL only if the client is allowed to see the URL.
 */
export function describeLoad(outcome: LoadOutcome, waitUntil: WaitUntil, requestedUrl?: string): string {
  const { page, isNewDocument, hasReachedState: isStateReached, accessProblem } = outcome;
  if (accessProblem !== undefined) return `The tab shows the page, but ${accessProblem}.`;
  if (!page) return 'The tab shows a new page, which does not answer yet. Use browser_wait_for or try again.';
  if (!isNewDocument) return 'The address changed; the document is the same.';
  const sentences = [page.status > 0 ? `Loaded (status ${page.status}).` : 'Loaded.'];
  if (requestedUrl !== undefined && requestedUrl !== page.url)
    sentences.push('The site redirected to another address.');
  if (page.status >= 400) sentences.push('The site reports an error.');
  if (!isStateReached)
    sentences.push(
      `The page has not reached "${waitUntil}" yet; what is there can be read. Use browser_wait_for with a text that should appear.`,
    );
  return sentences.join(' ');
}
