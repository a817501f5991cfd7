import { makeJsonLossHint } from '../../../sdk-ts/src/runtime/hints.ts';
import { makeRawInteger } from './number.ts';
import {
  ArrayPrototype,
  apply,
  BigIntPrototype,
  BooleanPrototype,
  bigIntValueOf,
  booleanValueOf,
  construct,
  DatePrototype,
  dateGetTime,
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
  slice,
  stringValueOf,
  UrlPrototype,
  urlHrefGetter,
} from './primordials.ts';

const MaxCopyDepth = 2000;

/** PathEntry is a linked list of the objects that contain a value, from the innermost object to the root. */
interface PathEntry {
  readonly value: object;
  readonly key: string;
  readonly depth: number;
  readonly parentEntry: PathEntry | undefined;
}

/**
 * PlainValue is the class of the objects that copyAsPlainValue creates: Chrome processes objects without a prototype
 * slowly.
 */
class PlainValue {
  readonly [key: string]: unknown;
}
const plainPrototype = PlainValue.prototype;
deleteProperty(plainPrototype, 'constructor');
setPrototypeOf(plainPrototype, null);
freeze(plainPrototype);

/**
 * JsonLossCallback receives the path of a value that JSON cannot represent, such as `items[3].el`, and advice for the
 * author.
 */
export type JsonLossCallback = (path: string, hint: string) => void;

/**
 * copyAsPlainValue returns a copy of a value that has the same JSON text. No object in the copy inherits from a
 * prototype of the page, so JSON.stringify calls no `toJSON` method of the page. copyAsPlainValue reads each own
 * property of the value once. A `toJSON` method is called only if an object or a class of the plugin defines it. If
 * JSON cannot represent the value, copyAsPlainValue throws.
 */
export function copyAsPlainValue(value: unknown, onJsonLoss?: JsonLossCallback): unknown {
  return copyValue(value, '', undefined, onJsonLoss);
}

function copyValue(
  originalValue: unknown,
  key: string,
  parentEntry: PathEntry | undefined,
  onJsonLoss: JsonLossCallback | undefined,
): unknown {
  if (typeof originalValue === 'bigint') return makeRawInteger(originalValue);
  if (!isObject(originalValue)) return originalValue;
  const isPlain = isPlainWithoutToJson(originalValue);
  const value = isPlain ? originalValue : toJsonValue(originalValue, key);
  if (!isPlain && value === originalValue && !isArray(value)) reportLoss(value, key, parentEntry, onJsonLoss);
  if (!isObject(value) || isFn(value) || isRawJson(value)) return value;
  const path = appendToPath(value, key, parentEntry);
  return isArray(value) ? copyArray(value, path, onJsonLoss) : copyObject(value, path, onJsonLoss);
}

function reportLoss(
  value: object,
  key: string,
  parentEntry: PathEntry | undefined,
  onJsonLoss: JsonLossCallback | undefined,
): void {
  // A call whose result is a function fails, so a hint about the function would only repeat the error.
  if (onJsonLoss === undefined || isRawJson(value) || (parentEntry === undefined && isFn(value))) return;
  try {
    const hint = makeJsonLossHint(value);
    if (hint !== '') onJsonLoss(formatPath(key, parentEntry), hint);
  } catch {
    // An error of a getter is ignored here, because copying the value reports the error again.
  }
}

/**
 * formatPath returns the path of a property in a result, such as `items[3].el`, or `the result` for the whole value.
 */
function formatPath(key: string, parentEntry: PathEntry | undefined): string {
  let pathText = '';
  let childKey = key;
  for (let pathEntry = parentEntry; pathEntry !== undefined; pathEntry = pathEntry.parentEntry) {
    pathText = isArray(pathEntry.value) ? `[${childKey}]${pathText}` : `.${childKey}${pathText}`;
    childKey = pathEntry.key;
  }
  if (pathText === '') return 'the result';
  return pathText[0] === '.' ? apply(slice, pathText, [1]) : `result${pathText}`;
}

function isPlainWithoutToJson(value: object): boolean {
  const parent = getPrototypeOf(value);
  return (parent === ObjectPrototype || parent === ArrayPrototype || parent === null) && !hasOwn(value, 'toJSON');
}

function toJsonValue(value: object, key: string): unknown {
  const toJson = lookup(value, 'toJSON');
  const replacement = isFn(toJson) ? apply(toJson, value, [key]) : toPrimitive(value);
  return typeof replacement === 'bigint' ? makeRawInteger(replacement) : replacement;
}

function toPrimitive(value: object): unknown {
  for (
    let ancestorPrototype = getPrototypeOf(value);
    ancestorPrototype !== null;
    ancestorPrototype = getPrototypeOf(ancestorPrototype)
  ) {
    try {
      switch (ancestorPrototype) {
        case DatePrototype:
          return isFiniteNumber(apply(dateGetTime, value, [])) ? apply(dateToIsoString, value, []) : null;
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
      return value; // the object inherits from a built-in class, but is not an instance of the class
    }
  }
  return value;
}

function copyArray(value: readonly unknown[], path: PathEntry, onJsonLoss: JsonLossCallback | undefined): unknown {
  const copiedItems: unknown[] = [];
  // copyArray sets the copy's prototype before it adds elements, so that no setter on the page's Array.prototype
  // receives an element.
  setPrototypeOf(copiedItems, plainPrototype);
  for (let i = 0; i < value.length; i++)
    copiedItems[i] = hasOwn(value, i) ? copyValue(value[i], `${i}`, path, onJsonLoss) : null;
  return copiedItems;
}

function copyObject(value: object, path: PathEntry, onJsonLoss: JsonLossCallback | undefined): unknown {
  const copiedFields: Record<string, unknown> = construct(PlainValue, []);
  const keys = keysOf(value);
  const sourceObject: Readonly<Record<string, unknown>> = isNonFunction(value) ? value : copiedFields;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== undefined) copiedFields[key] = copyValue(sourceObject[key], key, path, onJsonLoss);
  }
  return copiedFields;
}

function isNonFunction(value: object): value is Readonly<Record<string, unknown>> {
  return !isFn(value);
}

/** Like JSON.stringify, appendToPath throws if an object contains itself. */
function appendToPath(value: object, key: string, parentEntry: PathEntry | undefined): PathEntry {
  const depth = parentEntry === undefined ? 0 : parentEntry.depth + 1;
  for (let pathEntry = parentEntry; pathEntry !== undefined; pathEntry = pathEntry.parentEntry) {
    if (pathEntry.value === value)
      throw new NativeTypeError(
        `${formatPath(key, parentEntry)} is circular: it refers back to an object that contains it; copy only the fields that agents need`,
      );
  }
  if (depth > MaxCopyDepth) throw new NativeTypeError(`the value is nested more than ${MaxCopyDepth} levels deep`);
  return { value, key, depth, parentEntry };
}
