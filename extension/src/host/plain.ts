import { rawInteger } from './number.ts';
import {
  ArrayPrototype,
  apply,
  BigIntPrototype,
  BooleanPrototype,
  bigIntValueOf,
  booleanValueOf,
  construct,
  DatePrototype,
  dateToIsoString,
  deleteProperty,
  freeze,
  getPrototypeOf,
  hasOwn,
  isArray,
  isFiniteNumber,
  isFn,
  isObject,
  isRawJson,
  keysOf,
  lookup,
  NativeTypeError,
  NumberPrototype,
  numberValueOf,
  ObjectPrototype,
  StringPrototype,
  setPrototypeOf,
  stringValueOf,
  timeOfDate,
  UrlPrototype,
  urlHrefGetter,
} from './primordials.ts';

/** MaxDepth limits the nesting of a value that is written as JSON. */
const MaxDepth = 2000;

/** PathEntry is a linked list of the objects that contain a value, from the value up to the root. */
interface PathEntry {
  readonly value: object;
  readonly depth: number;
  readonly up: PathEntry | undefined;
}

/** PlainValue is the class of copied objects, because objects without a prototype are slow. */
class PlainValue {
  readonly [key: string]: unknown;
}
const plainPrototype = PlainValue.prototype;
deleteProperty(plainPrototype, 'constructor');
setPrototypeOf(plainPrototype, null);
freeze(plainPrototype);

/**
 * plainCopy returns a copy of value with the same JSON text. No object in the copy has a prototype of the page, so
 * JSON.stringify calls no `toJSON` of the page. plainCopy reads each own property of value once, and calls a toJSON
 * that an object or a class of the plugin defines. plainCopy throws for a value that JSON cannot represent.
 */
export function plainCopy(value: unknown): unknown {
  return copyOf(value, '', undefined);
}

function copyOf(original: unknown, key: string, up: PathEntry | undefined): unknown {
  if (typeof original === 'bigint') return rawInteger(original);
  if (!isObject(original)) return original;
  const value = isOrdinary(original) ? original : jsonValueOf(original, key);
  if (!isObject(value) || isFn(value) || isRawJson(value)) return value;
  const path = appendToPath(value, up);
  return isArray(value) ? copyOfArray(value, path) : copyOfObject(value, path);
}

/** isOrdinary reports whether value is a plain object or array without a toJSON. */
function isOrdinary(value: object): boolean {
  const parent = getPrototypeOf(value);
  return (parent === ObjectPrototype || parent === ArrayPrototype || parent === null) && !hasOwn(value, 'toJSON');
}

/** jsonValueOf returns the value that JSON.stringify writes in place of value. */
function jsonValueOf(value: object, key: string): unknown {
  const toJson = lookup(value, 'toJSON');
  const replacement = isFn(toJson) ? apply(toJson, value, [key]) : unbox(value);
  return typeof replacement === 'bigint' ? rawInteger(replacement) : replacement;
}

/** unbox returns the primitive value of an object of a built-in class, and other objects unchanged. */
function unbox(value: object): unknown {
  for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
    try {
      switch (prototype) {
        case DatePrototype:
          return isFiniteNumber(apply(timeOfDate, value, [])) ? apply(dateToIsoString, value, []) : null;
        case UrlPrototype:
          return apply(urlHrefGetter, value, []);
        case StringPrototype:
          return apply(stringValueOf, value, []);
        case NumberPrototype:
          return apply(numberValueOf, value, []);
        case BooleanPrototype:
          return apply(booleanValueOf, value, []);
        case BigIntPrototype:
          return apply(bigIntValueOf, value, []);
      }
    } catch {
      return value; // the object inherits from a built-in class but is not an instance of this class
    }
  }
  return value;
}

function copyOfArray(value: readonly unknown[], path: PathEntry): unknown {
  const copy: unknown[] = [];
  // The prototype of the array is removed before the first element is added, so that no setter on Array.prototype
  // receives an element.
  setPrototypeOf(copy, plainPrototype);
  for (let i = 0; i < value.length; i++) copy[i] = hasOwn(value, i) ? copyOf(value[i], `${i}`, path) : null;
  return copy;
}

function copyOfObject(value: object, path: PathEntry): unknown {
  const copy: Record<string, unknown> = construct(PlainValue, []);
  const keys = keysOf(value);
  const source: Readonly<Record<string, unknown>> = isRecord(value) ? value : copy;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== undefined) copy[key] = copyOf(source[key], key, path);
  }
  return copy;
}

/** isRecord narrows an object to a record for the compiler. */
function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  return !isFn(value);
}

/**
 * appendToPath returns the path extended by value. Like JSON.stringify, appendToPath throws if value contains itself.
 */
function appendToPath(value: object, up: PathEntry | undefined): PathEntry {
  const depth = up === undefined ? 0 : up.depth + 1;
  for (let entry = up; entry !== undefined; entry = entry.up) {
    if (entry.value === value) throw new NativeTypeError('the value is circular: an object in it contains itself');
  }
  if (depth > MaxDepth) throw new NativeTypeError(`the value is nested more than ${MaxDepth} levels deep`);
  return { value, depth, up };
}
