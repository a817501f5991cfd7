// Determines the roles of elements, by the rules of ARIA in HTML (https://www.w3.org/TR/html-aria/) and by the
// attribute role.

import { getFlatParent } from './flat-tree.ts';

type RoleOrRoleFunction = string | ((element: Element) => string);

const HeadingRole: RoleOrRoleFunction = 'heading';
const sectioningSelector =
  'article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]';

/** An empty role in NativeRoles means that the element has no semantic meaning. */
const NativeRoles: Readonly<Record<string, RoleOrRoleFunction>> = {
  a: (e) => (e.hasAttribute('href') ? 'link' : ''),
  area: (e) => (e.hasAttribute('href') ? 'link' : ''),
  article: 'article',
  aside: 'complementary',
  audio: 'audio',
  blockquote: 'blockquote',
  button: 'button',
  canvas: 'canvas',
  dd: 'definition',
  details: 'group',
  dialog: 'dialog',
  dt: 'term',
  embed: 'embed',
  fieldset: 'group',
  figure: 'figure',
  footer: (e) => (isInSectioningElement(e) ? '' : 'contentinfo'),
  form: (e) => (hasLabel(e) ? 'form' : ''),
  frame: 'iframe',
  h1: HeadingRole,
  h2: HeadingRole,
  h3: HeadingRole,
  h4: HeadingRole,
  h5: HeadingRole,
  h6: HeadingRole,
  header: (e) => (isInSectioningElement(e) ? '' : 'banner'),
  hr: 'separator',
  iframe: 'iframe',
  img: (e) => (e.getAttribute('alt') === '' && !hasLabel(e) ? '' : 'img'),
  input: (e) => computeInputRole(e),
  li: 'listitem',
  main: 'main',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  object: 'embed',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  search: 'search',
  section: (e) => (hasLabel(e) ? 'region' : ''),
  select: (e) => (e instanceof HTMLSelectElement && (e.multiple || e.size > 1) ? 'listbox' : 'combobox'),
  summary: (e) => (e.parentElement instanceof HTMLDetailsElement ? 'button' : ''),
  table: 'table',
  tbody: 'rowgroup',
  td: (e) => (/^(grid|treegrid)$/.test(e.closest('table')?.getAttribute('role') ?? '') ? 'gridcell' : 'cell'),
  textarea: 'textbox',
  tfoot: 'rowgroup',
  th: (e) => (isRowHeader(e) ? 'rowheader' : 'columnheader'),
  thead: 'rowgroup',
  tr: 'row',
  ul: 'list',
  video: 'video',
};

const InputRoles: Readonly<Record<string, string>> = {
  button: 'button',
  checkbox: 'checkbox',
  color: 'colorpicker',
  file: 'filefield',
  hidden: '',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
};

const KnownRoles = new Set(
  `alert alertdialog application article banner blockquote button cell checkbox columnheader combobox complementary
  contentinfo definition dialog document feed figure form grid gridcell group heading img image link list listbox
  listitem log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation note option
  paragraph progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider
  spinbutton status switch tab table tablist tabpanel term textbox timer toolbar tooltip tree treegrid treeitem`.split(
    /\s+/,
  ),
);

/** Each element with an ActionRole gets a ref. */
export const ActionRoles: ReadonlySet<string> = new Set(
  `button link textbox searchbox checkbox radio combobox listbox option slider spinbutton tab menuitem menuitemcheckbox
  menuitemradio switch treeitem iframe filefield colorpicker scrollbar clickable canvas video audio embed gridcell`.split(
    /\s+/,
  ),
);

export const ContentNameRoles: ReadonlySet<string> = new Set(
  `button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row
  rowheader switch tab tooltip treeitem clickable`.split(/\s+/),
);

export function computeRole(element: Element): string {
  const explicitRole = element.getAttribute('role');
  if (explicitRole) {
    for (const role of explicitRole.toLowerCase().split(/\s+/)) {
      if (role === 'none' || role === 'presentation') return isFocusable(element) ? computeNativeRole(element) : '';
      if (KnownRoles.has(role)) return role === 'image' ? 'img' : role;
    }
  }
  return computeNativeRole(element);
}

function computeNativeRole(element: Element): string {
  const tag = element.localName;
  const rule = Object.hasOwn(NativeRoles, tag) ? NativeRoles[tag] : undefined;
  const role = typeof rule === 'function' ? rule(element) : (rule ?? '');
  if (isEditingHost(element)) return 'textbox'; // An editable paragraph, heading or cell is also a textbox.
  if (role !== '') return role;
  return element instanceof SVGElement ? computeSvgRole(element) : '';
}

export function isEditingHost(element: Element): boolean {
  const value = element.getAttribute('contenteditable');
  return value !== null && value !== 'false' && element instanceof HTMLElement && element.isContentEditable;
}

function computeSvgRole(element: SVGElement): string {
  if (element.localName === 'a') return 'link';
  if (element.localName !== 'svg') return '';
  const hasName = hasLabel(element) || element.firstElementChild?.localName === 'title';
  return hasName ? 'img' : '';
}

function computeInputRole(element: Element): string {
  if (!(element instanceof HTMLInputElement)) return 'textbox';
  const role = Object.hasOwn(InputRoles, element.type) ? InputRoles[element.type] : undefined;
  if (role !== undefined && role !== 'searchbox') return role;
  return element.hasAttribute('list') ? 'combobox' : (role ?? 'textbox');
}

function hasLabel(element: Element): boolean {
  return Boolean(element.getAttribute('aria-label')?.trim() || element.getAttribute('aria-labelledby')?.trim());
}

/** A header or footer inside a section is not a landmark. */
function isInSectioningElement(element: Element): boolean {
  return getFlatParent(element)?.closest(sectioningSelector) != null;
}

function isRowHeader(element: Element): boolean {
  const scope = element.getAttribute('scope');
  if (scope === 'row' || scope === 'rowgroup') return true;
  if (scope === 'col' || scope === 'colgroup') return false;
  const row = element.parentElement;
  return row?.parentElement?.localName !== 'thead' && row?.querySelector(':scope > td') != null;
}

export function isFocusable(element: Element): boolean {
  if (element.hasAttribute('tabindex') || isEditingHost(element)) return true;
  const tag = element.localName;
  if (tag === 'a' || tag === 'area') return element.hasAttribute('href');
  return /^(button|input|select|textarea|iframe|summary)$/.test(tag);
}
