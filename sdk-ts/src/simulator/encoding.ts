/** TextEncoder, without encodeInto. */
export class FakeTextEncoder {
  readonly encoding = 'utf-8';

  encode(text = ''): Uint8Array {
    const bytes: number[] = [];
    for (const char of text) {
      const code = char.codePointAt(0) ?? 0;
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return Uint8Array.from(bytes);
  }
}

/** TextDecoder for UTF-8 only. Invalid bytes become U+FFFD. */
export class FakeTextDecoder {
  readonly encoding = 'utf-8';

  decode(input: Uint8Array | ArrayBuffer = new Uint8Array()): string {
    const bytes = input instanceof Uint8Array ? input : new Uint8Array(input);
    let text = '';
    for (let at = 0; at < bytes.length; ) {
      const first = bytes[at] ?? 0;
      const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
      const rest = bytes.subarray(at + 1, at + 1 + Math.max(more, 0));
      if (more < 0 || rest.length < more || rest.some((byte) => (byte & 0xc0) !== 0x80)) {
        text += '\uFFFD';
        at++;
        continue;
      }
      const head = more === 0 ? first : first & (0x3f >> more);
      text += String.fromCodePoint(rest.reduce((code, byte) => (code << 6) | (byte & 63), head));
      at += 1 + more;
    }
    return text;
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Encodes `text` as base64. Each character must be in the range of a byte. */
export function fakeBtoa(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const codes = [0, 1, 2].map((offset) => text.charCodeAt(at + offset));
    if (codes.some((code) => code > 255)) throw new TypeError('btoa: a character is outside of the Latin1 range');
    const [a = 0, b = 0, c = 0] = codes.map((code) => (Number.isNaN(code) ? 0 : code));
    const left = text.length - at;
    out += digits.charAt(a >> 2) + digits.charAt(((a & 3) << 4) | (b >> 4));
    out += left > 1 ? digits.charAt(((b & 15) << 2) | (c >> 6)) : '=';
    out += left > 2 ? digits.charAt(c & 63) : '=';
  }
  return out;
}

/** Decodes base64 to a string in which each character represents one byte. */
export function fakeAtob(text: string): string {
  const clean = text.replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
  if (/[^A-Za-z0-9+/]/.test(clean) || clean.length % 4 === 1) throw new TypeError('atob: the text is not valid base64');
  let out = '';
  let bits = 0;
  let pending = 0;
  for (const char of clean) {
    pending = ((pending << 6) | digits.indexOf(char)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += String.fromCharCode((pending >> bits) & 255);
    }
  }
  return out;
}
