import { plainCopy } from './plain.ts';
import { apply, construct, encode, lengthOfBytes, NativeTextEncoder, toJson } from './primordials.ts';

/**
 * writeJson is JSON.stringify for what a tool hands over. It reads own properties only (plain.ts), and writes a bigint as
 * the integer it is. It throws for what JSON can't carry and returns nothing for what it leaves out.
 */
export function writeJson(value: unknown): string | undefined {
  return toJson(plainCopy(value));
}

/** bytesOf returns the length of text in bytes of UTF-8; below the limit it may return an upper bound. */
export function bytesOf(text: string, limit: number): number {
  if (text.length * 3 <= limit || text.length > limit) return text.length;
  const bytes: Uint8Array = apply(encode, construct(NativeTextEncoder, []), [text]);
  const length = apply(lengthOfBytes, bytes, []);
  return typeof length === 'number' ? length : text.length;
}
