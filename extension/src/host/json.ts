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

/**
 * writeJson is JSON.stringify that no page can change and that writes a bigint as the integer it is. It throws for what
 * JSON can't carry and returns nothing for what it leaves out.
 */
export function writeJson(value: unknown): string | undefined {
  return withoutPageToJSON(() => textOf(value));
}

function textOf(value: unknown): string | undefined {
  try {
    return toJson(value);
  } catch {
    return toJson(value, exactBigint); // throws again if it was something else
  }
}

/**
 * withoutPageToJSON keeps a `toJSON` that the page put on Object.prototype or Array.prototype away while work runs:
 * JSON.stringify would hand it every object of the result and take its answer instead.
 */
function withoutPageToJSON<T>(work: () => T): T {
  const ofObject = takeAway(ObjectPrototype, 'toJSON');
  const ofArray = takeAway(ArrayPrototype, 'toJSON');
  const ofBigInt = takeAway(BigIntPrototype, 'toJSON');
  try {
    return work();
  } finally {
    if (ofBigInt) defineProperty(BigIntPrototype, 'toJSON', ofBigInt);
    if (ofObject) defineProperty(ObjectPrototype, 'toJSON', ofObject);
    if (ofArray) defineProperty(ArrayPrototype, 'toJSON', ofArray);
  }
}

/**
 * withoutPageThen keeps a `then` of the page's away while work resolves a promise with a value that JSON.parse made: the
 * language asks the value for it, and would hand it to the page.
 */
export function withoutPageThen(work: () => void): void {
  const ofObject = takeAway(ObjectPrototype, 'then');
  const ofArray = takeAway(ArrayPrototype, 'then');
  try {
    work();
  } finally {
    if (ofObject) defineProperty(ObjectPrototype, 'then', ofObject);
    if (ofArray) defineProperty(ArrayPrototype, 'then', ofArray);
  }
}

function takeAway(prototype: object, key: 'toJSON' | 'then'): PropertyDescriptor | undefined {
  const found = getOwnPropertyDescriptor(prototype, key);
  if (!found) return undefined;
  setPrototypeOf(found, null);
  if (!deleteProperty(prototype, key)) {
    throw new NativeTypeError(`the page has locked its own ${key}, so that it could change every result`);
  }
  return found;
}

/** bytesOf returns the length of text in bytes of UTF-8; below the limit it may return an upper bound. */
export function bytesOf(text: string, limit: number): number {
  if (text.length * 3 <= limit || text.length > limit) return text.length;
  const bytes: Uint8Array = apply(encode, construct(NativeTextEncoder, []), [text]);
  const length = apply(lengthOfBytes, bytes, []);
  return typeof length === 'number' ? length : text.length;
}
