// Waits for texts, elements, URLs and load states.
import { describeElement } from './describe.ts';
import { PageFailure } from './failure.ts';
import { selectElements } from './find.ts';
import { listFlatChildren, listKnownRoots } from './flat-tree.ts';
import type { WaitForArguments, WaitForResult } from './operations.ts';
import { ChangeWaiter, pause } from './pace.ts';
import { collectKnownSecrets, findSecretKind } from './secrets.ts';
import { getRootElement } from './snapshot.ts';
import type { PageContext } from './state.ts';
import { isDisabled } from './states.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { determineVisibility } from './visibility.ts';
import { cleanText } from './visible-text.ts';
import { MaxNesting } from './walk.ts';

const DefaultTimeoutMs = 30_000;
const MaxTimeoutMs = 600_000;
/** A style can change without a DOM change, so the conditions of a wait are also checked every PollIntervalMs. */
const PollIntervalMs = 250;
/** MinCheckIntervalMs is the minimum time between two checks of a page that changes constantly, in milliseconds. */
const MinCheckIntervalMs = 50;
const ReportIntervalMs = 1_000;

interface WaitCondition {
  readonly description: string;
  readonly check: () => Element | boolean;
}

export async function waitFor(args: WaitForArguments, context: PageContext): Promise<WaitForResult> {
  const limit = args.timeoutMs ?? DefaultTimeoutMs;
  for (const [name, ms] of [
    ['timeoutMs', limit],
    ['timeMs', args.timeMs ?? 0],
  ] as const) {
    if (!Number.isFinite(ms) || ms < 0 || ms > MaxTimeoutMs) {
      throw new PageFailure('invalid_arguments', `${name} is ${ms}. Use 0 to ${MaxTimeoutMs}.`);
    }
  }
  const start = performance.now();
  const conditions = readConditions(args, start);
  if (conditions.length === 0) {
    throw new PageFailure('invalid_arguments', 'Give at least one of text, textGone, selector, url, load and timeMs.');
  }
  const end =
    start +
    (args.timeMs !== undefined && args.timeoutMs === undefined
      ? Math.max(limit, args.timeMs + ReportIntervalMs)
      : limit);
  const changeWaiter = new ChangeWaiter(listKnownRoots());
  try {
    let lastReportMs = start;
    for (;;) {
      const foundElements: Element[] = [];
      const unmetConditions = conditions.filter((condition) => !isConditionMet(condition, foundElements));
      const now = performance.now();
      if (unmetConditions.length === 0) return makeWaitResult(conditions, now - start, foundElements[0], context);
      const names = unmetConditions.map((condition) => condition.description).join(' and ');
      if (now >= end)
        throw new PageFailure(
          'timeout',
          `Timed out after ${formatSeconds(now - start)}: ${names} not met. Take a snapshot, or wait longer.`,
        );
      if (now - lastReportMs >= ReportIntervalMs) {
        lastReportMs = now;
        context.report({
          message: `waiting for ${names}`,
          progress: Math.round(now - start),
          total: Math.round(end - start),
        });
      }
      await waitForChange(changeWaiter, Math.min(PollIntervalMs, end - now), context.signal);
    }
  } finally {
    changeWaiter.close();
  }
}

/** waitForChange waits at least MinCheckIntervalMs, so that a busy page is not searched after each change. */
async function waitForChange(changeWaiter: ChangeWaiter, ms: number, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  await changeWaiter.wait(ms, signal);
  const remainingMs = MinCheckIntervalMs - (performance.now() - start);
  if (remainingMs > 0) await pause(remainingMs, signal);
}

function isConditionMet(condition: WaitCondition, foundElements: Element[]): boolean {
  const checkResult = condition.check();
  if (checkResult instanceof Element) foundElements.push(checkResult);
  return checkResult !== false;
}

function makeWaitResult(
  conditions: readonly WaitCondition[],
  waitedMs: number,
  foundElement: Element | undefined,
  context: PageContext,
): WaitForResult {
  const names = conditions.map((condition) => condition.description).join(' and ');
  const line = foundElement?.isConnected ? { line: describeElement(foundElement, context) } : {};
  return { message: names, waitedMs: Math.round(waitedMs), ...line };
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function readConditions(args: WaitForArguments, start: number): WaitCondition[] {
  const { text, textGone, selector, state = 'visible', url, load, timeMs } = args;
  const conditions: WaitCondition[] = [];
  if (text) conditions.push({ description: `text ${JSON.stringify(text)}`, check: () => findText(text) ?? false });
  if (textGone)
    conditions.push({
      description: `no text ${JSON.stringify(textGone)}`,
      check: () => findText(textGone) === undefined,
    });
  if (selector) {
    selectElements(selector); // an invalid selector fails at once
    conditions.push({ description: `${selector} ${state}`, check: () => checkSelectorState(selector, state) });
  }
  if (url) conditions.push({ description: `address ${url}`, check: makeUrlCheck(url) });
  if (load) {
    conditions.push({
      description: load,
      check: () =>
        unclobberedDocument.readyState === 'complete' ||
        (load !== 'load' && unclobberedDocument.readyState === 'interactive'),
    });
  }
  if (timeMs !== undefined)
    conditions.push({ description: `${formatSeconds(timeMs)}`, check: () => performance.now() - start >= timeMs });
  return conditions;
}

function checkSelectorState(selector: string, state: NonNullable<WaitForArguments['state']>): Element | boolean {
  const matches = selectElements(selector);
  switch (state) {
    case 'attached':
      return matches[0] ?? false;
    case 'detached':
      return matches.length === 0;
    case 'hidden':
      return !matches.some(hasVisibleBox);
    case 'enabled':
      return matches.find((element) => hasVisibleBox(element) && !isDisabled(element)) ?? false;
    case 'visible':
      return matches.find(hasVisibleBox) ?? false;
  }
}

function hasVisibleBox(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0;
}

function makeUrlCheck(url: string): () => boolean {
  if (!url.includes('*')) return () => location.href.includes(url);
  const parts = url.split(/\*+/);
  return () => containsPartsInOrder(location.href, parts);
}

export function containsPartsInOrder(text: string, parts: readonly string[]): boolean {
  const [firstPart = '', ...rest] = parts;
  const lastPart = rest.pop() ?? '';
  if (!text.startsWith(firstPart) || !text.endsWith(lastPart) || text.length < firstPart.length + lastPart.length)
    return false;
  let at = firstPart.length;
  for (const part of rest) {
    const partIndex = text.indexOf(part, at);
    if (partIndex < 0 || partIndex + part.length > text.length - lastPart.length) return false;
    at = partIndex + part.length;
  }
  return true;
}

function findText(text: string): Element | undefined {
  const wantedText = cleanText(text).toLowerCase();
  return wantedText === '' ? undefined : new TextSearch(wantedText).find(getRootElement());
}

/**
 * TextSearch ignores the values of secret fields, because otherwise an agent could guess a secret character by
 * character.
 */
class TextSearch {
  readonly #wantedText: string;
  readonly #secretMask = collectKnownSecrets();

  constructor(wantedText: string) {
    this.#wantedText = wantedText;
  }

  find(element: Element, nesting = 0): Element | undefined {
    if (nesting > MaxNesting || findSecretKind(element) !== undefined) return undefined;
    // textContent omits the texts in shadow roots and in fields, so an element can show a text that is missing from
    // textContent.
    if (!mayShowText(element, this.#wantedText)) return undefined;
    const elementVisibility = determineVisibility(element, getComputedStyle(element));
    if (!elementVisibility.isRendered || elementVisibility.hidesContents) return undefined;
    let own = '';
    for (const child of listFlatChildren(element)) {
      if (child instanceof Element) {
        const childMatch = this.find(child, nesting + 1);
        if (childMatch) return childMatch;
      } else if (child instanceof Text) own += child.data;
    }
    if (elementVisibility.text && this.#isIn(cleanText(own))) return element;
    if (element instanceof HTMLInputElement && /^(button|submit|reset|text|search)$/.test(element.type))
      return this.#isIn(element.value) ? element : undefined;
    const isShort = element instanceof HTMLElement && element.childElementCount > 0 && element.childElementCount < 50;
    return isShort && this.#isIn(cleanText(element.innerText)) ? element : undefined;
  }

  #isIn(text: string): boolean {
    return this.#secretMask.maskText(text).toLowerCase().includes(this.#wantedText);
  }
}

const OpaqueContentSelector = 'input,slot,*:not(:defined)';

function mayShowText(element: Element, wantedText: string): boolean {
  const content = element.textContent ?? '';
  if (content.toLowerCase().includes(wantedText) || cleanText(content).toLowerCase().includes(wantedText)) return true;
  if (element.localName.includes('-') || element.localName === 'input' || element.localName === 'slot') return true;
  return element.querySelector(OpaqueContentSelector) !== null || listKnownRoots().length > 1;
}
