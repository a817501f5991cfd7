import { resolveSignal } from './running.ts';
import { startTimer } from './timer.ts';
import { ToolError } from './tool-error.ts';

export interface WaitForSelectorOptions {
  /** How long to wait for the selector, in milliseconds; 10,000 by default. */
  timeout?: number | undefined;
  /**
   * Abort this signal to end the wait early. By default, the abort signal of the running tool call ends the wait; null
   * means no signal.
   */
  signal?: AbortSignal | null | undefined;
}

/**
 * Waits until an element of the page matches the CSS `selector`, and returns the element. Rejects with a ToolError:
 * `TIMEOUT` after the timeout, `aborted` as soon as the signal aborts. If the selector is invalid, the promise rejects
 * with the browser's SyntaxError.
 */
export function waitForSelector<T extends Element = Element>(
  selector: string,
  options: WaitForSelectorOptions = {},
): Promise<T> {
  const findMatch = () => document.querySelector<T>(selector) ?? undefined;
  return waitForMatch(selector, findMatch, options, 'no element of the page matches');
}

/** Waits until no element of the page matches `selector`. Rejects with the same errors as {@link waitForSelector}. */
export async function waitForSelectorRemoval(selector: string, options: WaitForSelectorOptions = {}): Promise<void> {
  const findMatch = () => (document.querySelector(selector) ? undefined : true);
  await waitForMatch(selector, findMatch, options, 'the page still has an element that matches');
}

const attributeSelector = /[.#[:]/;

/** The error message of a timeout begins with `problemText`. */
function waitForMatch<T>(
  selector: string,
  findMatch: () => T | undefined,
  options: WaitForSelectorOptions,
  problemText: string,
): Promise<T> {
  const { timeout = 10_000 } = options;
  const signal = resolveSignal(options.signal);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(ToolError.aborted(signal.reason));
      return;
    }
    const initialMatch = findMatch();
    if (initialMatch !== undefined) {
      resolve(initialMatch);
      return;
    }
    const domObserver = new MutationObserver(() => {
      const match = findMatch();
      if (match === undefined) return;
      stopWaiting();
      resolve(match);
    });
    const cancelTimer = startTimer(timeout, () => {
      stopWaiting();
      reject(ToolError.timeout(`timed out after ${timeout} ms: ${problemText} ${selector}`));
    });
    const onAbort = () => {
      stopWaiting();
      reject(ToolError.aborted(signal?.reason));
    };
    const stopWaiting = () => {
      domObserver.disconnect();
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    domObserver.observe(document, { childList: true, subtree: true, attributes: attributeSelector.test(selector) });
  });
}

/** Returns an array of all elements that match the CSS `selector`, or an empty array if `selector` is invalid. */
export function querySelectorAll<T extends Element = Element>(selector: string): T[] {
  try {
    return [...document.querySelectorAll<T>(selector)];
  } catch {
    return [];
  }
}

/** Returns the trimmed text of the first element that matches the CSS `selector`, or null if no element matches. */
export function getTextContent(selector: string): string | null {
  try {
    return document.querySelector(selector)?.textContent?.trim() ?? null;
  } catch {
    return null;
  }
}

/** Returns the `content` of the page's element `<meta name="...">`, or null if the page has no such element. */
export function getMetaContent(name: string): string | null {
  for (const meta of querySelectorAll('meta')) {
    if (meta.getAttribute('name') === name) return meta.getAttribute('content');
  }
  return null;
}

export interface ObserveDOMOptions {
  /** Whether to report added and removed child elements; true by default. */
  childList?: boolean | undefined;
  /** Whether to report changed attributes; false by default. */
  attributes?: boolean | undefined;
  /** Whether to observe all descendants of the element, not only its children and attributes; true by default. */
  subtree?: boolean | undefined;
}

/**
 * Calls `callback` whenever the first element that matches the CSS `selector` changes. Returns a function that stops
 * the observer. The observer keeps running after the tool call, so stop it in the plugin's `teardown` at the latest.
 * Throws an error if no element matches `selector`.
 */
export function observeDOM(
  selector: string,
  callback: (mutations: MutationRecord[], domObserver: MutationObserver) => void,
  options: ObserveDOMOptions = {},
): () => void {
  const element = document.querySelector(selector);
  if (!element)
    throw new Error(`observeDOM: no element of the page matches ${selector}; wait for it with waitForSelector`);
  const { childList = true, attributes = false, subtree = true } = options;
  const domObserver = new MutationObserver(callback);
  domObserver.observe(element, { childList, attributes, subtree });
  return () => domObserver.disconnect();
}
