import type { Types } from '../../../wire/wire.gen.ts';
import { copyAsPlainValue, type JsonLossCallback } from './plain.ts';
import {
  apply,
  construct,
  encodeInto,
  hasOwn,
  NativeTextEncoder,
  NativeUint8Array,
  stringSlice,
  toJson,
} from './primordials.ts';

/**
 * makeObjectText returns an object of the protocol type N as JSON text. makeObjectText receives each field as JSON
 * text; the value undefined omits the field. The compiler checks the field names of makeObjectText, but not those of
 * handwritten JSON text.
 */
export function makeObjectText<N extends keyof Types>(
  messageFields: {
    readonly [K in keyof Types[N]]?: string | undefined;
  },
): string {
  const fieldValues: Readonly<Record<string, string | undefined>> = messageFields;
  let fieldsJson = '';
  for (const name in fieldValues) {
    const value = hasOwn(fieldValues, name) ? fieldValues[name] : undefined;
    if (value !== undefined) fieldsJson += `${fieldsJson === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${fieldsJson}}`;
}

/**
 * writeJson converts a tool's value to JSON text. Unlike JSON.stringify, writeJson reads only own properties
 * (plain.ts), and writes a bigint as an integer. For a value that JSON.stringify omits, writeJson returns undefined,
 * and for a value that JSON cannot represent, writeJson throws. `onJsonLoss` is called for each part of the value that
 * the JSON text does not contain.
 */
export function writeJson(value: unknown, onJsonLoss?: JsonLossCallback): string | undefined {
  return toJson(copyAsPlainValue(value, onJsonLoss));
}

/** EncodeBufferBytes is the size of the buffer into which countUtf8Bytes encodes a text piece by piece. */
const EncodeBufferBytes = 64 * 1024;

/**
 * If the text is surely shorter or longer than maxBytes, countUtf8Bytes returns the length in UTF-16 units instead,
 * which is faster.
 */
export function countUtf8Bytes(text: string, maxBytes: number): number {
  if (text.length * 3 <= maxBytes || text.length > maxBytes) return text.length;
  const textEncoder = construct(NativeTextEncoder, []);
  const encodeBuffer = construct(NativeUint8Array, [EncodeBufferBytes]);
  let bytes = 0;
  for (let pieceStart = 0; pieceStart < text.length; ) {
    // Each piece has more UTF-16 units than the buffer has bytes, so encodeInto fills the buffer before the piece ends.
    // The end of a text piece can separate the two UTF-16 units of one character.
    const piece = apply(stringSlice, text, [pieceStart, pieceStart + EncodeBufferBytes + 1]);
    const { read: readCodeUnits, written }: TextEncoderEncodeIntoResult = apply(encodeInto, textEncoder, [
      piece,
      encodeBuffer,
    ]);
    pieceStart += readCodeUnits;
    bytes += written;
  }
  return bytes;
}
