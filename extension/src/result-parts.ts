import { MaxPartChars } from '../../wire/wire.gen.ts';

export function splitResult(resultText: string): string[] {
  const resultParts: string[] = [];
  for (let resultPartStart = 0; resultPartStart < resultText.length; ) {
    // A part must not end within a surrogate pair, because UTF-8 cannot encode half of a pair.
    const lastCodeUnit = resultText.charCodeAt(resultPartStart + MaxPartChars - 1);
    const partEnd =
      lastCodeUnit >= 0xd800 && lastCodeUnit <= 0xdbff
        ? resultPartStart + MaxPartChars - 1
        : resultPartStart + MaxPartChars;
    resultParts.push(resultText.slice(resultPartStart, partEnd));
    resultPartStart = partEnd;
  }
  return resultParts;
}
