import { MaxPartChars } from '../../wire/wire.gen.ts';

export function splitResult(resultText: string): string[] {
  const resultParts: string[] = [];
  for (let start = 0; start < resultText.length; ) {
    // A part must not end within a surrogate pair, because UTF-8 cannot encode half of a pair.
    const lastUnit = resultText.charCodeAt(start + MaxPartChars - 1);
    const end = lastUnit >= 0xd800 && lastUnit <= 0xdbff ? start + MaxPartChars - 1 : start + MaxPartChars;
    resultParts.push(resultText.slice(start, end));
    start = end;
  }
  return resultParts;
}
