// Writes the states and values of elements as marks in a snapshot line, such as [checked].
import { getFlatParent } from './flat-tree.ts';
import { ActionRoles } from './roles.ts';
import { findSecretKind } from './secrets.ts';
import { cleanText, shorten } from './visible-text.ts';

const MaxValueCharacters = 200;

export function formatStates(element: Element, role: string): string {
  let marks = '';
  if (role === 'heading') marks += ` [level=${readHeadingLevel(element)}]`;
  const checkedState = readCheckedState(element, role);
  if (checkedState === 'true') marks += ' [checked]';
  else if (checkedState === 'mixed') marks += ' [mixed]';
  if ((ActionRoles.has(role) || role === 'group') && isDisabled(element)) marks += ' [disabled]';
  const attributes = element.hasAttributes() ? formatAriaStates(element) : '';
  if (element instanceof HTMLOptionElement && element.selected) marks += ' [selected]';
  if (element.localName === 'summary') marks += isInOpenDetails(element) ? ' [expanded]' : ' [collapsed]';
  if ((element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) && element.readOnly) {
    marks += ' [readonly]';
  }
  if (isRequired(element)) marks += ' [required]';
  return marks + attributes;
}

function isInOpenDetails(summary: Element): boolean {
  return summary.parentElement instanceof HTMLDetailsElement && summary.parentElement.open;
}

function formatAriaStates(element: Element): string {
  let marks = '';
  const pressed = element.getAttribute('aria-pressed');
  if (pressed === 'true') marks += ' [pressed]';
  const expanded = element.getAttribute('aria-expanded');
  if (expanded === 'true') marks += ' [expanded]';
  else if (expanded === 'false') marks += ' [collapsed]';
  if (element.getAttribute('aria-selected') === 'true') marks += ' [selected]';
  const current = element.getAttribute('aria-current');
  if (current && current !== 'false') marks += ' [current]';
  if (element.getAttribute('aria-busy') === 'true') marks += ' [busy]';
  const invalid = element.getAttribute('aria-invalid');
  if (invalid && invalid !== 'false') marks += ' [invalid]';
  const rows = Number(element.getAttribute('aria-rowcount'));
  if (rows > 0) marks += ` [rowcount=${rows}]`;
  const sortDirection = element.getAttribute('aria-sort');
  if (sortDirection === 'ascending' || sortDirection === 'descending') marks += ` [${sortDirection}]`;
  return marks;
}

function readHeadingLevel(element: Element): string {
  const ariaLevel = Number(element.getAttribute('aria-level'));
  if (Number.isInteger(ariaLevel) && ariaLevel > 0) return String(ariaLevel);
  return /^h[1-6]$/.test(element.localName) ? element.localName.slice(1) : '2';
}

export function readCheckedState(element: Element, role: string): 'true' | 'false' | 'mixed' | undefined {
  if (element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio')) {
    if (element.indeterminate && element.type === 'checkbox') return 'mixed';
    return element.checked ? 'true' : 'false';
  }
  if (isCustomElement(element) && element.matches(':state(checked)')) return 'true';
  if (!/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio|option|treeitem)$/.test(role)) return undefined;
  const value = element.getAttribute('aria-checked');
  return value === 'true' || value === 'mixed' ? value : value === 'false' ? 'false' : undefined;
}

function isCustomElement(element: Element): boolean {
  return element.localName.includes('-');
}

export function isDisabled(element: Element): boolean {
  if (/^(button|input|select|textarea|option|optgroup|fieldset)$/.test(element.localName)) {
    if (element.matches(':disabled')) return true;
  } else if (isCustomElement(element) && element.matches(':disabled')) return true; // Custom elements can be in forms.
  for (let at: Element | null = element, level = 0; at && level < 20; at = getFlatParent(at), level++) {
    const value = at.getAttribute('aria-disabled');
    if (value === 'true') return true;
    if (value === 'false') return false;
  }
  return false;
}

/**
 * findActiveDescendant returns the list element that the arrow keys have reached while the focus stays in the list's
 * field (aria-activedescendant).
 */
export function findActiveDescendant(focusedElement: Element | null): Element | null {
  const id = focusedElement?.getAttribute('aria-activedescendant');
  const root = focusedElement?.getRootNode();
  return id && (root instanceof Document || root instanceof ShadowRoot) ? root.getElementById(id) : null;
}

function isRequired(element: Element): boolean {
  if (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement
  ) {
    if (element.required) return true;
  }
  return element.getAttribute('aria-required') === 'true';
}

const SecretPlaceholder = '•••';

export function readShownValue(element: Element, role: string): string | undefined {
  const value = readFullValue(element, role);
  return value === undefined || value === '' ? undefined : shorten(cleanText(value), MaxValueCharacters);
}

export function readFullValue(element: Element, role: string): string | undefined {
  if (element instanceof HTMLInputElement) return readInputValue(element);
  if (element instanceof HTMLTextAreaElement)
    return findSecretKind(element) && element.value ? SecretPlaceholder : element.value;
  if (element instanceof HTMLSelectElement) return [...element.selectedOptions].map((o) => o.label).join(', ');
  if (element instanceof HTMLProgressElement)
    return element.position < 0 ? undefined : `${Math.round(element.position * 100)} %`;
  if (element instanceof HTMLMeterElement) return String(element.value);
  if (role === 'textbox' || role === 'searchbox' || role === 'combobox') return readEditableText(element);
  if (/^(slider|spinbutton|scrollbar|progressbar|meter|separator)$/.test(role)) {
    return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? undefined;
  }
  return undefined;
}

function readInputValue(input: HTMLInputElement): string | undefined {
  switch (input.type) {
    case 'button':
    case 'checkbox':
    case 'hidden':
    case 'image':
    case 'radio':
    case 'reset':
    case 'submit':
      return undefined;
    case 'file':
      return [...(input.files ?? [])].map((file) => file.name).join(', ');
    default:
      return input.value !== '' && findSecretKind(input) ? SecretPlaceholder : input.value;
  }
}

export function readEditableText(element: Element): string | undefined {
  if (!(element instanceof HTMLElement)) return undefined;
  if (element.isContentEditable) return element.innerText.replace(/\n$/, '');
  return element.getAttribute('aria-valuetext') ?? undefined;
}
