// Converts between the values of a plugin's settings and the text in the input fields of the settings form.

import type { SettingView } from '../../../wire/wire.gen.ts';

export interface UrlRow {
  readonly name: string;
  readonly url: string;
}

/** A Draft that is an empty string means that the setting has no value. */
export type Draft = string | readonly UrlRow[];

/** ClearedSecret is the draft that removes a secret setting: a NUL character, which the user cannot type. */
export const ClearedSecret = '\u0000';

/** The input field of a secret setting is always empty. */
export function makeDraft({ type, value, secret }: SettingView): Draft {
  if (type === 'url') {
    const urls = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return urls.map(([name, url]) => ({ name, url: String(url) }));
  }
  return secret || value === undefined || value === null ? '' : String(value);
}

export function isChanged(setting: SettingView, draft: Draft | undefined): boolean {
  if (draft === undefined) return false;
  return JSON.stringify(draft) !== JSON.stringify(makeDraft(setting));
}

/**
 * readDraftValue converts the content of an input field to the value that is sent to the server; null removes the
 * setting.
 */
export function readDraftValue({ type }: SettingView, draft: Draft | undefined): unknown {
  if (draft === undefined || draft === ClearedSecret || draft === '') return null;
  if (typeof draft !== 'string') return toUrls(draft);
  switch (type) {
    case 'number': {
      // A comma is read as a decimal point, except before three digits: "1,000" must not become 1.
      const parsedNumber = Number(/^[^,]*,\d{3}(\D|$)/.test(draft) ? draft : draft.replace(',', '.'));
      return draft.trim() === '' || Number.isNaN(parsedNumber) || !Number.isFinite(parsedNumber) ? draft : parsedNumber;
    }
    case 'boolean':
      return draft === 'true';
    default:
      return draft;
  }
}

function toUrls(rows: readonly UrlRow[]): Readonly<Record<string, string>> | null {
  const filledRows = rows.filter((row) => row.name.trim() !== '' || row.url.trim() !== '');
  if (filledRows.length === 0) return null;
  return Object.fromEntries(filledRows.map((row) => [row.name.trim() || 'default', row.url.trim()]));
}

export function listMissingSettings(settings: readonly SettingView[]): readonly SettingView[] {
  return settings.filter(({ required, set: hasValue }) => required && !hasValue);
}

export function findSettingOfError(
  error: string,
  settings: readonly SettingView[],
): { readonly key: string; readonly text: string } | undefined {
  for (const { key } of settings) {
    const start = `the setting ${key} `;
    if (error.startsWith(start)) return { key, text: `It ${error.slice(start.length)}` };
  }
  return undefined;
}
