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
  // JSON.stringify would hand a `toJSON` that the page put on a prototype every object of the value, and take its answer.
  return without(ObjectPrototype, 'toJSON', () =>
    without(ArrayPrototype, 'toJSON', () => without(BigIntPrototype, 'toJSON', () => textOf(value))),
  );
}

function textOf(value: unknown): string | undefined {
  try {
    return toJson(value);
  } catch {
    return toJson(value, exactBigint); // throws again if it was something else
  }
}

/**
 * withoutPageThen keeps a `then` of the page's away while work resolves a promise with a value that JSON.parse made: the
 * language asks the value for it, and would hand it to the page.
 */
export function withoutPageThen(work: () => void): void {
  without(ObjectPrototype, 'then', () => without(ArrayPrototype, 'then', work));
}

/** without keeps what the page put on a prototype away while work runs. It throws if the page has locked it. */
function without<T>(prototype: object, key: 'toJSON' | 'then', work: () => T): T {
  const found = takeAway(prototype, key);
  try {
    return work();
  } finally {
    if (found) defineProperty(prototype, key, found);
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
