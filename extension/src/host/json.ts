import type { Types } from '../../../wire/wire.gen.ts';
import { type OnLoss, plainCopy } from './plain.ts';
import { apply, bytesLengthGetter, construct, encodeText, hasOwn, NativeTextEncoder, toJson } from './primordials.ts';

/**
 * objectText returns an object of the protocol's type N as JSON text. The value of each field is JSON text; undefined
 * omits the field. The compiler checks the names of the fields, which is impossible for handwritten JSON text.
 */
export function objectText<N extends keyof Types>(
  fields: {
    readonly [K in keyof Types[N]]?: string | undefined;
  },
): string {
  const values: Readonly<Record<string, string | undefined>> = fields;
  let text = '';
  for (const name in values) {
    const value = hasOwn(values, name) ? values[name] : undefined;
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${text}}`;
}

/**
 * writeJson converts a tool's value to JSON text like JSON.stringify, but reads only own properties (plain.ts) and
 * writes a bigint as an integer. writeJson throws for a value that JSON cannot represent, and returns undefined for
 * a value that JSON.stringify omits. onLoss receives the parts of the value that the JSON text does not contain.
 */
export function writeJson(value: unknown, onLoss?: OnLoss): string | undefined {
  return toJson(plainCopy(value, onLoss));
}

/**
 * utf8LengthOf returns the length of text in UTF-8 bytes, for a comparison with limit. If the result of the comparison
 * stays the same, utf8LengthOf may return the length in UTF-16 units instead.
 */
export function utf8LengthOf(text: string, limit: number): number {
  if (text.length * 3 <= limit || text.length > limit) return text.length;
  const bytes: Uint8Array = apply(encodeText, construct(NativeTextEncoder, []), [text]);
  const length = apply(bytesLengthGetter, bytes, []);
  return typeof length === 'number' ? length : text.length;
}
