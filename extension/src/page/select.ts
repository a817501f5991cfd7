// Selects options in select elements, and in list boxes that pages implement themselves.
import { runAction } from './act.ts';
import { clickElement } from './click.ts';
import { findDrawnOptions, findPopup, hasSize } from './drawn-options.ts';
import { type Field, requireField, writeField } from './edit.ts';
import { PageFailure } from './failure.ts';
import { containsInFlatTree, findClosestInFlatTree, selectAll } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import type { SelectArguments, SelectResult } from './operations.ts';
import { pause } from './pace.ts';
import { waitUntilReady } from './ready.ts';
import { computeRole } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { showsChoice, showsExactChoice } from './shown-choice.ts';
import { type Context, findTarget } from './state.ts';
import { isDisabled, readShownValue } from './states.ts';
import { unclobbered } from './unclobbered.ts';
import { determineVisibility } from './visibility.ts';
import { cleanText, shorten } from './visible-text.ts';

export async function select(args: SelectArguments, context: Context): Promise<SelectResult> {
  const element = findDrawnField(findTarget(args.target, context));
  if (args.values.length === 0 && !(element instanceof HTMLSelectElement && element.multiple)) {
    throw new PageFailure(
      'invalid_arguments',
      'values is empty. Only a list of multiple choice can have no chosen option.',
    );
  }
  let wanted: readonly string[] = [];
  const result = await runAction(args, context, async () => {
    const before = listSelectedLabels(element).join('\n');
    wanted = await chooseOptions(element, args.values, args.timeoutMs, context);
    const input = context.trusted?.hasReceivedInput ? 'trusted' : 'synthetic';
    return { target: element, input, hasEffect: () => listSelectedLabels(element).join('\n') !== before };
  });
  const isShown = wanted.every((name) => showsOptionSelected(element, name));
  return { ...result, chosen: listShownChoice(element, wanted), shown: isShown };
}

/**
 * findDrawnField returns the custom combobox around a search field or around a select element that the page hides, and
 * otherwise the element itself.
 */
function findDrawnField(element: Element): Element {
  const isHiddenSelect =
    element instanceof HTMLSelectElement && !determineVisibility(element, getComputedStyle(element)).text;
  const isTextField = /^(textbox|searchbox)$/.test(computeRole(element)) && !element.hasAttribute('list');
  if (!isHiddenSelect && !isTextField) return element;
  const around = findClosestInFlatTree(element, (at) => at !== element && computeRole(at) === 'combobox');
  return around ?? element;
}

/**
 * showsOptionSelected reports whether a custom list shows an option as selected. In some lists, the attribute
 * aria-selected marks only the option that the arrow keys have reached, not the selected option.
 */
export function showsOptionSelected(element: Element, name: string): boolean {
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].some((option) => cleanText(option.label) === name);
  const role = computeRole(element);
  if (role === 'combobox') return showsChoice(element, name);
  if (role !== 'listbox') return true; // A menu does not show a selection.
  return cleanText(listSelectedLabels(element).join(' ')).toLowerCase().includes(cleanText(name).toLowerCase());
}

/** listShownChoice returns the labels of the options that a list shows as selected after options were clicked. */
function listShownChoice(element: Element, clicked: readonly string[]): string[] {
  const isCustom = !(element instanceof HTMLSelectElement) && /^(combobox|button)$/.test(computeRole(element));
  const shown = isCustom ? clicked.filter((name) => showsChoice(element, name)) : [];
  return shown.length > 0 ? shown : listSelectedLabels(element);
}

/** listSelectedLabels returns the labels of the selected options of a list. */
export function listSelectedLabels(element: Element): string[] {
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].map((option) => cleanText(option.label));
  const options = findListsOf(element).flatMap(listOptions);
  const chosen = options.filter((option) => option.getAttribute('aria-selected') === 'true');
  if (chosen.length > 0) return chosen.map(nameOfOption);
  const value = readShownValue(element, computeRole(element)) ?? cleanText(element.textContent ?? '');
  return value ? [shorten(value, 200)] : [];
}

/**
 * chooseOptions selects the options with the given labels or values, and returns the names of these options.
 */
export async function chooseOptions(
  element: Element,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: Context,
): Promise<string[]> {
  if (element instanceof HTMLSelectElement) {
    await waitUntilReady(element, timeoutMs, context);
    return chooseInSelectElement(element, values);
  }
  if (element instanceof HTMLInputElement && element.list)
    return await chooseSuggestion(element, values, timeoutMs, context);
  return chooseInDrawnList(element, values, timeoutMs, context);
}

function chooseInSelectElement(list: HTMLSelectElement, values: readonly string[]): string[] {
  if (!list.multiple && values.length > 1) {
    throw new PageFailure('invalid_arguments', 'The list takes one option. Give one value.');
  }
  const options = [...list.options];
  const names = options.map((option) => [option.label, option.value, option.text]);
  const wanted = values.map((value) => {
    const option = options[findOptionIndex(value, names)];
    if (!option)
      throw makeOptionNotFoundFailure(
        `There is no option ${JSON.stringify(value)}.`,
        options.map((candidate) => candidate.label),
      );
    if (option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled)) {
      throw new PageFailure('rejected', `The option ${JSON.stringify(value)} is disabled.`);
    }
    return option;
  });
  const isChanged = options.some((option) => option.selected !== wanted.includes(option));
  for (const option of options) if (list.multiple) option.selected = wanted.includes(option);
  const only = wanted[0];
  if (!list.multiple && only) only.selected = true;
  const chosen = wanted.map((option) => cleanText(option.label));
  if (!isChanged) return chosen;
  list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  list.dispatchEvent(new Event('change', { bubbles: true }));
  return chosen;
}

/**
 * chooseSuggestion enters an option of a field's datalist. The browser draws a field's datalist outside of the page, so
 * no click of a script reaches the list's options.
 */
async function chooseSuggestion(
  field: HTMLInputElement,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: Context,
): Promise<string[]> {
  const [value = '', ...others] = values;
  if (others.length > 0) throw new PageFailure('invalid_arguments', 'The list takes one option. Give one value.');
  await waitUntilReady(field, timeoutMs, context);
  const options = [...(field.list?.options ?? [])];
  const option =
    options[
      findOptionIndex(
        value,
        options.map((each) => [each.value, each.label]),
      )
    ];
  if (!option)
    throw makeOptionNotFoundFailure(
      `There is no option ${JSON.stringify(value)}. browser_type enters any other text.`,
      options.map((each) => each.value),
    );
  await writeField(requireField(field), option.value, false, []);
  return [option.value];
}

/**
 * findOptionIndex returns the index of the option with a given name, or -1. findOptionIndex ignores case, and also
 * accepts the beginning of a name if no other option's name has the same beginning.
 */
function findOptionIndex(value: string, entries: readonly (readonly string[])[]): number {
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

function makeOptionNotFoundFailure(message: string, labels: readonly string[]): PageFailure {
  const names = labels.slice(0, MaxNamedOptions).map((label) => JSON.stringify(shorten(cleanText(label), 60)));
  const more = labels.length > MaxNamedOptions ? `, and ${labels.length - MaxNamedOptions} more` : '';
  return new PageFailure('invalid_arguments', message, `the options: ${names.join(', ')}${more}`);
}

const ListOpenTimeoutMs = 2_000;
/** FilteredOpenTimeoutMs is short, because some lists with a text field open only when text is typed. */
const FilteredOpenTimeoutMs = 300;
const MaxFilterChecks = 10;
const FilterPauseMs = 100;
const FilterTimeoutMs = 4_000;
const MaxScrollSteps = 1_000;
const ScrollLimitMs = 15_000;
const StepsPerReport = 20;
/** HiddenRowsTimeoutMs is longer than RowsTimeoutMs, because Chrome slows down timers in a hidden tab. */
const RowsTimeoutMs = 400;
const HiddenRowsTimeoutMs = 1_200;
/** After MaxUnchangedRows consecutive search steps without new rows, a list counts as not virtual. */
const MaxUnchangedRows = 2;

async function chooseInDrawnList(
  element: Element,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: Context,
): Promise<string[]> {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const wanted: string[] = [];
  // A list that was visible before the combobox opened does not belong to the combobox.
  const others = new Set(element.getAttribute('aria-expanded') === 'true' ? [] : listShownLists());
  for (const value of values) {
    let list = findVisibleList(element, others);
    const field = findTextFieldIn(element);
    if (!list) {
      const role = computeRole(element);
      if (role === 'listbox' || role === 'radiogroup')
        throw new PageFailure('wrong_element', 'The list has no options.');
      await clickElement(element, options, context);
      list = await waitForList(element, others, field ? FilteredOpenTimeoutMs : ListOpenTimeoutMs, context);
    }
    let option = list ? await findOption(list, value, context) : undefined;
    // Some lists of multiple choice do not contain the options that are chosen already.
    if (option && !(option instanceof Element) && showsExactChoice(element, value)) {
      wanted.push(value);
      continue;
    }
    if (!(option instanceof Element) && field) {
      await writeField(field, value, false, []);
      list = await waitForList(element, others, ListOpenTimeoutMs, context);
      const end = performance.now() + FilterTimeoutMs;
      for (let tries = 0; list && !(option instanceof Element) && tries < MaxFilterChecks; tries++) {
        if (performance.now() > end) break;
        if (tries > 0) await pause(FilterPauseMs, context.signal);
        option = await findOption(list, value, context);
        list = findVisibleList(element, others);
      }
    }
    if (!option) throw makeListNotOpenedFailure();
    if (!(option instanceof Element))
      throw option.isComplete
        ? makeOptionNotFoundFailure(`The list shows no option ${JSON.stringify(value)}.`, option.names)
        : makeOptionNotReachedFailure(value, option.names);
    if (isDisabled(option)) throw new PageFailure('rejected', `The option ${JSON.stringify(value)} is disabled.`);
    const name = nameOfOption(option);
    wanted.push(name);
    // In a list of multiple choice, a click on a selected option would undo the choice.
    const isMultiple = values.length > 1 || list?.getAttribute('aria-multiselectable') === 'true';
    if (isMultiple && option.getAttribute('aria-selected') === 'true' && showsOptionSelected(element, name)) continue;
    await clickElement(option, options, context);
  }
  return wanted;
}

function findTextFieldIn(element: Element): Field | undefined {
  const isText = (at: Element) =>
    (at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement) && !at.readOnly && !at.disabled;
  const field = isText(element) ? element : [...element.querySelectorAll('input,textarea')].find(isText);
  return field instanceof HTMLElement && computeRole(element) === 'combobox' ? field : undefined;
}

/** waitForList waits for the option list of a combobox or button, and returns undefined if no list opens in time. */
async function waitForList(
  element: Element,
  others: ReadonlySet<Element>,
  limitMs: number,
  context: Context,
): Promise<Element | undefined> {
  const end = performance.now() + limitMs;
  while (performance.now() < end) {
    const list = findVisibleList(element, others);
    if (list) return list;
    await pause(20, context.signal);
  }
  return undefined;
}

function makeListNotOpenedFailure(): PageFailure {
  return new PageFailure(
    'wrong_element',
    'Clicking the element did not open a list of options. Click it, and select from a new snapshot.',
  );
}

/** The lists of a combobox are the element itself, the lists that the combobox controls, or the lists inside it. */
function findListsOf(element: Element): Element[] {
  if (/^(listbox|radiogroup|menu|tree)$/.test(computeRole(element))) return [element];
  const root = element.getRootNode();
  const owner =
    findClosestInFlatTree(element, (at) => at.hasAttribute('aria-controls') || at.hasAttribute('aria-owns')) ??
    element.querySelector('[aria-controls],[aria-owns]');
  const ids = `${owner?.getAttribute('aria-controls') ?? ''} ${owner?.getAttribute('aria-owns') ?? ''}`
    .trim()
    .split(/\s+/);
  for (const id of ids) {
    const list = id && (root instanceof Document || root instanceof ShadowRoot) ? root.getElementById(id) : null;
    if (list) return [list];
  }
  return [...element.querySelectorAll('[role=listbox]')];
}

/** findVisibleList returns the open list of an element, but none of the other lists, unless it is beside the element. */
function findVisibleList(element: Element, others: ReadonlySet<Element>): Element | undefined {
  const own = findListsOf(element);
  if (own.length === 1) return own.find(isOpenList);
  // If a combobox contains several lists, the list of its chosen options was visible before the combobox opened.
  if (own.length > 1) return own.filter((list) => isOpenList(list) && !others.has(list)).at(-1);
  if (element.getAttribute('aria-expanded') === 'false') return undefined;
  const around = element.parentElement === unclobbered.body ? null : element.parentElement;
  const open = listShownLists().filter((list) => !others.has(list) || around?.contains(list));
  return open.length === 1 || element.getAttribute('aria-expanded') === 'true' ? open.at(-1) : undefined;
}

function isOpenList(list: Element): boolean {
  return isShown(list) && listOptions(list).some(isShown);
}

function listShownLists(): Element[] {
  return selectAll('[role=listbox],[role=menu],[role=tree]').filter(isOpenList);
}

function isShown(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

const OptionSelector =
  '[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem],[role=radio],option';

function listOptions(list: Element): Element[] {
  const inside = [...list.querySelectorAll(OptionSelector)];
  return inside.length > 0 ? inside : selectAll(OptionSelector).filter((option) => containsInFlatTree(list, option));
}

function nameOfOption(option: Element): string {
  return computeElementName(option, computeRole(option)) || cleanText(option.textContent ?? '');
}

interface SearchedOptions {
  readonly names: readonly string[];
  /** isComplete is true if the search reached the end of the list. */
  readonly isComplete: boolean;
}

function makeOptionNotReachedFailure(value: string, names: readonly string[]): PageFailure {
  const last = JSON.stringify(shorten(names.at(-1) ?? '', 60));
  return new PageFailure(
    'timeout',
    `The option ${JSON.stringify(value)} was not found in ${ScrollLimitMs / 1000} s. The list is long; the search came to ${last}. Scroll the list with browser_scroll and click the option.`,
  );
}

/** findOption scrolls the list, because a virtual list contains only the visible options. */
async function findOption(list: Element, value: string, context: Context): Promise<Element | SearchedOptions> {
  const seen = new Set<string>();
  const rows = new LongListScroller(list, context);
  const end = performance.now() + ScrollLimitMs;
  for (let step = 0; step < MaxScrollSteps && performance.now() < end; step++) {
    const options = listClickableOptions(list);
    const names = options.map((option) => [nameOfOption(option), option.getAttribute('data-value') ?? '']);
    const found = options[findOptionIndex(value, names)];
    if (found) return found;
    for (const [name] of names) if (name) seen.add(name);
    if (step % StepsPerReport === StepsPerReport - 1)
      context.report({ message: 'searching the list', progress: seen.size });
    if (!(await rows.showNext(options))) return { names: [...seen], isComplete: true };
  }
  return { names: [...seen], isComplete: false };
}

class LongListScroller {
  readonly #list: Element;
  readonly #scroller: Element | undefined;
  readonly #context: Context;
  #unchangedRowCount = 0;
  #hasScrolled = false;
  #hasWheeled = false;

  constructor(list: Element, context: Context) {
    this.#list = list;
    this.#context = context;
    const area = isDrawnByOtherElements(list) ? (findPopup(list) ?? list) : list;
    const scroller = findScroller(area, listClickableOptions(list));
    if (scroller) scrollWithEvents(scroller, () => scroller.scrollTo({ top: 0, behavior: 'instant' }));
    this.#scroller = scroller;
  }

  async showNext(options: readonly Element[]): Promise<boolean> {
    const scroller = this.#scroller;
    const top = scroller?.scrollTop ?? 0;
    if (scroller)
      scrollWithEvents(scroller, () => scroller.scrollBy({ top: scroller.clientHeight * 0.8, behavior: 'instant' }));
    if (!scroller || scroller.scrollTop === top) return !this.#hasScrolled && (await this.#turnWheel(options));
    this.#hasScrolled = true;
    const limitMs = this.#unchangedRowCount >= MaxUnchangedRows ? 0 : getRowsTimeoutMs();
    const last = options.at(-1);
    const hasNew = await this.#waitForRows(limitMs, () => {
      return listClickableOptions(this.#list).at(-1) !== last || !last?.isConnected;
    });
    this.#unchangedRowCount = hasNew ? 0 : this.#unchangedRowCount + 1;
    return true;
  }

  async #turnWheel(options: readonly Element[]): Promise<boolean> {
    const last = options.at(-1);
    if (!last) return false;
    const before = joinOptionNames(options);
    const height = last.getBoundingClientRect().height * Math.max(1, options.length - 1);
    for (const deltaY of this.#hasWheeled ? [height] : [-WheelToTopPixels, height]) {
      const { x, y } = last.getBoundingClientRect();
      const init = { deltaY, clientX: x + 1, clientY: y + 1, bubbles: true, cancelable: true, composed: true };
      last.dispatchEvent(new WheelEvent('wheel', init));
      if (
        !(await this.#waitForRows(
          getRowsTimeoutMs(),
          () => joinOptionNames(listClickableOptions(this.#list)) !== before,
        ))
      )
        continue;
      this.#hasWheeled = true;
      return true;
    }
    return false;
  }

  async #waitForRows(limitMs: number, hasOthers: () => boolean): Promise<boolean> {
    const end = performance.now() + limitMs;
    for (;;) {
      await pause(20, this.#context.signal);
      if (hasOthers()) return true;
      if (performance.now() > end) return false;
    }
  }
}

const WheelToTopPixels = 10_000_000;

function getRowsTimeoutMs(): number {
  return unclobbered.hidden ? HiddenRowsTimeoutMs : RowsTimeoutMs;
}

function joinOptionNames(options: readonly Element[]): string {
  return options.map(nameOfOption).join('\n');
}

/** Some pages give elements with the role option no size, and draw other elements in place of them. */
function isDrawnByOtherElements(list: Element): boolean {
  const options = listOptions(list).filter(isShown);
  return options.length > 0 && !options.some(hasSize);
}

function listClickableOptions(list: Element): Element[] {
  return isDrawnByOtherElements(list) ? findDrawnOptions(list) : listOptions(list).filter(isShown);
}

/** Some lists hide the rows that overflow, and scroll by script. */
function findScroller(list: Element, options: readonly Element[]): Element | undefined {
  const areas = [list, ...[...list.querySelectorAll('*')].slice(0, 200)].filter(
    (inner) => inner.scrollHeight > inner.clientHeight + 1,
  );
  const overflows = areas.map((area) => getComputedStyle(area).overflowY);
  const scroller = areas.find((_, i) => /auto|scroll/.test(overflows[i] ?? ''));
  const ends = [options.at(0), options.at(-1)];
  const hasOptions = (area: Element) => ends.every((option) => option && containsInFlatTree(area, option));
  return scroller ?? areas.find((area, i) => overflows[i] === 'hidden' && hasOptions(area));
}
