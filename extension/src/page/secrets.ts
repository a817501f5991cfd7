// Secret fields: passwords, one-time codes and card numbers. Their values never leave the page.
import { selectAll } from './flat-tree.ts';
import { unclobbered } from './unclobbered.ts';

export type SecretKind = 'password' | 'card' | 'code';

type TextField = HTMLInputElement | HTMLTextAreaElement;

/** passwordFields are all fields that were seen with type=password. A page may switch the type to show the password. */
const passwordFields = new WeakSet<Element>();

/** Field names that a page uses for secrets, if it sets no autocomplete. */
const CardName = /\bcvv\b|\bcvc2?\b|\bcsc\b|card.?(number|num|no)\b|cc.?(number|num|csc|cvc|cvv|exp)|security.?code/i;
const CodeName = /\botp\b|one.?time|verification.?code|\b(2fa|mfa|totp)\b|auth(entication)?.?code/i;

/** secretKind returns what kind of secret a field holds, and undefined for other elements. */
export function secretKind(element: Element): SecretKind | undefined {
  if (!isTextField(element)) return undefined;
  if (element.type === 'password' || passwordFields.has(element)) {
    passwordFields.add(element);
    return 'password';
  }
  const autocomplete = element.getAttribute('autocomplete') ?? '';
  if (/\b(current|new)-password\b/i.test(autocomplete)) return 'password';
  if (/\bone-time-code\b/i.test(autocomplete)) return 'code';
  if (/\bcc-(number|csc|exp|exp-month|exp-year)\b/i.test(autocomplete)) return 'card';
  if (/^(button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/.test(element.type)) return undefined;
  const name = [element.name, element.id, element.getAttribute('aria-label') ?? '', element.placeholder].join(' ');
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  if (CardName.test(words)) return 'card';
  if (CodeName.test(words)) return 'code';
  return isDrawnAsDots(element) ? 'password' : undefined;
}

function isTextField(element: Element): element is TextField {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

function isDrawnAsDots(element: Element): boolean {
  const security = getComputedStyle(element).getPropertyValue('-webkit-text-security');
  return security !== '' && security !== 'none';
}

const secretSelector = 'input,textarea';

/** visibleSecretKinds returns the kinds of the secret fields that the page shows. */
export function visibleSecretKinds(): SecretKind[] {
  const kinds = new Set<SecretKind>();
  for (const field of selectAll(secretSelector, 5_000)) {
    const kind = secretKind(field);
    if (kind && field.checkVisibility({ visibilityProperty: true })) kinds.add(kind);
  }
  return [...kinds].sort();
}

/** MinMaskedCharacters is the shortest secret that is searched in other text: shorter texts occur by accident. */
const MinMaskedCharacters = 4;

/** SecretMask replaces the values of secret fields in other text, such as a name that repeats a password. */
export class SecretMask {
  readonly #values = new Set<string>();

  /** addValue adds the value of a secret field. */
  addValue(value: string): void {
    const text = value.trim();
    if (text.length >= MinMaskedCharacters) this.#values.add(text);
  }

  /** maskText returns a text without the values of secret fields. */
  maskText(text: string): string {
    let masked = text;
    for (const value of this.#values) if (masked.includes(value)) masked = masked.replaceAll(value, '•••');
    return masked;
  }
}

/** collectSecrets returns the mask for the secret fields of the document. */
export function collectSecrets(): SecretMask {
  const mask = new SecretMask();
  for (const field of unclobbered.querySelectorAll(secretSelector)) {
    if (isTextField(field) && field.value !== '' && secretKind(field)) mask.addValue(field.value);
  }
  return mask;
}
