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
  hrefOfUrl,
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
} from './primordials.ts';

/** MaxDepth is how deep a value may be nested that is written as JSON. */
const MaxDepth = 2000;

/** Above is the way from a value up to the whole. */
interface Above {
  readonly value: object;
  readonly depth: number;
  readonly up: Above | undefined;
}

/** Plain makes the objects of a copy: ordinary ones without a prototype are slow. */
class Plain {
  readonly [key: string]: unknown;
}
const plainPrototype = Plain.prototype;
deleteProperty(plainPrototype, 'constructor');
setPrototypeOf(plainPrototype, null);
freeze(plainPrototype);

/**
 * plainCopy returns a copy of value that JSON.stringify writes as it would have written value. Nothing in the copy has a
 * prototype that a page can reach, so no `toJSON` of a page is called for it. Each own property of value is read once. A
 * toJSON counts where value or a class of the plugin has it. It throws for what JSON can't carry.
 */
export function plainCopy(value: unknown): unknown {
  return copyOf(value, '', undefined);
}

function copyOf(given: unknown, key: string, up: Above | undefined): unknown {
  if (typeof given === 'bigint') return rawInteger(given);
  if (!isObject(given)) return given;
  const value = isOrdinary(given) ? given : written(given, key);
  if (!isObject(value) || isFn(value) || isRawJson(value)) return value;
  const above = enter(value, up);
  return isArray(value) ? copyOfArray(value, above) : copyOfObject(value, above);
}

/** isOrdinary reports whether value is an object or array as a literal makes it, without a toJSON. */
function isOrdinary(value: object): boolean {
  const parent = getPrototypeOf(value);
  return (parent === ObjectPrototype || parent === ArrayPrototype || parent === null) && !hasOwn(value, 'toJSON');
}

/** written returns what JSON.stringify writes in the place of value. */
function written(value: object, key: string): unknown {
  const toJson = lookup(value, 'toJSON');
  const made = isFn(toJson) ? apply(toJson, value, [key]) : unboxed(value);
  return typeof made === 'bigint' ? rawInteger(made) : made;
}

/** unboxed returns what built-in classes have as their value; for others it returns value. */
function unboxed(value: object): unknown {
  for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) {
    try {
      switch (at) {
        case DatePrototype:
          return isFiniteNumber(apply(timeOfDate, value, [])) ? apply(dateToIsoString, value, []) : null;
        case UrlPrototype:
          return apply(hrefOfUrl, value, []);
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
      return value; // it has the class's prototype only
    }
  }
  return value;
}

function copyOfArray(value: readonly unknown[], above: Above): unknown {
  const made: unknown[] = [];
  // Before anything is put in: a setter on Array.prototype would get it.
  setPrototypeOf(made, plainPrototype);
  for (let i = 0; i < value.length; i++) made[i] = hasOwn(value, i) ? copyOf(value[i], `${i}`, above) : null;
  return made;
}

function copyOfObject(value: object, above: Above): unknown {
  const made: Record<string, unknown> = construct(Plain, []);
  const keys = keysOf(value);
  const from: Readonly<Record<string, unknown>> = isPlain(value) ? value : made;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== undefined) made[key] = copyOf(from[key], key, above);
  }
  return made;
}

/** isPlain has the compiler take any object for one with fields. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  return !isFn(value);
}

/** enter notes that value is being copied. It throws where a value contains itself, as JSON.stringify does. */
function enter(value: object, up: Above | undefined): Above {
  const depth = up === undefined ? 0 : up.depth + 1;
  for (let at = up; at !== undefined; at = at.up) {
    if (at.value === value) throw new NativeTypeError('it is circular: a value in it contains itself');
  }
  if (depth > MaxDepth) throw new NativeTypeError(`it is nested more than ${MaxDepth} levels deep`);
  return { value, depth, up };
}
