import type { Types } from '../../../wire/wire.gen.ts';
import { copyAsPlainValue, type OnLoss } from './plain.ts';
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
  let countedText = '';
  for (const name in fieldValues) {
    const value = hasOwn(fieldValues, name) ? fieldValues[name] : undefined;
    if (value !== undefined) countedText += `${countedText === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${countedText}}`;
}

/**
 * writeJson converts a tool's value to JSON text. Unlike JSON.stringify, writeJson reads only own properties
 * (plain.ts), and writes a bigint as an integer. For a value that JSON.stringify omits, writeJson returns undefined,
 * and for a value that JSON cannot represent, writeJson throws. `onLoss` is called for each part of the value that the
 * JSON text does not contain.
 */
export function writeJson(value: unknown, onLoss?: OnLoss): string | undefined {
  return toJson(copyAsPlainValue(value, onLoss));
}

/** EncodedPieceBytes is the size of the buffer into which countUtf8Bytes encodes a text piece by piece. */
const EncodedPieceBytes = 64 * 1024;

/**
 * If the length in UTF-16 units decides the comparison with the limit, countUtf8Bytes returns that length, which is
 * faster.
 */
export function countUtf8Bytes(countedText: string, maxBytes: number): number {
  if (countedText.length * 3 <= maxBytes || countedText.length > maxBytes) return countedText.length;
  const textEncoder = construct(NativeTextEncoder, []);
  const encodedPiece = construct(NativeUint8Array, [EncodedPieceBytes]);
  let bytes = 0;
  for (let pieceStart = 0; pieceStart < countedText.length; ) {
    // Each piece has more UTF-16 units than the buffer has bytes, so encodeInto fills the buffer before the piece ends.
    // The end of a text piece can separate the two UTF-16 units of one character.
    const piece = apply(stringSlice, countedText, [pieceStart, pieceStart + EncodedPieceBytes + 1]);
    const { read: readUnits, written }: TextEncoderEncodeIntoResult = apply(encodeInto, textEncoder, [
      piece,
      encodedPiece,
    ]);
    pieceStart += readUnits;
    bytes += written;
  }
  return bytes;
}
