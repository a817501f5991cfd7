import type { WaitForArguments, WaitForResult } from '../../page/operations.ts';
import { sleep } from '../../within.ts';
import { readChoice, readNumber, readText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import { type LoadBrowser, waitForIdleNetwork, waitForLoad } from './loads.ts';
import type { NavigationBrowser } from './navigation.ts';
import { PageLostError } from './page-scripts.ts';
import { type FrameTarget, MaxFrames, type TabFrames } from './tab-frames.ts';
import { TabWatch } from './tab-watch.ts';
import { makeCallFailure, makeDocumentGoneFailure, ToolFailure, toolFailure } from './tool-failure.ts';

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
    throw makeCallFailure('invalid_arguments', 'browser_wait_for needs text, textGone, selector, url, load or time');
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
    const waitStartMs = Date.now();
    const result = await waitInDocuments(browser, frames, call, conditions, waitStartMs + timeoutMs);
    // The server adds the new site's URL to the result if the client is allowed to see the URL.
    if (result === undefined) return { text: 'The tab shows another site now, so the wait for the address ended.' };
    const seconds = ((Date.now() - waitStartMs) / 1000).toFixed(1);
    // The time includes waits in earlier documents and frames.
    const message = `${result.message} after ${seconds} s`;
    return { text: `Found: ${names.join(' and ')}.`, content: [message, result.line ?? ''].join('\n').trim() };
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
 * change of origin, waitInDocuments returns undefined if the only condition is a URL, and otherwise throws.
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

/** waitInFrames waits for texts and elements in any frame. A text or element counts as gone if no frame shows it. */
async function waitInFrames(
  frames: TabFrames,
  call: BrowserCall,
  conditions: WaitForArguments,
): Promise<WaitForResult> {
  const { text, textGone, selector, state, url, load } = conditions;
  const isDisappearanceState = state === 'hidden' || state === 'detached';
  const waitsForAppearance = text !== undefined || (selector !== undefined && !isDisappearanceState);
  const waitsForDisappearance = textGone !== undefined || (selector !== undefined && isDisappearanceState);
  if (url === undefined && load === undefined && waitsForAppearance !== waitsForDisappearance)
    return await (waitsForAppearance ? waitInAnyFrame : waitInAllFrames)(frames, call, conditions);
  const top = await frames.top(call);
  return await frames.run(call, top, 'waitFor', conditions);
}

/** FrameCheckIntervalMs is how often a wait checks whether the tab has new frames, in milliseconds. */
const FrameCheckIntervalMs = 500;

/** waitInAnyFrame also waits in frames that the page adds or loads during the wait. */
async function waitInAnyFrame(
  frames: TabFrames,
  call: BrowserCall,
  conditions: WaitForArguments,
): Promise<WaitForResult> {
  const endMs = Date.now() + (conditions.timeoutMs ?? 0);
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort(call.signal.reason);
  call.signal.addEventListener('abort', abort);
  const startedDocumentIds = new Set<string>();
  const startFrameWaits = async (): Promise<Promise<WaitForResult>[]> => {
    const newFrames = (await frames.list(call)).filter(({ documentId }) => !startedDocumentIds.has(documentId));
    return newFrames.slice(0, MaxFrames + 1 - startedDocumentIds.size).map((frame) => {
      startedDocumentIds.add(frame.documentId);
      const report = frame.prefix === '' ? call.report : () => undefined;
      const timeoutMs = Math.max(0, endMs - Date.now());
      return frames.run({ signal, report }, frame, 'waitFor', { ...conditions, timeoutMs });
    });
  };
  try {
    const [topFrameWait, ...otherFrameWaits] = await startFrameWaits();
    if (!topFrameWait) throw makeDocumentGoneFailure('open', false);
    return await new Promise((resolve, reject) => {
      topFrameWait.then(resolve, reject); // the top frame also reports the timeout and the end of the document
      const add = (newFrameWaits: readonly Promise<WaitForResult>[]) => {
        for (const wait of newFrameWaits) wait.then(resolve, () => undefined);
      };
      add(otherFrameWaits);
      const search = async () => {
        for (;;) {
          await sleep(FrameCheckIntervalMs, signal);
          add(await startFrameWaits());
        }
      };
      search().catch(() => undefined);
    });
  } finally {
    controller.abort('the wait has ended');
    call.signal.removeEventListener('abort', abort);
  }
}

async function waitInAllFrames(
  frames: TabFrames,
  call: BrowserCall,
  conditions: WaitForArguments,
): Promise<WaitForResult> {
  const endMs = Date.now() + (conditions.timeoutMs ?? 0);
  for (;;) {
    const [top, ...otherFrames] = (await frames.list(call)).slice(0, MaxFrames + 1);
    if (!top) throw makeDocumentGoneFailure('open', false);
    const wait = (frame: FrameTarget, report: BrowserCall['report']) =>
      frames.run({ signal: call.signal, report }, frame, 'waitFor', {
        ...conditions,
        timeoutMs: Math.max(0, endMs - Date.now()),
      });
    const results = [
      wait(top, call.report),
      ...otherFrames.map((frame) => ignoreFrameLoss(wait(frame, () => undefined))),
    ];
    const [result] = await Promise.all(results);
    const knownDocumentIds = new Set([top, ...otherFrames].map(({ documentId }) => documentId));
    const now = (await frames.list(call)).slice(0, MaxFrames + 1);
    if (result && now.every(({ documentId }) => knownDocumentIds.has(documentId))) return result;
    if (Date.now() >= endMs)
      throw toolFailure('timeout', 'timed out while the page kept adding frames. Take a snapshot, or wait longer');
  }
}

/**
 * ignoreFrameLoss ignores a frame that the page removes or that does not answer, so that the frame does not end the
 * wait.
 */
async function ignoreFrameLoss(waitPromise: Promise<WaitForResult>): Promise<WaitForResult | undefined> {
  try {
    return await waitPromise;
  } catch (error) {
    if (error instanceof ToolFailure && error.error.tool?.code === 'timeout') throw error;
    return undefined;
  }
}

function readOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
