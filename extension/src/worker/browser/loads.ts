import type * as pages from '../../chrome-pages.ts';
import type { LoadedPage } from '../../chrome-pages.ts';
import type * as tabs from '../../chrome-tabs.ts';
import { sleep } from '../../within.ts';
import type { BrowserCall } from './browser-tool.ts';
import type { TabWatch } from './tab-watch.ts';
import { type FailureTexts, makeDocumentGoneFailure, toolFailure } from './tool-failure.ts';

export type WaitUntil = 'commit' | 'domcontentloaded' | 'load' | 'networkidle';
export const LoadStates: readonly WaitUntil[] = ['commit', 'domcontentloaded', 'load', 'networkidle'];

const ResponseTimeoutMs = 60_000;
const LoadTimeoutMs = 15_000;
const ReportIntervalMs = 1000;
/**
 * DialogCheckIntervalMs is how long a navigation may take before the tool checks for an open dialog, in milliseconds.
 */
const DialogCheckIntervalMs = 2000;
/**
 * When a script redirects a page that is still loading, Chrome aborts the request for the page and sends another
 * request.
 */
const AbortedRequestWaitMs = 300;
/** NetworkIdleMs is how long no request may finish before the network counts as idle, in milliseconds. */
const NetworkIdleMs = 500;
const PageAnswerTimeoutMs = 1000;

export type LoadBrowser = Pick<typeof pages, 'readLoadedPage'> &
  Pick<typeof tabs, 'readDisplayedTab' | 'describeTab'> & {
    findAccessProblem(url: string): string | undefined;
  };

export interface LoadOutcome {
  readonly hasReachedState: boolean;
  /** isNewDocument is false if the navigation changed only the URL of the tab's document. */
  readonly isNewDocument: boolean;
  readonly page: LoadedPage | undefined;
  readonly accessProblem?: string | undefined;
}

export interface LoadOptions {
  readonly isHistoryNavigation?: boolean;
  /** isNewTab is true for a tab that was just opened, whose page cannot show a dialog yet. */
  readonly isNewTab?: boolean;
  /** limitMs limits the wait for the site's response and the wait for the document's load, each in milliseconds. */
  readonly limitMs?: number;
}

export async function waitForLoad(
  browser: LoadBrowser,
  call: Pick<BrowserCall, 'tabId' | 'report' | 'signal'>,
  watch: TabWatch,
  waitUntil: WaitUntil,
  options: LoadOptions = {},
): Promise<LoadOutcome> {
  const hasNewDocument = await waitForDocument(browser, call, watch, options);
  const loadMs = options.limitMs ?? LoadTimeoutMs;
  const isStateReached = !hasNewDocument || (await waitForState(browser, call, watch, waitUntil, loadMs));
  if (watch.isClosed) throw makeDocumentGoneFailure('closed', true);
  const { document } = watch;
  let page = await browser.readLoadedPage(call.tabId, PageAnswerTimeoutMs);
  // Read the page again, because a page that redirects by a script can be replaced during the first read.
  if (!page && watch.document !== document) page = await browser.readLoadedPage(call.tabId, PageAnswerTimeoutMs);
  if (page) return { hasReachedState: isStateReached, isNewDocument: hasNewDocument, page };
  const tab = await browser.describeTab(call.tabId);
  return {
    hasReachedState: isStateReached,
    isNewDocument: hasNewDocument,
    page,
    accessProblem: browser.findAccessProblem(tab?.url ?? ''),
  };
}

/** If the tab's URL changes without a new document, waitForDocument returns false. */
async function waitForDocument(
  browser: LoadBrowser,
  { tabId, report, signal }: Pick<BrowserCall, 'tabId' | 'report' | 'signal'>,
  watch: TabWatch,
  { isHistoryNavigation = false, isNewTab = false, limitMs = ResponseTimeoutMs }: LoadOptions,
): Promise<boolean> {
  const startMs = Date.now();
  let hasCheckedDialog = false;
  while (!watch.document) {
    if (watch.isClosed) throw makeDocumentGoneFailure('closed', true);
    if (watch.address !== undefined && !watch.isLoading) return false;
    const elapsedMs = Date.now() - startMs;
    if (watch.error !== undefined) await throwUnlessRequestReplaced(watch, signal);
    else if (elapsedMs >= limitMs)
      throw toolFailure(
        'timeout',
        `the site did not answer within ${limitMs / 1000} s. Check the address, or try again`,
      );
    else if (!isNewTab && !watch.hasStarted && elapsedMs >= DialogCheckIntervalMs && !hasCheckedDialog) {
      hasCheckedDialog = true;
      const page = await browser.readLoadedPage(tabId, PageAnswerTimeoutMs);
      if (watch.hasStarted || watch.error !== undefined || watch.address !== undefined) continue;
      if (!page) throw makeDialogFailure();
      if (isHistoryNavigation)
        throw toolFailure('navigation_failed', 'the tab has no page there in its history. Navigate to a url instead');
    } else {
      await watch.next(ReportIntervalMs, signal);
      const seconds = Math.floor((Date.now() - startMs) / 1000);
      if (!watch.document && seconds > 0) report({ message: `waiting for the site's answer, ${seconds} s` });
    }
  }
  return true;
}

function makeDialogFailure(): Error {
  return toolFailure('dialog_open', {
    forAgent:
      'the page does not leave: it probably shows a dialog, such as "Leave site?", to the user. Ask the user to answer it',
    forUser:
      'The page does not leave, because it probably shows a dialog, such as "Leave site?". Answer it in the tab.',
  });
}

/** If Chrome has aborted the request, throwUnlessRequestReplaced first waits for another request. */
async function throwUnlessRequestReplaced(watch: TabWatch, signal: AbortSignal): Promise<void> {
  const { error = '' } = watch;
  if (error === 'net::ERR_ABORTED') {
    const endMs = Date.now() + AbortedRequestWaitMs;
    while (watch.error === error && Date.now() < endMs) await watch.next(endMs - Date.now(), signal);
    if (watch.error !== error) return;
  }
  throw toolFailure('navigation_failed', describeNavigationError(error));
}

function describeNavigationError(error: string): string | FailureTexts {
  const known: Readonly<Record<string, string>> = {
    'net::ERR_NAME_NOT_RESOLVED': 'no site has this host name. Check the address',
    'net::ERR_CONNECTION_REFUSED':
      'nothing listens at this host and port. Check the address, or whether the server runs',
    'net::ERR_CONNECTION_TIMED_OUT': 'the host does not answer. Check the address, or try again',
    'net::ERR_INTERNET_DISCONNECTED':
      'the computer has no network connection, or browser_network_conditions took the tab offline. Check both',
    'net::ERR_TOO_MANY_REDIRECTS': 'the site redirects without end. Cookies of the site may cause this',
    'net::ERR_ABORTED':
      'the site sent no page: the answer was a download or empty, or the page stopped the load. The tab shows what it showed before',
    'net::ERR_HTTP_RESPONSE_CODE_FAILURE':
      'the site answered with an error status and without a page. Check the address, or try again later',
    'net::ERR_EMPTY_RESPONSE': 'the site closed the connection without an answer. Try again later',
    'net::ERR_INVALID_AUTH_CREDENTIALS':
      'the site asks for a user name and a password in a dialog of the browser. Ask the user to log in in the tab',
    'net::ERR_UNSAFE_PORT': 'Chrome never opens addresses with this port. Check the address',
    'net::ERR_BLOCKED_BY_CLIENT': 'an extension or a setting of the browser blocks this page',
  };
  if (error.startsWith('net::ERR_CERT_')) {
    return {
      forAgent: `${error}: the certificate of the site is not valid. Ask the user whether to visit the site`,
      forUser: `The certificate of the site is not valid (${error}). Read the warning of Chrome in the tab.`,
    };
  }
  return `${error}: ${known[error] ?? 'the page could not be loaded. Check the address, or try again'}`;
}

async function waitForState(
  browser: LoadBrowser,
  call: Pick<BrowserCall, 'tabId' | 'report' | 'signal'>,
  watch: TabWatch,
  waitUntil: WaitUntil,
  loadMs: number,
): Promise<boolean> {
  const { report, signal, tabId } = call;
  const endMs = Date.now() + loadMs;
  while (!isLoadStateReached(watch, waitUntil)) {
    if (watch.isClosed || Date.now() >= endMs) return false;
    await watch.next(Math.min(ReportIntervalMs / 2, endMs - Date.now()), signal);
    if (isLoadStateReached(watch, waitUntil)) break;
    // A page from the back/forward cache may fire no load event.
    if (!watch.isClosed && (await browser.readDisplayedTab(tabId))?.loading === false) break;
    report({ message: watch.isDomReady ? 'the page is loading its resources' : 'the page is loading' });
  }
  return waitUntil !== 'networkidle' || (await waitForIdleNetwork(browser, call, endMs));
}

function isLoadStateReached(watch: TabWatch, waitUntil: WaitUntil): boolean {
  if (waitUntil === 'commit') return true;
  return waitUntil === 'domcontentloaded' ? watch.isDomReady : watch.isLoaded;
}

/** waitForIdleNetwork waits until no request of the page has finished for NetworkIdleMs. */
export async function waitForIdleNetwork(
  browser: LoadBrowser,
  { tabId, report, signal }: Pick<BrowserCall, 'tabId' | 'report' | 'signal'>,
  endMs: number,
): Promise<boolean> {
  let count = -1;
  let idleSinceMs = Date.now();
  while (Date.now() < endMs) {
    const page = await browser.readLoadedPage(tabId, PageAnswerTimeoutMs);
    if (page && page.resources === count && Date.now() - idleSinceMs >= NetworkIdleMs) return true;
    if (page?.resources !== count) {
      count = page?.resources ?? -1;
      idleSinceMs = Date.now();
      report({ message: 'waiting until the page requests nothing more' });
    }
    await sleep(NetworkIdleMs / 4, signal);
  }
  return false;
}
