// Describes single elements, as snapshot lines and as structured data.
import { findClosestInFlatTree } from './flat-tree.ts';
import { formatNodeHeader } from './lines.ts';
import { computeElementName } from './names.ts';
import type { DescribeResult, TargetArguments } from './operations.ts';
import { computeRole } from './roles.ts';
import { collectKnownSecrets, findSecretKind } from './secrets.ts';
import { isHidden, readShownText } from './shown-text.ts';
import { findTarget, type PageContext } from './state.ts';
import { formatStates, readShownValue } from './states.ts';
import { makeNode } from './tree.ts';
import { getFormAction, unclobberedDocument } from './unclobbered.ts';
import { cleanText, shorten } from './visible-text.ts';

const MaxNameCharacters = 120;

export function describeElement(element: Element, context: PageContext): string {
  const own = computeRole(element);
  const role = own === '' || own === 'paragraph' || own === 'rowgroup' ? element.localName : own;
  const isElementHidden = isHidden(element);
  let name = isElementHidden ? '' : computeElementName(element, own);
  if (name === '' && !isElementHidden) name = readElementText(element);
  name = shorten(name, MaxNameCharacters);
  const ref = context.state.refs.getElementRef(element, context.prefix, role, name);
  const marks = `${formatStates(element, role)}${isElementHidden ? ' [hidden]' : ''} [ref=${ref}]`;
  const headerText = formatNodeHeader(
    makeNode({ element, role, name, marks, value: isElementHidden ? undefined : readShownValue(element, role), ref }),
  );
  return collectKnownSecrets().maskText(headerText);
}

function readElementText(element: Element): string {
  if (
    !(element instanceof HTMLElement) ||
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement
  ) {
    return '';
  }
  if (element instanceof HTMLSelectElement || element.isContentEditable) return '';
  return cleanText(readShownText(element, 4 * MaxNameCharacters));
}

export async function describeTarget(args: TargetArguments, context: PageContext): Promise<DescribeResult> {
  const element = findTarget(args.target, context);
  const role = computeRole(element);
  const link = findClosestInFlatTree(element, isLink);
  const form = findForm(element);
  return {
    line: describeElement(element, context),
    role,
    elementName: computeElementName(element, role),
    tag: element.localName,
    secret: isSecret(element),
    ...(link ? { href: readHref(link) } : {}),
    ...(form ? { formAction: getFormAction(form) ?? '' } : {}),
  };
}

function isSecret(element: Element): boolean {
  if (findSecretKind(element)) return true;
  if (element instanceof HTMLLabelElement && element.control) return findSecretKind(element.control) !== undefined;
  return (
    element.childElementCount <= 5 && [...element.querySelectorAll('input')].some((field) => findSecretKind(field))
  );
}

export function isLink(element: Element): boolean {
  return readHref(element) !== '';
}

export function readHref(element: Element): string {
  if (element instanceof HTMLAnchorElement || element instanceof HTMLAreaElement) return element.href;
  return element instanceof SVGAElement
    ? (URL.parse(element.href.baseVal, unclobberedDocument.baseURI)?.href ?? '')
    : '';
}

export function findForm(element: Element): HTMLFormElement | null {
  if (element instanceof HTMLInputElement || element instanceof HTMLButtonElement) return element.form;
  if (element instanceof HTMLSelectElement || element instanceof HTMLTextAreaElement) return element.form;
  return element.closest('form');
}
