// Converts between the values of a plugin's settings and the text in the input fields of the settings form.

import type { SettingView } from '../../../wire/wire.gen.ts';

export interface UrlRow {
  readonly name: string;
  readonly url: string;
}

/** A SettingDraft that is an empty string means that the setting has no value. */
export type SettingDraft = string | readonly UrlRow[];

/** ClearedSecretDraft is the draft that removes a secret setting: a NUL character, which the user cannot type. */
export const ClearedSecretDraft = '\u0000';

/** makeDraft returns an empty text for a secret setting, because the panel never receives the secret. */
export function makeDraft({ type, value, secret: isSecret }: SettingView): SettingDraft {
  if (type === 'url') {
    const urls = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return urls.map(([name, url]) => ({ name, url: String(url) }));
  }
  return isSecret || value === undefined || value === null ? '' : String(value);
}

export function isChanged(setting: SettingView, settingDraft: SettingDraft | undefined): boolean {
  if (settingDraft === undefined) return false;
  return JSON.stringify(settingDraft) !== JSON.stringify(makeDraft(setting));
}

/**
 * readDraftValue converts the content of an input field to the value that is sent to the server; null removes the
 * setting.
 */
export function readDraftValue({ type }: SettingView, settingDraft: SettingDraft | undefined): unknown {
  if (settingDraft === undefined || settingDraft === ClearedSecretDraft || settingDraft === '') return null;
  if (typeof settingDraft !== 'string') return collectUrls(settingDraft);
  switch (type) {
    case 'number': {
      // A comma counts as a decimal point unless three digits follow it, because "1,000" must not become 1.
      const parsedNumber = Number(
        /^[^,]*,\d{3}(\D|$)/.test(settingDraft) ? settingDraft : settingDraft.replace(',', '.'),
      );
      return settingDraft.trim() === '' || Number.isNaN(parsedNumber) || !Number.isFinite(parsedNumber)
        ? settingDraft
        : parsedNumber;
    }
    case 'boolean':
      return settingDraft === 'true';
    default:
      return settingDraft;
  }
}

function collectUrls(rows: readonly UrlRow[]): Readonly<Record<string, string>> | null {
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
    const errorPrefix = `the setting ${key} `;
    if (error.startsWith(errorPrefix)) return { key, text: `It ${error.slice(errorPrefix.length)}` };
  }
  return undefined;
}
