import { plainCopy } from './plain.ts';
import {
  ArrayPrototype,
  apply,
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
 * writeJson is JSON.stringify for what a tool hands over. It reads own properties only (plain.ts), and writes a bigint as
 * the integer it is. It throws for what JSON can't carry and returns nothing for what it leaves out.
 */
export function writeJson(value: unknown): string | undefined {
  return toJson(plainCopy(value));
}

/**
 * withoutPageThen keeps a `then` of the page's away while work resolves a promise with a value that JSON.parse made: the
 * language asks the value for it, and would hand it to the page.
 */
export function withoutPageThen(work: () => void): void {
  without(ObjectPrototype, 'then', () => without(ArrayPrototype, 'then', work));
}

/** without keeps what the page put on a prototype away while work runs. It throws if the page has locked it. */
function without<T>(prototype: object, key: 'then', work: () => T): T {
  const found = takeAway(prototype, key);
  try {
    return work();
  } finally {
    if (found) defineProperty(prototype, key, found);
  }
}

function takeAway(prototype: object, key: 'then'): PropertyDescriptor | undefined {
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
