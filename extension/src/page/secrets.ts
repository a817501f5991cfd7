// Detects secret fields, which are fields for passwords, one-time codes and card numbers. The values of secret fields
// never leave the page.
import { PageFailure } from './failure.ts';
import { getFocusedElement, selectAll, selectInKnownRoots } from './flat-tree.ts';
import type { SecretKind } from './secret-kind.ts';

type TextField = HTMLInputElement | HTMLTextAreaElement;

/**
 * A page can show a password by changing the type of its field, so passwordFields keeps every field that was once a
 * password field.
 */
const passwordFields = new WeakSet<Element>();

/**
 * CardFieldPattern and VerificationCodeFieldPattern match typical names and IDs of secret fields, such as "cvv" or
 * "otp".
 */
const CardFieldPattern =
  /\bcvv\b|\bcvc2?\b|\bcsc\b|card.?(number|num|no)\b|cc.?(number|num|csc|cvc|cvv|exp)|security.?code/i;
const VerificationCodeFieldPattern = /\botp\b|one.?time|verification.?code|\b(2fa|mfa|totp)\b|auth(entication)?.?code/i;

export function findSecretKind(element: Element): SecretKind | undefined {
  if (!isTextField(element)) return undefined;
  if (element.type === 'password' || passwordFields.has(element)) {
    passwordFields.add(element);
    return 'password';
  }
  const autocomplete = element.getAttribute('autocomplete') ?? '';
  // Some comboboxes set autocomplete="new-password" on their text filter to disable Chrome's autofill.
  const isFilterField =
    element.getAttribute('role') === 'combobox' && !/password/i.test(element.getAttribute('type') ?? '');
  if (/\b(current|new)-password\b/i.test(autocomplete) && !isFilterField) return 'password';
  if (/\bone-time-code\b/i.test(autocomplete)) return 'code';
  if (/(^|\s)cc-[a-z]/i.test(autocomplete)) return 'card';
  if (/^(button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/.test(element.type)) return undefined;
  const name = [element.name, element.id, element.getAttribute('aria-label') ?? '', element.placeholder].join(' ');
  const nameWords = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  if (CardFieldPattern.test(nameWords)) return 'card';
  if (VerificationCodeFieldPattern.test(nameWords)) return 'code';
  return isMaskedByCss(element) ? 'password' : undefined;
}

function isTextField(element: Element): element is TextField {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

function isMaskedByCss(element: Element): boolean {
  const textSecurity = getComputedStyle(element).getPropertyValue('-webkit-text-security');
  return textSecurity !== '' && textSecurity !== 'none';
}

const secretSelector = 'input,textarea';

/** requireFieldApproval throws needs_approval for a secret field whose kind the user has not approved. */
export function requireFieldApproval(field: Element, approvedKinds: readonly SecretKind[]): void {
  const kind = findSecretKind(field);
  if (kind === undefined || approvedKinds.includes(kind)) return;
  throw new PageFailure(
    'needs_approval',
    `The field is a secret field (${kind}), and the user has not approved that this call types into it. ` +
      'Nothing was typed into it. Call the tool again: opentabs then asks the user.',
  );
}

/**
 * requireTypingApproval also checks the focused element, because the browser types there, and the page can move the
 * focus during any event.
 */
export function requireTypingApproval(field: Element, approvedKinds: readonly SecretKind[]): void {
  requireFieldApproval(field, approvedKinds);
  const focusedElement = getFocusedElement();
  if (focusedElement) requireFieldApproval(focusedElement, approvedKinds);
}

const cardListSelector = 'select[autocomplete*="cc-" i]';
const secretOrCardSelector = `${secretSelector},${cardListSelector}`;

export function hasSecretFields(): boolean {
  return selectAll(secretSelector).some((field) => findSecretKind(field) !== undefined);
}

export function listVisibleSecretKinds(): SecretKind[] {
  const kinds = new Set<SecretKind>();
  for (const field of selectAll(secretOrCardSelector, 5_000)) {
    const kind = field.matches(cardListSelector) ? 'card' : findSecretKind(field);
    if (kind && field.checkVisibility({ visibilityProperty: true })) kinds.add(kind);
  }
  return [...kinds].sort();
}

/**
 * UnmaskedCardFields matches fields of a payment card whose values are ordinary words, such as the name on the card.
 */
const UnmaskedCardFields = /(^|\s)cc-((given-|additional-|family-)?name|type)\b/i;

/** A secret with fewer than MinMaskedCharacters, such as "123", could by accident equal a part of any other text. */
const MinMaskedCharacters = 4;

export class SecretMask {
  readonly #secretValues = new Set<string>();

  addValue(value: string): void {
    const text = value.trim();
    if (text.length >= MinMaskedCharacters) this.#secretValues.add(text);
  }

  maskText(text: string): string {
    let maskedText = text;
    for (const value of this.#secretValues)
      if (maskedText.includes(value)) maskedText = maskedText.replaceAll(value, '•••');
    return maskedText;
  }
}

/**
 * MinSearchIntervalMs limits searches for new shadow roots, because a search takes 60 ms on a page with 50,000
 * elements.
 */
const MinSearchIntervalMs = 2_000;
let lastSearchMs = Number.NEGATIVE_INFINITY;

export function collectSecrets(): SecretMask {
  if (performance.now() - lastSearchMs < MinSearchIntervalMs) return collectKnownSecrets();
  const fields = selectAll(secretSelector);
  lastSearchMs = performance.now();
  return makeSecretMask(fields);
}

/**
 * collectKnownSecrets does not search for new shadow roots, because on a large page a search takes longer than an
 * operation on one element.
 */
export function collectKnownSecrets(): SecretMask {
  return makeSecretMask(selectInKnownRoots(secretSelector));
}

function makeSecretMask(fields: readonly Element[]): SecretMask {
  const mask = new SecretMask();
  for (const field of fields) {
    if (!isTextField(field) || field.value === '' || !findSecretKind(field)) continue;
    if (!UnmaskedCardFields.test(field.getAttribute('autocomplete') ?? '')) mask.addValue(field.value);
  }
  return mask;
}
