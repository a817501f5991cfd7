import type { WaitForArguments, WaitForResult } from '../../page/operations.ts';
import { sleep } from '../../within.ts';
import { readChoice, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { type LoadBrowser, waitForIdleNetwork, waitForLoad } from './loads.ts';
import type { NavigationBrowser } from './navigation.ts';
import { PageLostError } from './page-scripts.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';
import { TabWatch } from './tab-watch.ts';
import { callFailure, makeDocumentGoneFailure, toolFailure } from './tool-failure.ts';

const DefaultTimeoutSeconds = 30;
const MaxTimeoutSeconds = 300;
const ReportIntervalMs = 5000;

const elementStates = ['visible', 'hidden', 'attached', 'detached', 'enabled'] as const;

export type WaitingBrowser = LoadBrowser & Pick<NavigationBrowser, 'watchTabs'>;

export function makeWaitingTools(browser: WaitingBrowser, frames: TabFrames): [string, BrowserTool][] {
  return [['browser_wait_for', (call) => waitFor(browser, frames, call)]];
}

async function waitFor(browser: WaitingBrowser, frames: TabFrames, call: BrowserCall): Promise<BrowserResult> {
  const { args, report } = call;
  const time = readNumber(args, 'time');
  const timeoutMs = Math.min(readNumber(args, 'timeout') ?? DefaultTimeoutSeconds, MaxTimeoutSeconds) * 1000;
  const conditions = readConditions(call);
  const load = readChoice(args, 'load', ['domcontentloaded', 'load', 'networkidle']);
  const names = [
    ...Object.keys(conditions).filter((name) => name !== 'state'),
    ...(load === 'networkidle' ? ['load'] : []),
  ];
  if (names.length === 0 && time === undefined)
    throw callFailure('invalid_arguments', 'browser_wait_for needs text, textGone, selector, url, load or time');
  const startMs = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startMs) / 1000);
    report({ message: `waiting for ${names.join(' and ') || 'the time'}, ${seconds} s` });
  }, ReportIntervalMs);
  try {
    if (time !== undefined) await sleep(Math.min(time, MaxTimeoutSeconds) * 1000, call.signal);
    if (names.length === 0) return { text: `Waited ${time} s.` };
    if (load === 'networkidle' && !(await waitForIdleNetwork(browser, call, Date.now() + timeoutMs)))
      throw toolFailure('timeout', `the page still requested resources after ${timeoutMs / 1000} s`);
    if (Object.keys(conditions).length === 0) return { text: 'The network is idle.' };
    const result = await waitInDocuments(browser, frames, call, conditions, Date.now() + timeoutMs);
    // The server adds the new site's URL to the result if the client is allowed to see the URL.
    if (result === undefined) return { text: 'The tab shows another site now, so the wait for the address ended.' };
    return { text: `Found: ${names.join(' and ')}.`, content: [result.message, result.line ?? ''].join('\n').trim() };
  } finally {
    clearInterval(timer);
  }
}

function readConditions(call: BrowserCall): WaitForArguments {
  const { args } = call;
  const conditions: { -readonly [K in keyof WaitForArguments]: WaitForArguments[K] } = {};
  for (const key of ['text', 'textGone', 'selector', 'url'] as const) {
    const value = readText(args, key);
    if (value !== undefined) conditions[key] = value;
  }
  const state = readChoice(args, 'state', elementStates);
  if (state !== undefined && conditions.selector !== undefined) conditions.state = state;
  const load = readChoice(args, 'load', ['domcontentloaded', 'load', 'networkidle']);
  if (load === 'domcontentloaded' || load === 'load') conditions.load = load;
  return conditions;
}

/**
 * browser_wait_for ends in a document of another origin, because the server has not allowed the call there. After a
 * change of origin, waitInDocuments returns undefined if its only condition is a URL, and fails otherwise.
 */
async function waitInDocuments(
  browser: WaitingBrowser,
  frames: TabFrames,
  call: BrowserCall,
  conditions: WaitForArguments,
  endMs: number,
): Promise<WaitForResult | undefined> {
  const firstUrl = (await browser.readLoadedPage(call.tabId, 1000))?.url;
  let documentId = call.documentId;
  for (;;) {
    const watch = new TabWatch(browser.watchTabs, call.tabId);
    try {
      const timeoutMs = Math.max(0, endMs - Date.now());
      return await waitInFrames(frames, { ...call, documentId }, { ...conditions, timeoutMs });
    } catch (error) {
      if (!(error instanceof PageLostError) || error.state !== 'open') throw error;
      const outcome = await waitForLoad(browser, call, watch, 'commit', {
        limitMs: Math.max(1000, endMs - Date.now()),
      });
      const url = watch.document?.url ?? outcome.page?.url ?? '';
      if (readOrigin(url) !== readOrigin(firstUrl ?? '')) {
        const { url: pattern, ...others } = conditions;
        if (pattern !== undefined && Object.keys(others).length === 0) return undefined;
        throw makeDocumentGoneFailure('open', true);
      }
      if (!watch.document) throw makeDocumentGoneFailure('open', true);
      documentId = watch.document.documentId;
    } finally {
      watch.stop();
    }
  }
}

/** If the conditions contain texts or selectors, waitInFrames also searches the child frames. */
async function waitInFrames(
  frames: TabFrames,
  call: BrowserCall,
  conditions: WaitForArguments,
): Promise<WaitForResult> {
  const [top, ...others] = await frames.list(call);
  if (!top) throw makeDocumentGoneFailure('open', false);
  const { text, selector, textGone, url, load } = conditions;
  const isAnyFrame = (text !== undefined || selector !== undefined) && !textGone && !url && !load;
  // Wait for hidden or detached elements only in the top frame, because other frames may never have contained the
  // element.
  const isGone = conditions.state === 'hidden' || conditions.state === 'detached';
  if (!isAnyFrame || isGone || others.length === 0) return await frames.run(call, top, 'waitFor', conditions);
  const controller = new AbortController();
  const abort = () => controller.abort(call.signal.reason);
  call.signal.addEventListener('abort', abort);
  const wait = (frame: FrameTarget) =>
    frames.run({ signal: controller.signal, report: () => undefined }, frame, 'waitFor', conditions);
  const inTop = wait(top);
  const inOthers = others.slice(0, MaxFrames).map(wait);
  for (const waiting of [inTop, ...inOthers]) waiting.catch(() => undefined);
  try {
    return await Promise.race([inTop, Promise.any(inOthers).catch(() => inTop)]);
  } finally {
    controller.abort('another frame ended the wait');
    call.signal.removeEventListener('abort', abort);
  }
}

function readOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
