import { failureText, messageOf } from './failure.ts';
import { exactBigint } from './number.ts';
import {
  ArrayPrototype,
  apply,
  BigIntPrototype,
  construct,
  defineProperty,
  deleteProperty,
  encode,
  getOwnPropertyDescriptor,
  lengthOfBytes,
  NativeTextEncoder,
  NativeTypeError,
  ObjectPrototype,
  setPrototypeOf,
  toJson,
} from './primordials.ts';

/** Outcome is what a call sends: the result's JSON text, nothing for undefined, or an error's JSON text. */
export type Outcome =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly text: string };

/** outcomeOf turns what a tool returned into what is sent. It never throws. */
export function outcomeOf(tool: string, value: unknown, maxBytes: number): Outcome {
  if (value === undefined) return { kind: 'nothing' };
  let text: string | undefined;
  try {
    text = withoutPageToJSON(() => textOf(value));
  } catch (error) {
    return invalid(tool, messageOf(error));
  }
  if (text === undefined) return invalid(tool, `JSON has no way to write a ${typeof value}`);
  const bytes = sizeOf(text, maxBytes);
  if (bytes > maxBytes) {
    const message = `the result of ${tool} has ${size(bytes)}, the limit is ${size(maxBytes)}`;
    return { kind: 'error', text: failureText('result_too_large', message) };
  }
  return { kind: 'result', text };
}

/** textOf is JSON.stringify that writes a bigint as the integer it is. */
function textOf(value: unknown): string | undefined {
  try {
    return toJson(value);
  } catch {
    return toJson(value, exactBigint); // throws again if it was something else
  }
}

function invalid(tool: string, why: string): Outcome {
  const message = `the tool ${tool} returned what JSON can't carry: ${why}`;
  return { kind: 'error', text: failureText('invalid_result', message) };
}

/**
 * withoutPageToJSON keeps a `toJSON` that the page put on Object.prototype or Array.prototype away while work runs:
 * JSON.stringify would hand it every object of the result and take its answer instead.
 */
function withoutPageToJSON<T>(work: () => T): T {
  const ofObject = takeAway(ObjectPrototype);
  const ofArray = takeAway(ArrayPrototype);
  const ofBigInt = takeAway(BigIntPrototype);
  try {
    return work();
  } finally {
    if (ofBigInt) defineProperty(BigIntPrototype, 'toJSON', ofBigInt);
    if (ofObject) defineProperty(ObjectPrototype, 'toJSON', ofObject);
    if (ofArray) defineProperty(ArrayPrototype, 'toJSON', ofArray);
  }
}

function takeAway(prototype: object): PropertyDescriptor | undefined {
  const found = getOwnPropertyDescriptor(prototype, 'toJSON');
  if (!found) return undefined;
  setPrototypeOf(found, null);
  if (!deleteProperty(prototype, 'toJSON')) {
    throw new NativeTypeError('the page has locked its own toJSON, so that it could change every result');
  }
  return found;
}

/** sizeOf returns the length of text in bytes of UTF-8; below the limit it may return an upper bound. */
function sizeOf(text: string, maxBytes: number): number {
  if (text.length * 3 <= maxBytes || text.length > maxBytes) return text.length;
  const bytes: Uint8Array = apply(encode, construct(NativeTextEncoder, []), [text]);
  const length = apply(lengthOfBytes, bytes, []);
  return typeof length === 'number' ? length : text.length;
}

/** size writes a number of bytes for people. */
function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${tenths(kb)} KB` : `${tenths(kb / 1024)} MB`;
}

/** tenths rounds up, so that a size over a limit never reads like the limit. */
function tenths(value: number): string {
  const whole = (value * 10) % 1 === 0 ? value * 10 : value * 10 - ((value * 10) % 1) + 1;
  return `${whole / 10}`;
}
