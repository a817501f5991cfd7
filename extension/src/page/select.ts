// Chooses options, in select elements and in the list boxes that pages draw themselves.
import { runAct } from './act.ts';
import { clickElement } from './click.ts';
import { PageFailure } from './failure.ts';
import { closestInFlatTree, containsInFlatTree, selectAll } from './flat-tree.ts';
import { nameOf } from './names.ts';
import type { SelectArguments, SelectResult } from './operations.ts';
import { pause } from './pace.ts';
import { waitReady } from './ready.ts';
import { roleOf } from './roles.ts';
import { type Context, targetElement } from './state.ts';
import { isDisabled, shownValue } from './states.ts';
import { cleanText, shorten } from './visible-text.ts';

/** select is the operation of this name. */
export async function select(args: SelectArguments, context: Context): Promise<SelectResult> {
  const element = targetElement(args.target, context);
  if (args.values.length === 0 && !(element instanceof HTMLSelectElement && element.multiple)) {
    throw new PageFailure(
      'invalid_arguments',
      'values is empty. Only a list of multiple choice can have no chosen option.',
    );
  }
  const result = await runAct(args, context, async () => {
    const before = chosenLabels(element).join('\n');
    await chooseOptions(element, args.values, args.timeoutMs, context);
    return { target: element, input: 'synthetic', hasEffect: () => chosenLabels(element).join('\n') !== before };
  });
  return { ...result, chosen: chosenLabels(element) };
}

/** chosenLabels returns the labels of the chosen options of a list. */
export function chosenLabels(element: Element): string[] {
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].map((option) => cleanText(option.label));
  const list = listOf(element);
  const chosen = list ? optionsIn(list).filter((option) => option.getAttribute('aria-selected') === 'true') : [];
  if (chosen.length > 0) return chosen.map(optionName);
  const value = shownValue(element, roleOf(element)) ?? cleanText(element.textContent ?? '');
  return value ? [shorten(value, 200)] : [];
}

/** chooseOptions chooses the options with these labels or values. */
export async function chooseOptions(
  element: Element,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: Context,
): Promise<void> {
  if (element instanceof HTMLSelectElement) {
    await waitReady(element, timeoutMs, context);
    return chooseNative(element, values);
  }
  await chooseDrawn(element, values, timeoutMs, context);
}

function chooseNative(list: HTMLSelectElement, values: readonly string[]): void {
  if (!list.multiple && values.length > 1) {
    throw new PageFailure('invalid_arguments', 'The list takes one option. Give one value.');
  }
  const options = [...list.options];
  const names = options.map((option) => [option.label, option.value, option.text]);
  const wanted = values.map((value) => {
    const option = options[matchName(value, names)];
    if (!option)
      throw noOption(
        value,
        options.map((candidate) => candidate.label),
      );
    if (option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled)) {
      throw new PageFailure('rejected', `The option ${JSON.stringify(option.label)} is disabled.`);
    }
    return option;
  });
  const isChanged = options.some((option) => option.selected !== wanted.includes(option));
  for (const option of options) if (list.multiple) option.selected = wanted.includes(option);
  const only = wanted[0];
  if (!list.multiple && only) only.selected = true;
  if (!isChanged) return;
  list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  list.dispatchEvent(new Event('change', { bubbles: true }));
}

/** matchName returns the index of the entry that has this name: exactly, or in any case, or as its only beginning. */
function matchName(value: string, entries: readonly (readonly string[])[]): number {
  const exact = entries.findIndex((names) => names.includes(value));
  if (exact >= 0) return exact;
  const wanted = cleanText(value).toLowerCase();
  const cleaned = entries.map((names) => names.map((name) => cleanText(name).toLowerCase()));
  const loose = cleaned.findIndex((names) => names.includes(wanted));
  if (loose >= 0 || wanted === '') return loose;
  const begins = cleaned.flatMap((names, i) => (names.some((name) => name.startsWith(wanted)) ? [i] : []));
  return begins.length === 1 ? (begins[0] ?? -1) : -1;
}

const MaxNamedOptions = 20;

function noOption(value: string, labels: readonly string[]): PageFailure {
  const names = labels.slice(0, MaxNamedOptions).map((label) => JSON.stringify(shorten(cleanText(label), 60)));
  const more = labels.length > MaxNamedOptions ? `, and ${labels.length - MaxNamedOptions} more` : '';
  return new PageFailure(
    'invalid_arguments',
    `There is no option ${JSON.stringify(value)}. The options are ${names.join(', ')}${more}.`,
  );
}

const OpenLimitMs = 2_000;
const ScrollSteps = 200;

/** chooseDrawn chooses options in a list that the page draws: it opens the list if needed, and clicks the options. */
async function chooseDrawn(
  element: Element,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: Context,
): Promise<void> {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  for (const value of values) {
    let list = visibleList(element);
    if (!list) {
      const role = roleOf(element);
      if (role === 'listbox' || role === 'radiogroup')
        throw new PageFailure('wrong_element', 'The list has no options.');
      await clickElement(element, options, context);
      list = await waitForList(element, context);
    }
    const option = await findOption(list, value, context);
    if (isDisabled(option)) throw new PageFailure('rejected', `The option ${JSON.stringify(value)} is disabled.`);
    if (option.getAttribute('aria-selected') === 'true' && values.length > 1) continue;
    await clickElement(option, options, context);
  }
}

async function waitForList(element: Element, context: Context): Promise<Element> {
  const end = performance.now() + OpenLimitMs;
  while (performance.now() < end) {
    const list = visibleList(element);
    if (list) return list;
    await pause(20, context.signal);
  }
  throw new PageFailure(
    'wrong_element',
    'A click on the element opens no list of options. Click it, and choose from a new snapshot.',
  );
}

/** listOf returns the list of a combobox: the element itself, one that it controls, or one inside of it. */
function listOf(element: Element): Element | undefined {
  if (/^(listbox|radiogroup|menu|tree)$/.test(roleOf(element))) return element;
  const root = element.getRootNode();
  const owner =
    closestInFlatTree(element, (at) => at.hasAttribute('aria-controls') || at.hasAttribute('aria-owns')) ??
    element.querySelector('[aria-controls],[aria-owns]');
  const ids = `${owner?.getAttribute('aria-controls') ?? ''} ${owner?.getAttribute('aria-owns') ?? ''}`
    .trim()
    .split(/\s+/);
  for (const id of ids) {
    const list = id && (root instanceof Document || root instanceof ShadowRoot) ? root.getElementById(id) : null;
    if (list) return list;
  }
  return element.querySelector('[role=listbox]') ?? undefined;
}

function visibleList(element: Element): Element | undefined {
  const own = listOf(element);
  if (own) return isShown(own) && optionsIn(own).some(isShown) ? own : undefined;
  if (element.getAttribute('aria-expanded') === 'false') return undefined;
  const open = selectAll('[role=listbox],[role=menu],[role=tree]').filter(
    (list) => isShown(list) && optionsIn(list).some(isShown),
  );
  return open.length === 1 || element.getAttribute('aria-expanded') === 'true' ? open.at(-1) : undefined;
}

function isShown(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

const OptionSelector =
  '[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem],[role=radio],option';

function optionsIn(list: Element): Element[] {
  const inside = [...list.querySelectorAll(OptionSelector)];
  return inside.length > 0 ? inside : selectAll(OptionSelector).filter((option) => containsInFlatTree(list, option));
}

function optionName(option: Element): string {
  return nameOf(option, roleOf(option)) || cleanText(option.textContent ?? '');
}

/** findOption returns the option of a list. A virtual list only contains the options in view, so the list is scrolled. */
async function findOption(list: Element, value: string, context: Context): Promise<Element> {
  const seen = new Set<string>();
  const scroller = scrollerOf(list);
  scroller?.scrollTo({ top: 0, behavior: 'instant' });
  for (let step = 0; step < ScrollSteps; step++) {
    if (step > 0) await pause(20, context.signal);
    const options = optionsIn(list).filter(isShown);
    const names = options.map((option) => [optionName(option), option.getAttribute('data-value') ?? '']);
    const found = options[matchName(value, names)];
    if (found) return found;
    for (const [name] of names) if (name) seen.add(name);
    const top = scroller?.scrollTop ?? 0;
    scroller?.scrollBy({ top: scroller.clientHeight * 0.8, behavior: 'instant' });
    if (!scroller || scroller.scrollTop === top) break;
  }
  throw noOption(value, [...seen]);
}

function scrollerOf(list: Element): Element | undefined {
  if (list.scrollHeight > list.clientHeight + 1) return list;
  return [...list.querySelectorAll('*')]
    .slice(0, 200)
    .find(
      (inner) => inner.scrollHeight > inner.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(inner).overflowY),
    );
}
