// Cleans text for agents: removes invisible characters, and collapses white space.
import { replaceHiddenCharacters } from '../panel/plain-text.ts';

/** Private use characters, which icon fonts draw, have no meaning as text. */
const PrivateUseCharacters = /[\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}]/gu;
const NonAsciiCharacter = /[^\x20-\x7e]/;

export function cleanText(text: string): string {
  if (!NonAsciiCharacter.test(text)) return text.includes('  ') ? text.replace(/ {2,}/g, ' ').trim() : text.trim();
  const visibleText = replaceHiddenCharacters(text.replace(/[\s\u2028\u2029]+/g, ' '), () => '').replace(
    PrivateUseCharacters,
    '',
  );
  return visibleText.replace(/ {2,}/g, ' ').trim();
}

export function cleanLines(text: string): string {
  if (!NonAsciiCharacter.test(text)) return text;
  return replaceHiddenCharacters(text.replace(/\r\n?/g, '\n'), () => '').replace(PrivateUseCharacters, '');
}

export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/** countTokens estimates the number of tokens in a text, as its UTF-8 bytes divided by 4. */
export function countTokens(text: string): number {
  return Math.ceil(countBytes(text) / 4);
}

const encoder = new TextEncoder();

function countBytes(text: string): number {
  return NonAsciiCharacter.test(text) ? encoder.encode(text).length : text.length;
}
