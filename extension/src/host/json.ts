import { plainCopy } from './plain.ts';
import { apply, construct, encode, lengthOfBytes, NativeTextEncoder, toJson } from './primordials.ts';

/**
 * writeJson is JSON.stringify for values of a tool. It reads own properties only (plain.ts), and writes a bigint as an
 * integer. It throws for a value that JSON cannot represent, and returns undefined for one that JSON.stringify omits.
 */
export function writeJson(value: unknown): string | undefined {
  return toJson(plainCopy(value));
}

/**
 * bytesOf returns the length of text in UTF-8 bytes, for a comparison with limit. It may return the length in UTF-16 units
 * if the result of the comparison is the same.
 */
export function bytesOf(text: string, limit: number): number {
  if (text.length * 3 <= limit || text.length > limit) return text.length;
  const bytes: Uint8Array = apply(encode, construct(NativeTextEncoder, []), [text]);
  const length = apply(lengthOfBytes, bytes, []);
  return typeof length === 'number' ? length : text.length;
}
