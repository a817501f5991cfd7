import { MaxPartChars } from '../../wire/wire.gen.ts';

export function splitResult(text: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    // A part must not end within a surrogate pair, because UTF-8 cannot encode half of a pair.
    const lastUnit = text.charCodeAt(start + MaxPartChars - 1);
    const end = lastUnit >= 0xd800 && lastUnit <= 0xdbff ? start + MaxPartChars - 1 : start + MaxPartChars;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
