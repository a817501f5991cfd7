import { MaxPartChars } from '../../wire/wire.gen.ts';

export function splitResult(resultText: string): string[] {
  const resultParts: string[] = [];
  for (let partStart = 0; partStart < resultText.length; ) {
    // A part must not end within a surrogate pair, because UTF-8 cannot encode half of a pair.
    const lastCodeUnit = resultText.charCodeAt(partStart + MaxPartChars - 1);
    const partEnd =
      lastCodeUnit >= 0xd800 && lastCodeUnit <= 0xdbff ? partStart + MaxPartChars - 1 : partStart + MaxPartChars;
    resultParts.push(resultText.slice(partStart, partEnd));
    partStart = partEnd;
  }
  return resultParts;
}
