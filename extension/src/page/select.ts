// Selects options in select elements, and in list boxes that pages implement themselves.
import { runAction } from './act.ts';
import { clickElement } from './click.ts';
import { findCustomOptions, findPopup, hasSize } from './drawn-options.ts';
import { type Field, requireField, writeField } from './edit.ts';
import { PageFailure } from './failure.ts';
import { containsInFlatTree, findClosestInFlatTree, selectAll } from './flat-tree.ts';
import { computeElementName } from './names.ts';
import type { SelectArguments, SelectResult } from './operations.ts';
import { ListScrollTimeoutMs, makeOptionNotFoundFailure, makeOptionNotReachedFailure } from './option-failures.ts';
import { pause } from './pace.ts';
import { waitUntilReady } from './ready.ts';
import { computeRole } from './roles.ts';
import { scrollWithEvents } from './scroll-events.ts';
import { showsChoice, showsExactChoice } from './shown-choice.ts';
import { findTarget, type PageContext } from './state.ts';
import { isDisabled, readShownValue } from './states.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { determineVisibility } from './visibility.ts';
import { cleanText, shorten } from './visible-text.ts';

export async function select(args: SelectArguments, context: PageContext): Promise<SelectResult> {
  const element = findCustomField(findTarget(args.target, context));
  if (args.values.length === 0 && !(element instanceof HTMLSelectElement && element.multiple)) {
    throw new PageFailure(
      'invalid_arguments',
      'values is empty. Only a list of multiple choice can have no chosen option.',
    );
  }
  let wantedLabels: readonly string[] = [];
  const result = await runAction(args, context, async () => {
    const labelsBefore = listSelectedLabels(element).join('\n');
    wantedLabels = await chooseOptions(element, args.values, args.timeoutMs, context);
    const input = context.trustedInput?.hasReceivedInput ? 'trusted' : 'synthetic';
    return { target: element, input, hasEffect: () => listSelectedLabels(element).join('\n') !== labelsBefore };
  });
  const isShown = wantedLabels.every((name) => showsOptionSelected(element, name));
  return { ...result, chosen: listShownChoice(element, wantedLabels), shown: isShown };
}

/**
 * findCustomField returns the custom combobox around a search field or around a select element that the page hides, and
 * otherwise the element itself.
 */
function findCustomField(element: Element): Element {
  const isHiddenSelect =
    element instanceof HTMLSelectElement && !determineVisibility(element, getComputedStyle(element)).text;
  const isTextField = /^(textbox|searchbox)$/.test(computeRole(element)) && !element.hasAttribute('list');
  if (!isHiddenSelect && !isTextField) return element;
  const outerCombobox = findClosestInFlatTree(element, (at) => at !== element && computeRole(at) === 'combobox');
  return outerCombobox ?? element;
}

/**
 * showsOptionSelected reports whether a custom list shows an option as selected. In some lists, the attribute
 * aria-selected marks the option that the arrow keys have reached, instead of the selected option.
 */
export function showsOptionSelected(element: Element, name: string): boolean {
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].some((option) => cleanText(option.label) === name);
  const role = computeRole(element);
  if (role === 'combobox') return showsChoice(element, name);
  if (role !== 'listbox') return true; // a menu does not show a selection
  return cleanText(listSelectedLabels(element).join(' ')).toLowerCase().includes(cleanText(name).toLowerCase());
}

/** listShownChoice returns the labels of the options that a list shows as selected after options were clicked. */
function listShownChoice(element: Element, clickedLabels: readonly string[]): string[] {
  const isCustom = !(element instanceof HTMLSelectElement) && /^(combobox|button)$/.test(computeRole(element));
  const shownNames = isCustom ? clickedLabels.filter((name) => showsChoice(element, name)) : [];
  return shownNames.length > 0 ? shownNames : listSelectedLabels(element);
}

/** listSelectedLabels returns the labels of the selected options of a list. */
export function listSelectedLabels(element: Element): string[] {
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].map((option) => cleanText(option.label));
  const options = findOptionLists(element).flatMap(listOptions);
  const chosenOptions = options.filter((option) => option.getAttribute('aria-selected') === 'true');
  if (chosenOptions.length > 0) return chosenOptions.map(nameOfOption);
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
  context: PageContext,
): Promise<string[]> {
  if (element instanceof HTMLSelectElement) {
    await waitUntilReady(element, timeoutMs, context);
    context.markActed();
    return chooseInSelectElement(element, values);
  }
  if (element instanceof HTMLInputElement && element.list)
    return await chooseSuggestion(element, values, timeoutMs, context);
  return chooseInCustomList(element, values, timeoutMs, context);
}

function chooseInSelectElement(list: HTMLSelectElement, values: readonly string[]): string[] {
  if (!list.multiple && values.length > 1) {
    throw new PageFailure('invalid_arguments', 'The list takes one option. Give one value.');
  }
  const options = [...list.options];
  const names = options.map((option) => [option.label, option.value, option.text]);
  const wantedOptions = values.map((value) => {
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
  const isChanged = options.some((option) => option.selected !== wantedOptions.includes(option));
  for (const option of options) if (list.multiple) option.selected = wantedOptions.includes(option);
  const wantedOption = wantedOptions[0];
  if (!list.multiple && wantedOption) wantedOption.selected = true;
  const chosenLabels = wantedOptions.map((option) => cleanText(option.label));
  if (!isChanged) return chosenLabels;
  list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  list.dispatchEvent(new Event('change', { bubbles: true }));
  return chosenLabels;
}

/**
 * chooseSuggestion enters an option of a field's datalist. The browser draws a field's datalist outside of the page, so
 * no click of a script reaches the list's options.
 */
async function chooseSuggestion(
  field: HTMLInputElement,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: PageContext,
): Promise<string[]> {
  const [value = '', ...otherValues] = values;
  if (otherValues.length > 0) throw new PageFailure('invalid_arguments', 'The list takes one option. Give one value.');
  await waitUntilReady(field, timeoutMs, context);
  context.markActed();
  const options = [...(field.list?.options ?? [])];
  const option =
    options[
      findOptionIndex(
        value,
        options.map((listOption) => [listOption.value, listOption.label]),
      )
    ];
  if (!option)
    throw makeOptionNotFoundFailure(
      `There is no option ${JSON.stringify(value)}. browser_type enters any other text.`,
      options.map((listOption) => listOption.value),
    );
  await writeField(requireField(field), option.value, false, []);
  return [option.value];
}

/**
 * findOptionIndex returns the index of the option with a given name, or -1. findOptionIndex ignores case, and also
 * accepts the beginning of a name if no other option's name has the same beginning.
 */
function findOptionIndex(value: string, entries: readonly (readonly string[])[]): number {
  const exactMatchIndex = entries.findIndex((names) => names.includes(value));
  if (exactMatchIndex >= 0) return exactMatchIndex;
  const wantedName = cleanText(value).toLowerCase();
  const normalizedEntries = entries.map((names) => names.map((name) => cleanText(name).toLowerCase()));
  const normalizedMatchIndex = normalizedEntries.findIndex((names) => names.includes(wantedName));
  if (normalizedMatchIndex >= 0 || wantedName === '') return normalizedMatchIndex;
  const prefixMatches = normalizedEntries.flatMap((names, i) =>
    names.some((name) => name.startsWith(wantedName)) ? [i] : [],
  );
  return prefixMatches.length === 1 ? (prefixMatches[0] ?? -1) : -1;
}

const ListOpenTimeoutMs = 2_000;
/** FilterableListOpenTimeoutMs is short, because some lists with a text field open only when text is typed. */
const FilterableListOpenTimeoutMs = 300;
const MaxFilterChecks = 10;
const FilterPollIntervalMs = 100;
const FilterTimeoutMs = 4_000;
const MaxScrollSteps = 1_000;
const StepsPerReport = 20;
const RowsTimeoutMs = 400;
/** HiddenRowsTimeoutMs is longer than RowsTimeoutMs, because Chrome slows down timers in a hidden tab. */
const HiddenRowsTimeoutMs = 1_200;
/** After MaxUnchangedRows consecutive search steps without new rows, a list counts as not virtual. */
const MaxUnchangedRows = 2;

async function chooseInCustomList(
  element: Element,
  values: readonly string[],
  timeoutMs: number | undefined,
  context: PageContext,
): Promise<string[]> {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const wantedLabels: string[] = [];
  // A list that was visible before the combobox opened does not belong to the combobox.
  const listsShownBefore = new Set(element.getAttribute('aria-expanded') === 'true' ? [] : listShownLists());
  for (const value of values) {
    let list = findVisibleList(element, listsShownBefore);
    const field = findTextFieldIn(element);
    if (!list) {
      const role = computeRole(element);
      if (role === 'listbox' || role === 'radiogroup')
        throw new PageFailure('wrong_element', 'The list has no options.');
      await clickElement(element, options, context);
      list = await waitForList(
        element,
        listsShownBefore,
        field ? FilterableListOpenTimeoutMs : ListOpenTimeoutMs,
        context,
      );
    }
    context.markActed();
    let option = list ? await findOption(list, value, context) : undefined;
    // Some lists of multiple choice omit the options that are already chosen.
    if (option && !(option instanceof Element) && showsExactChoice(element, value)) {
      wantedLabels.push(value);
      continue;
    }
    if (!(option instanceof Element) && field) {
      await writeField(field, value, false, []);
      list = await waitForList(element, listsShownBefore, ListOpenTimeoutMs, context);
      const end = performance.now() + FilterTimeoutMs;
      for (let attempt = 0; list && !(option instanceof Element) && attempt < MaxFilterChecks; attempt++) {
        if (performance.now() > end) break;
        if (attempt > 0) await pause(FilterPollIntervalMs, context.signal);
        option = await findOption(list, value, context);
        list = findVisibleList(element, listsShownBefore);
      }
    }
    if (!option) throw makeListNotOpenedFailure();
    if (!(option instanceof Element))
      throw option.isComplete
        ? makeOptionNotFoundFailure(`The list shows no option ${JSON.stringify(value)}.`, option.names)
        : makeOptionNotReachedFailure(value, option.names);
    if (isDisabled(option)) throw new PageFailure('rejected', `The option ${JSON.stringify(value)} is disabled.`);
    const name = nameOfOption(option);
    wantedLabels.push(name);
    // In a list of multiple choice, a click on a selected option would undo the choice.
    const isMultiple = values.length > 1 || list?.getAttribute('aria-multiselectable') === 'true';
    if (isMultiple && option.getAttribute('aria-selected') === 'true' && showsOptionSelected(element, name)) continue;
    await clickElement(option, options, context);
  }
  return wantedLabels;
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
  listsShownBefore: ReadonlySet<Element>,
  limitMs: number,
  context: PageContext,
): Promise<Element | undefined> {
  const end = performance.now() + limitMs;
  while (performance.now() < end) {
    const list = findVisibleList(element, listsShownBefore);
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

/**
 * findOptionLists returns the option lists of a combobox: the element itself, a list that it controls, or the lists
 * inside it.
 */
function findOptionLists(element: Element): Element[] {
  if (/^(listbox|radiogroup|menu|tree)$/.test(computeRole(element))) return [element];
  const root = element.getRootNode();
  const controllingElement =
    findClosestInFlatTree(element, (at) => at.hasAttribute('aria-controls') || at.hasAttribute('aria-owns')) ??
    element.querySelector('[aria-controls],[aria-owns]');
  const ids =
    `${controllingElement?.getAttribute('aria-controls') ?? ''} ${controllingElement?.getAttribute('aria-owns') ?? ''}`
      .trim()
      .split(/\s+/);
  for (const id of ids) {
    const list = id && (root instanceof Document || root instanceof ShadowRoot) ? root.getElementById(id) : null;
    if (list) return [list];
  }
  return [...element.querySelectorAll('[role=listbox]')];
}

/**
 * findVisibleList returns the open option list of an element. The element does not own the lists `listsShownBefore`,
 * unless such a list is beside the element.
 */
function findVisibleList(element: Element, listsShownBefore: ReadonlySet<Element>): Element | undefined {
  const own = findOptionLists(element);
  if (own.length === 1) return own.find(isOpenList);
  // If a combobox contains several lists, the list of its chosen options was visible before the combobox opened.
  if (own.length > 1) return own.filter((list) => isOpenList(list) && !listsShownBefore.has(list)).at(-1);
  if (element.getAttribute('aria-expanded') === 'false') return undefined;
  const container = element.parentElement === unclobberedDocument.body ? null : element.parentElement;
  const open = listShownLists().filter((list) => !listsShownBefore.has(list) || container?.contains(list));
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
  const innerOptions = [...list.querySelectorAll(OptionSelector)];
  return innerOptions.length > 0
    ? innerOptions
    : selectAll(OptionSelector).filter((option) => containsInFlatTree(list, option));
}

function nameOfOption(option: Element): string {
  return computeElementName(option, computeRole(option)) || cleanText(option.textContent ?? '');
}

interface OptionSearchResult {
  readonly names: readonly string[];
  /** isComplete is true if the search reached the end of the list. */
  readonly isComplete: boolean;
}

/** findOption scrolls the list, because a virtual list contains only the visible options. */
async function findOption(list: Element, value: string, context: PageContext): Promise<Element | OptionSearchResult> {
  const seenNames = new Set<string>();
  const rows = new LongListScroller(list, context);
  const end = performance.now() + ListScrollTimeoutMs;
  for (let step = 0; step < MaxScrollSteps && performance.now() < end; step++) {
    const options = listClickableOptions(list);
    const names = options.map((option) => [nameOfOption(option), option.getAttribute('data-value') ?? '']);
    const foundOption = options[findOptionIndex(value, names)];
    if (foundOption) return foundOption;
    for (const [name] of names) if (name) seenNames.add(name);
    if (step % StepsPerReport === StepsPerReport - 1)
      context.report({ message: 'searching the list', progress: seenNames.size });
    if (!(await rows.showNextOptions(options))) return { names: [...seenNames], isComplete: true };
  }
  return { names: [...seenNames], isComplete: false };
}

class LongListScroller {
  readonly #list: Element;
  readonly #scroller: Element | undefined;
  readonly #context: PageContext;
  #unchangedRowCount = 0;
  #hasScrolled = false;
  #hasSentWheelEvents = false;

  constructor(list: Element, context: PageContext) {
    this.#list = list;
    this.#context = context;
    const area = usesCustomOptionElements(list) ? (findPopup(list) ?? list) : list;
    const scroller = findScroller(area, listClickableOptions(list));
    if (scroller) scrollWithEvents(scroller, () => scroller.scrollTo({ top: 0, behavior: 'instant' }));
    this.#scroller = scroller;
  }

  async showNextOptions(options: readonly Element[]): Promise<boolean> {
    const scroller = this.#scroller;
    const top = scroller?.scrollTop ?? 0;
    if (scroller)
      scrollWithEvents(scroller, () => scroller.scrollBy({ top: scroller.clientHeight * 0.8, behavior: 'instant' }));
    if (!scroller || scroller.scrollTop === top)
      return !this.#hasScrolled && (await this.#scrollWithWheelEvents(options));
    this.#hasScrolled = true;
    const limitMs = this.#unchangedRowCount >= MaxUnchangedRows ? 0 : getRowsTimeoutMs();
    const lastOption = options.at(-1);
    const hasNewRows = await this.#waitForRows(limitMs, () => {
      return listClickableOptions(this.#list).at(-1) !== lastOption || !lastOption?.isConnected;
    });
    this.#unchangedRowCount = hasNewRows ? 0 : this.#unchangedRowCount + 1;
    return true;
  }

  async #scrollWithWheelEvents(options: readonly Element[]): Promise<boolean> {
    const lastOption = options.at(-1);
    if (!lastOption) return false;
    const namesBefore = joinOptionNames(options);
    const height = lastOption.getBoundingClientRect().height * Math.max(1, options.length - 1);
    for (const deltaY of this.#hasSentWheelEvents ? [height] : [-WheelToTopPixels, height]) {
      const { x, y } = lastOption.getBoundingClientRect();
      const init = { deltaY, clientX: x + 1, clientY: y + 1, bubbles: true, cancelable: true, composed: true };
      lastOption.dispatchEvent(new WheelEvent('wheel', init));
      if (
        !(await this.#waitForRows(
          getRowsTimeoutMs(),
          () => joinOptionNames(listClickableOptions(this.#list)) !== namesBefore,
        ))
      )
        continue;
      this.#hasSentWheelEvents = true;
      return true;
    }
    return false;
  }

  async #waitForRows(limitMs: number, hasOtherRows: () => boolean): Promise<boolean> {
    const end = performance.now() + limitMs;
    for (;;) {
      await pause(20, this.#context.signal);
      if (hasOtherRows()) return true;
      if (performance.now() > end) return false;
    }
  }
}

const WheelToTopPixels = 10_000_000;

function getRowsTimeoutMs(): number {
  return unclobberedDocument.hidden ? HiddenRowsTimeoutMs : RowsTimeoutMs;
}

function joinOptionNames(options: readonly Element[]): string {
  return options.map(nameOfOption).join('\n');
}

/** Some pages draw other elements in place of the elements with the role option, which then have no size. */
function usesCustomOptionElements(list: Element): boolean {
  const options = listOptions(list).filter(isShown);
  return options.length > 0 && !options.some(hasSize);
}

function listClickableOptions(list: Element): Element[] {
  return usesCustomOptionElements(list) ? findCustomOptions(list) : listOptions(list).filter(isShown);
}

/** Some lists hide their overflowing rows, and scroll with a script. */
function findScroller(list: Element, options: readonly Element[]): Element | undefined {
  const areas = [list, ...[...list.querySelectorAll('*')].slice(0, 200)].filter(
    (element) => element.scrollHeight > element.clientHeight + 1,
  );
  const overflows = areas.map((area) => getComputedStyle(area).overflowY);
  const scroller = areas.find((_, i) => /auto|scroll/.test(overflows[i] ?? ''));
  const firstAndLastOptions = [options.at(0), options.at(-1)];
  const hasOptions = (area: Element) =>
    firstAndLastOptions.every((option) => option && containsInFlatTree(area, option));
  return scroller ?? areas.find((area, i) => overflows[i] === 'hidden' && hasOptions(area));
}
