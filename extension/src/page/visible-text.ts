// Text as an agent gets it: without characters that are not shown, on one line.
import { replaceHidden } from '../panel/plain-text.ts';

/** PrivateUse matches the characters that icon fonts draw. They have no meaning as text. */
const PrivateUse = /[\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}]/gu;
const NeedsCleaning = /[^\x20-\x7e]/;

/** cleanText removes characters that are not shown, and replaces each run of white space by one space. */
export function cleanText(text: string): string {
  if (!NeedsCleaning.test(text)) return text.includes('  ') ? text.replace(/ {2,}/g, ' ').trim() : text.trim();
  const shown = replaceHidden(text.replace(/[\s\u2028\u2029]+/g, ' '), () => '').replace(PrivateUse, '');
  return shown.replace(/ {2,}/g, ' ').trim();
}

/** cleanLines is like cleanText, but keeps newlines and tabs. */
export function cleanLines(text: string): string {
  if (!NeedsCleaning.test(text)) return text;
  return replaceHidden(text.replace(/\r\n?/g, '\n'), () => '').replace(PrivateUse, '');
}

/** shorten cuts a text to a number of characters, and marks the cut. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/** countTokens estimates the tokens of a text: the bytes of UTF-8 divided by 4. */
export function countTokens(text: string): number {
  return Math.ceil(countBytes(text) / 4);
}

const encoder = new TextEncoder();

function countBytes(text: string): number {
  return NeedsCleaning.test(text) ? encoder.encode(text).length : text.length;
}
