import { signalFor } from './running.ts';
import { startTimer } from './timer.ts';
import { ToolError } from './tool-error.ts';

export interface WaitForSelectorOptions {
  /** When to give up, in milliseconds; 10,000 if absent. */
  timeout?: number | undefined;
  /** Stops the wait. The signal of the running call if absent; null for none. */
  signal?: AbortSignal | null | undefined;
}

/**
 * Waits until the page has an element that matches, and returns it. Rejects with a ToolError `TIMEOUT` when the time is
 * over, with `aborted` as soon as the signal aborts, and with the browser's SyntaxError for a selector that is none.
 */
export function waitForSelector<T extends Element = Element>(
  selector: string,
  options: WaitForSelectorOptions = {},
): Promise<T> {
  const look = () => document.querySelector<T>(selector) ?? undefined;
  return watch(selector, look, options, 'nothing in the page matches');
}

/** Waits until no element of the page matches any more. It rejects like {@link waitForSelector}. */
export async function waitForSelectorRemoval(selector: string, options: WaitForSelectorOptions = {}): Promise<void> {
  const look = () => (document.querySelector(selector) ? undefined : true);
  await watch(selector, look, options, 'the page still has what matches');
}

/** Whether attributes decide what a selector matches: classes, ids, attributes and states. */
const needsAttributes = /[.#[:]/;

/** Waits until `look` returns something. */
function watch<T>(
  selector: string,
  look: () => T | undefined,
  options: WaitForSelectorOptions,
  inVain: string,
): Promise<T> {
  const { timeout = 10_000 } = options;
  const signal = signalFor(options.signal);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(ToolError.aborted(signal.reason));
      return;
    }
    const there = look();
    if (there !== undefined) {
      resolve(there);
      return;
    }
    const observer = new MutationObserver(() => {
      const found = look();
      if (found === undefined) return;
      end();
      resolve(found);
    });
    const cancel = startTimer(timeout, () => {
      end();
      reject(ToolError.timeout(`waited ${timeout} ms in vain: ${inVain} ${selector}`));
    });
    const stopped = () => {
      end();
      reject(ToolError.aborted(signal?.reason));
    };
    const end = () => {
      observer.disconnect();
      cancel();
      signal?.removeEventListener('abort', stopped);
    };
    signal?.addEventListener('abort', stopped, { once: true });
    observer.observe(document, { childList: true, subtree: true, attributes: needsAttributes.test(selector) });
  });
}

/** Returns all elements that match, as an array: none for a selector that is none. */
export function querySelectorAll<T extends Element = Element>(selector: string): T[] {
  try {
    return [...document.querySelectorAll<T>(selector)];
  } catch {
    return [];
  }
}

/** Returns the text of the first element that matches, without the space around it; null if there is none. */
export function getTextContent(selector: string): string | null {
  try {
    return document.querySelector(selector)?.textContent?.trim() ?? null;
  } catch {
    return null;
  }
}

/** Returns the content of `<meta name="...">`; null if there is none. */
export function getMetaContent(name: string): string | null {
  for (const meta of querySelectorAll('meta')) {
    if (meta.getAttribute('name') === name) return meta.getAttribute('content');
  }
  return null;
}

export interface ObserveDOMOptions {
  /** Whether added and removed children count; true if absent. */
  childList?: boolean | undefined;
  /** Whether changed attributes count; false if absent. */
  attributes?: boolean | undefined;
  /** Whether all below the element counts, not only its own children and attributes; true if absent. */
  subtree?: boolean | undefined;
}

/**
 * Calls `callback` for every change of the first element that matches, until the function that it returns is called. It
 * does not end with the call: call that function in the plugin's teardown at the latest. It throws if nothing matches.
 */
export function observeDOM(
  selector: string,
  callback: (mutations: MutationRecord[], observer: MutationObserver) => void,
  options: ObserveDOMOptions = {},
): () => void {
  const element = document.querySelector(selector);
  if (!element)
    throw new Error(`observeDOM: nothing in the page matches ${selector}; wait for it with waitForSelector`);
  const { childList = true, attributes = false, subtree = true } = options;
  const observer = new MutationObserver(callback);
  observer.observe(element, { childList, attributes, subtree });
  return () => observer.disconnect();
}
