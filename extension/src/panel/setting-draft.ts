// What stands in the fields of the settings form, and what it means.

import type { SettingView } from '../../../wire/wire.gen.ts';

/** UrlRow is one instance of a url setting as it is typed. */
export interface UrlRow {
  readonly name: string;
  readonly url: string;
}

/** Draft is what stands in a setting's field: a text, or rows for a url. An empty text is no value. */
export type Draft = string | readonly UrlRow[];

/** Cleared is the draft of a secret that is to be taken away; nobody can type it. */
export const Cleared = '\u0000';

/** draftOf is what stands in the field before the person touches it. A secret's field is empty, set or not. */
export function draftOf({ type, value, secret }: SettingView): Draft {
  if (type === 'url') {
    const urls = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return urls.map(([name, url]) => ({ name, url: String(url) }));
  }
  return secret || value === undefined || value === null ? '' : String(value);
}

/** isChanged reports whether a draft differs from what is set. */
export function isChanged(setting: SettingView, draft: Draft | undefined): boolean {
  if (draft === undefined) return false;
  return JSON.stringify(draft) !== JSON.stringify(draftOf(setting));
}

/** meaningOf is what a draft means to the server: null takes the setting away. What makes no sense goes there as it is, and is refused there with a sentence. */
export function meaningOf({ type }: SettingView, draft: Draft | undefined): unknown {
  if (draft === undefined || draft === Cleared || draft === '') return null;
  if (typeof draft !== 'string') return urlsOf(draft);
  switch (type) {
    case 'number': {
      // What may stand for thousands is no decimal comma: 1,000 is not 1.
      const number = Number(/^[^,]*,\d{3}(\D|$)/.test(draft) ? draft : draft.replace(',', '.'));
      return draft.trim() === '' || Number.isNaN(number) || !Number.isFinite(number) ? draft : number;
    }
    case 'boolean':
      return draft === 'true';
    default:
      return draft;
  }
}

function urlsOf(rows: readonly UrlRow[]): Readonly<Record<string, string>> | null {
  const filled = rows.filter((row) => row.name.trim() !== '' || row.url.trim() !== '');
  if (filled.length === 0) return null;
  return Object.fromEntries(filled.map((row) => [row.name.trim() || 'default', row.url.trim()]));
}

/** lacking are the settings that a plugin requires and that are not set. */
export function lacking(settings: readonly SettingView[]): readonly SettingView[] {
  return settings.filter(({ required, set }) => required && !set);
}

/** settingOfError finds the setting that the server's sentence is about, and what it says of it. */
export function settingOfError(
  sentence: string,
  settings: readonly SettingView[],
): { readonly key: string; readonly text: string } | undefined {
  for (const { key } of settings) {
    const start = `the setting ${key} `;
    if (sentence.startsWith(start)) return { key, text: `It ${sentence.slice(start.length)}` };
  }
  return undefined;
}
