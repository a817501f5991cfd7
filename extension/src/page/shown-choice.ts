// Reads which options a custom list shows as chosen. Pages show a chosen option in the field, beside the field, or as a
// removable label around the field.
import { hasSize } from './drawn-options.ts';
import { computeRole } from './roles.ts';
import { readShownValue } from './states.ts';
import { unclobberedDocument } from './unclobbered.ts';
import { cleanText } from './visible-text.ts';

/** showsChoice reports whether a combobox shows an option as chosen. */
export function showsChoice(combobox: Element, name: string): boolean {
  const shownTexts = [readShownValue(combobox, 'combobox') ?? '', readTextsAroundCombobox(combobox).join('')];
  return cleanText(shownTexts.join(' ')).toLowerCase().includes(cleanText(name).toLowerCase());
}

/** showsExactChoice reports whether a combobox shows an option with exactly the given text as chosen. */
export function showsExactChoice(combobox: Element, name: string): boolean {
  const wantedName = cleanText(name).toLowerCase();
  return (
    wantedName !== '' && readTextsAroundCombobox(combobox).some((text) => cleanText(text).toLowerCase() === wantedName)
  );
}

const MaxBoxLevels = 5;
const MaxBoxHeightPixels = 250;
const FormFieldSelector = 'input:not([type=hidden]),select,textarea,[role=combobox],[role=textbox],[role=searchbox]';
const AreaSelector = 'form,fieldset,dialog,[role=dialog],main,section,article,td,th,li,body';

/** findFieldBox returns the part of the page that belongs to a combobox: its largest ancestor without other fields. */
function findFieldBox(combobox: Element): Element {
  let box = combobox.parentElement ?? combobox;
  for (let level = 1; level < MaxBoxLevels && !box.matches(AreaSelector); level++) {
    const outerElement = box.parentElement;
    if (
      !outerElement ||
      outerElement === unclobberedDocument.body ||
      outerElement.getBoundingClientRect().height > MaxBoxHeightPixels
    )
      break;
    const hasOtherFields = [...outerElement.querySelectorAll(FormFieldSelector)].some(
      (field) => !combobox.contains(field) && !field.contains(combobox) && hasSize(field),
    );
    if (hasOtherFields) break;
    box = outerElement;
  }
  return box;
}

const DescriptionSelector =
  'label,legend,p,small,h1,h2,h3,h4,h5,h6,[role=alert],[role=status],[aria-live],option,style';

/**
 * readTextsAroundCombobox returns the visible texts in and around a combobox, except the combobox's label and the
 * options of its list.
 */
function readTextsAroundCombobox(combobox: Element): string[] {
  const texts: string[] = [];
  const ids = `${combobox.getAttribute('aria-labelledby') ?? ''} ${combobox.getAttribute('aria-describedby') ?? ''}`;
  const describingIds = new Set(ids.split(/\s+/));
  const isDescription = (node: Element) =>
    !node.contains(combobox) &&
    !combobox.contains(node) &&
    (node.matches(DescriptionSelector) || (node.id !== '' && describingIds.has(node.id)));
  const walker = unclobberedDocument.createTreeWalker(findFieldBox(combobox), NodeFilter.SHOW_ALL, (node) => {
    const isSkippedNode =
      node instanceof Element &&
      (!node.checkVisibility({ visibilityProperty: true }) || isOptionList(node) || isDescription(node));
    return isSkippedNode ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
  });
  while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode.data);
  return texts;
}

/** isOptionList excludes a list that only shows the chosen options and offers no others. */
function isOptionList(element: Element): boolean {
  const role = computeRole(element);
  if (role !== 'listbox') return role === 'menu' || role === 'tree';
  const options = [...element.querySelectorAll('[role=option]')];
  return options.some((option) => option.getAttribute('aria-selected') !== 'true' && !option.querySelector('button'));
}
