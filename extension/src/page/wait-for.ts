// Waits for texts, elements, URLs and load states.
import { describeElement } from './describe.ts';
import { PageFailure } from './failure.ts';
import { selectElements } from './find.ts';
import { listFlatChildren, listKnownRoots } from './flat-tree.ts';
import type { WaitForArguments, WaitForResult } from './operations.ts';
import { ChangeWait, pause } from './pace.ts';
import { getRootElement } from './snapshot.ts';
import type { Context } from './state.ts';
import { isDisabled } from './states.ts';
import { unclobbered } from './unclobbered.ts';
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

interface Condition {
  readonly description: string;
  readonly check: () => Element | boolean;
}

export async function waitFor(args: WaitForArguments, context: Context): Promise<WaitForResult> {
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
  const wakeup = new ChangeWait(listKnownRoots());
  try {
    let reported = start;
    for (;;) {
      const shown: Element[] = [];
      const missing = conditions.filter((condition) => !isConditionMet(condition, shown));
      const now = performance.now();
      if (missing.length === 0) return makeWaitResult(conditions, now - start, shown[0], context);
      const names = missing.map((condition) => condition.description).join(' and ');
      if (now >= end)
        throw new PageFailure(
          'timeout',
          `Timed out after ${formatSeconds(now - start)}: ${names} not met. Take a snapshot, or wait longer.`,
        );
      if (now - reported >= ReportIntervalMs) {
        reported = now;
        context.report({
          message: `waiting for ${names}`,
          progress: Math.round(now - start),
          total: Math.round(end - start),
        });
      }
      await waitForChange(wakeup, Math.min(PollIntervalMs, end - now), context.signal);
    }
  } finally {
    wakeup.close();
  }
}

/** waitForChange waits at least MinCheckIntervalMs, so that a busy page is not searched after each change. */
async function waitForChange(wakeup: ChangeWait, ms: number, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  await wakeup.wait(ms, signal);
  const rest = MinCheckIntervalMs - (performance.now() - start);
  if (rest > 0) await pause(rest, signal);
}

function isConditionMet(condition: Condition, shown: Element[]): boolean {
  const found = condition.check();
  if (found instanceof Element) shown.push(found);
  return found !== false;
}

function makeWaitResult(
  conditions: readonly Condition[],
  afterMs: number,
  shown: Element | undefined,
  context: Context,
): WaitForResult {
  const names = conditions.map((condition) => condition.description).join(' and ');
  const line = shown?.isConnected ? { line: describeElement(shown, context) } : {};
  return { message: names, afterMs: Math.round(afterMs), ...line };
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function readConditions(args: WaitForArguments, start: number): Condition[] {
  const { text, textGone, selector, state = 'visible', url, load, timeMs } = args;
  const conditions: Condition[] = [];
  if (text) conditions.push({ description: `text ${JSON.stringify(text)}`, check: () => findText(text) ?? false });
  if (textGone)
    conditions.push({
      description: `no text ${JSON.stringify(textGone)}`,
      check: () => findText(textGone) === undefined,
    });
  if (selector) {
    selectElements(selector); // An invalid selector fails at once.
    conditions.push({ description: `${selector} ${state}`, check: () => checkSelectorState(selector, state) });
  }
  if (url) conditions.push({ description: `address ${url}`, check: makeUrlCheck(url) });
  if (load) {
    conditions.push({
      description: load,
      check: () =>
        unclobbered.readyState === 'complete' || (load !== 'load' && unclobbered.readyState === 'interactive'),
    });
  }
  if (timeMs !== undefined)
    conditions.push({ description: `${formatSeconds(timeMs)}`, check: () => performance.now() - start >= timeMs });
  return conditions;
}

function checkSelectorState(selector: string, state: NonNullable<WaitForArguments['state']>): Element | boolean {
  const found = selectElements(selector);
  switch (state) {
    case 'attached':
      return found[0] ?? false;
    case 'detached':
      return found.length === 0;
    case 'hidden':
      return !found.some(hasVisibleBox);
    case 'enabled':
      return found.find((element) => hasVisibleBox(element) && !isDisabled(element)) ?? false;
    case 'visible':
      return found.find(hasVisibleBox) ?? false;
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
  return () => matchesParts(location.href, parts);
}

export function matchesParts(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function findText(text: string): Element | undefined {
  const wanted = cleanText(text).toLowerCase();
  return wanted === '' ? undefined : findTextIn(getRootElement(), wanted, 0);
}

function findTextIn(element: Element, wanted: string, nesting: number): Element | undefined {
  if (nesting > MaxNesting) return undefined;
  // textContent omits the texts in shadow roots and in fields, so an element can show a text that textContent lacks.
  if (!mayShowText(element, wanted)) return undefined;
  const shown = determineVisibility(element, getComputedStyle(element));
  if (!shown.drawn || shown.closed) return undefined;
  let own = '';
  for (const child of listFlatChildren(element)) {
    if (child instanceof Element) {
      const found = findTextIn(child, wanted, nesting + 1);
      if (found) return found;
    } else if (child instanceof Text) own += child.data;
  }
  if (shown.text && cleanText(own).toLowerCase().includes(wanted)) return element;
  if (element instanceof HTMLInputElement && /^(button|submit|reset|text|search)$/.test(element.type)) {
    return element.value.toLowerCase().includes(wanted) ? element : undefined;
  }
  const isShort = element instanceof HTMLElement && element.childElementCount > 0 && element.childElementCount < 50;
  return isShort && cleanText(element.innerText).toLowerCase().includes(wanted) ? element : undefined;
}

const OpaqueContentSelector = 'input,slot,*:not(:defined)';

function mayShowText(element: Element, wanted: string): boolean {
  const content = element.textContent ?? '';
  if (content.toLowerCase().includes(wanted) || cleanText(content).toLowerCase().includes(wanted)) return true;
  if (element.localName.includes('-') || element.localName === 'input' || element.localName === 'slot') return true;
  return element.querySelector(OpaqueContentSelector) !== null || listKnownRoots().length > 1;
}
