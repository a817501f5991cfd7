/** Replacement of the browser's TextEncoder for QuickJS, without `encodeInto`. */
export class FakeTextEncoder {
  readonly encoding = 'utf-8';

  encode(decodedText = ''): Uint8Array {
    const bytes: number[] = [];
    for (const character of decodedText) {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return Uint8Array.from(bytes);
  }
}

/** FakeTextDecoder supports only UTF-8; invalid bytes become U+FFFD. */
export class FakeTextDecoder {
  readonly encoding = 'utf-8';

  decode(input: Uint8Array | ArrayBuffer = new Uint8Array()): string {
    const bytes = input instanceof Uint8Array ? input : new Uint8Array(input);
    let decodedText = '';
    for (let byteOffset = 0; byteOffset < bytes.length; ) {
      const leadByte = bytes[byteOffset] ?? 0;
      const trailingCount =
        leadByte < 0x80 ? 0 : leadByte >= 0xf0 ? 3 : leadByte >= 0xe0 ? 2 : leadByte >= 0xc0 ? 1 : -1;
      const trailingBytes = bytes.subarray(byteOffset + 1, byteOffset + 1 + Math.max(trailingCount, 0));
      if (
        trailingCount < 0 ||
        trailingBytes.length < trailingCount ||
        trailingBytes.some((byte) => (byte & 0xc0) !== 0x80)
      ) {
        decodedText += '\uFFFD';
        byteOffset++;
        continue;
      }
      const leadBits = trailingCount === 0 ? leadByte : leadByte & (0x3f >> trailingCount);
      decodedText += String.fromCodePoint(trailingBytes.reduce((code, byte) => (code << 6) | (byte & 63), leadBits));
      byteOffset += 1 + trailingCount;
    }
    return decodedText;
  }
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function fakeBtoa(decodedText: string): string {
  let encodedText = '';
  for (let groupStart = 0; groupStart < decodedText.length; groupStart += 3) {
    const codes = [0, 1, 2].map((byteOffset) => decodedText.charCodeAt(groupStart + byteOffset));
    if (codes.some((code) => code > 255)) throw new TypeError('btoa: a character is outside of the Latin1 range');
    const [firstSextet = 0, secondSextet = 0, thirdSextet = 0] = codes.map((code) => (Number.isNaN(code) ? 0 : code));
    const remainingCount = decodedText.length - groupStart;
    encodedText +=
      base64Digits.charAt(firstSextet >> 2) + base64Digits.charAt(((firstSextet & 3) << 4) | (secondSextet >> 4));
    encodedText += remainingCount > 1 ? base64Digits.charAt(((secondSextet & 15) << 2) | (thirdSextet >> 6)) : '=';
    encodedText += remainingCount > 2 ? base64Digits.charAt(thirdSextet & 63) : '=';
  }
  return encodedText;
}

export function fakeAtob(decodedText: string): string {
  const base64 = decodedText.replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
  if (/[^A-Za-z0-9+/]/.test(base64) || base64.length % 4 === 1)
    throw new TypeError('atob: the text is not valid base64');
  let decodedBytes = '';
  let bitCount = 0;
  let bitBuffer = 0;
  for (const character of base64) {
    bitBuffer = ((bitBuffer << 6) | base64Digits.indexOf(character)) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      decodedBytes += String.fromCharCode((bitBuffer >> bitCount) & 255);
    }
  }
  return decodedBytes;
}
