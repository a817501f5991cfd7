import { detachFromPage, setDetachedPrototype } from './detach.ts';
import { MaxSafeInteger } from './number.ts';
import {
  apply,
  construct,
  dataProperty,
  defineProperty,
  freeze,
  hasOwn,
  isArray,
  isFiniteNumber,
  isObject,
  lookup,
  makeBareObject,
  NativeWeakMap,
  ownKeys,
  weakMapGet,
  weakMapSet,
} from './primordials.ts';

// Running a schema's code is slow: the host first compares about a thousand built-in functions with their originals
// (pristine.ts). Most schemas are simple: objects of strings, numbers and arrays with limits. If a zod schema is
// simple, the host parses valid arguments itself, without running the code of the schema. The code of the schema runs
// only for invalid arguments, and for schemas that are not simple.

/** NotSimple is what a Parser returns for a value that only the code of the schema can handle. */
export const NotSimple: unknown = freeze(makeBareObject());

export type Parser = (value: unknown) => unknown;

type ValueCheck = (value: unknown) => boolean;

interface Field {
  readonly key: string;
  readonly parse: Parser;
  readonly isOptional: boolean;
}

/** Compilation limits how many nested schemas compileParser compiles, because a schema can contain itself. */
interface Compilation {
  remainingSchemas: number;
}
const MaxSchemas = 200;

/** The constant `parsers` maps each known schema to its parser, or to null if the schema is not simple. */
const parsers = construct(NativeWeakMap, []);

export function findParser(schema: object): Parser | undefined {
  const parser = apply(weakMapGet, parsers, [schema]);
  return isParser(parser) ? parser : undefined;
}

/** compileParser runs getters of the schema, so the caller must provide unmodified built-in functions. */
export function compileParser(schema: object): void {
  if (apply(weakMapGet, parsers, [schema]) !== undefined) return;
  apply(weakMapSet, parsers, [schema, null]); // The parser stays null if a getter of the schema throws.
  apply(weakMapSet, parsers, [schema, compileSchema(schema, { remainingSchemas: MaxSchemas }) ?? null]);
}

function isParser(value: unknown): value is Parser {
  return typeof value === 'function';
}

function compileSchema(schema: unknown, compilation: Compilation): Parser | undefined {
  const definition = readDefinition(schema);
  if (!definition || --compilation.remainingSchemas < 0 || lookup(definition, 'coerce') === true) return undefined;
  const isWithin = compileChecks(definition);
  const parse = compileType(definition, compilation);
  if (!isWithin || !parse) return undefined;
  return isWithin === passAlways ? parse : (value) => (isWithin(value) ? parse(value) : NotSimple);
}

function compileType(definition: object, compilation: Compilation): Parser | undefined {
  const compileMember = (name: string) => compileSchema(lookup(definition, name), compilation);
  switch (lookup(definition, 'type')) {
    case 'string':
      if (lookup(definition, 'format') !== undefined) return undefined;
      return (value) => (typeof value === 'string' ? value : NotSimple);
    case 'number':
      return (value) => (isFiniteNumber(value) ? value : NotSimple);
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : NotSimple);
    case 'enum':
      return compileEnum(lookup(definition, 'entries'));
    case 'array':
      return compileList(compileMember('element'));
    case 'object':
      return compileObject(definition, compilation);
    case 'nullable': {
      const parse = compileMember('innerType');
      return parse && ((value) => (value === null ? null : parse(value)));
    }
    case 'optional':
    case 'default':
      return compileMember('innerType');
    case 'unknown':
    case 'any':
      return detachFromPage;
    default:
      return undefined;
  }
}

/** readDefinition returns the definition that zod 4 stores in a schema or a check. */
function readDefinition(value: unknown): object | undefined {
  const internals = isObject(value) ? lookup(value, '_zod') : undefined;
  const definition = isObject(internals) ? lookup(internals, 'def') : undefined;
  return isObject(definition) ? definition : undefined;
}

function compileChecks(definition: object): ValueCheck | undefined {
  // In zod, the definition of an integer schema also has the form of a check.
  let test = lookup(definition, 'check') === undefined ? passAlways : compileCheck(definition);
  const checks = lookup(definition, 'checks');
  if (checks === undefined) return test;
  if (!isObject(checks) || !isArray(checks)) return undefined;
  for (let i = 0; i < checks.length; i++) {
    const check = readDefinition(lookup(checks, i));
    const next = check && compileCheck(check);
    const before = test;
    if (!next || !before) return undefined;
    test = before === passAlways ? next : (value) => before(value) && next(value);
  }
  return test;
}

const passAlways: ValueCheck = () => true;

function compileCheck(check: object): ValueCheck | undefined {
  const limit = (name: string): number => {
    const value = lookup(check, name);
    return typeof value === 'number' ? value : Number.NaN; // Every comparison with NaN is false.
  };
  const isInclusive = lookup(check, 'inclusive') === true;
  switch (lookup(check, 'check')) {
    case 'min_length': {
      const minimum = limit('minimum');
      return (value) =>
        readLength(value) >= minimum && (readLength(value) > 2 * (minimum - 1) || hasSameCodePointLength(value));
    }
    case 'max_length': {
      const maximum = limit('maximum');
      return (value) => readLength(value) <= maximum;
    }
    case 'length_equals': {
      const length = limit('length');
      return (value) => readLength(value) === length && hasSameCodePointLength(value);
    }
    case 'greater_than': {
      const bound = limit('value');
      return (value) => typeof value === 'number' && (value > bound || (isInclusive && value === bound));
    }
    case 'less_than': {
      const bound = limit('value');
      return (value) => typeof value === 'number' && (value < bound || (isInclusive && value === bound));
    }
    case 'number_format':
      return lookup(check, 'format') === 'safeint' ? isSafeInteger : undefined;
    default:
      return undefined;
  }
}

function readLength(value: unknown): number {
  return typeof value === 'string' || isArray(value) ? value.length : Number.NaN;
}

/** Some versions of zod measure a string in UTF-16 units, and other versions in code points. */
function hasSameCodePointLength(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  for (let i = 0; i < value.length; i++) {
    const unit = value[i] ?? '';
    if (unit >= '\ud800' && unit <= '\udfff') return false;
  }
  return true;
}

function isSafeInteger(value: unknown): boolean {
  return typeof value === 'number' && value % 1 === 0 && value <= MaxSafeInteger && value >= -MaxSafeInteger;
}

function compileEnum(entries: unknown): Parser | undefined {
  if (!isObject(entries)) return undefined;
  const allowedValues = makeBareObject();
  const keys = ownKeys(entries);
  for (let i = 0; i < keys.length; i++) {
    const value = lookup(entries, keys[i] ?? '');
    if (typeof value !== 'string') return undefined;
    allowedValues[value] = true;
  }
  return (value) => (typeof value === 'string' && allowedValues[value] === true ? value : NotSimple);
}

function compileList(parse: Parser | undefined): Parser | undefined {
  if (!parse) return undefined;
  return (value) => {
    if (!isArray(value)) return NotSimple;
    const list: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const item = parse(value[i]);
      if (item === NotSimple) return NotSimple;
      defineProperty(list, i, dataProperty(item));
    }
    return setDetachedPrototype(list);
  };
}

function compileObject(definition: object, compilation: Compilation): Parser | undefined {
  const shape = lookup(definition, 'shape');
  // The catchall of an object schema allows or rejects unknown fields. An object schema without a catchall drops
  // unknown fields.
  if (!isObject(shape) || lookup(definition, 'catchall') !== undefined) return undefined;
  const keys = ownKeys(shape);
  const fields: Field[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key !== 'string' || key === '__proto__') return undefined;
    const schema = lookup(shape, key);
    const parse = compileSchema(schema, compilation);
    if (!parse) return undefined;
    const field = { key, parse, isOptional: readType(schema) === 'optional' };
    defineProperty(fields, i, dataProperty(field));
  }
  return (value) => parseObject(fields, value);
}

function readType(schema: unknown): unknown {
  const definition = readDefinition(schema);
  return definition && lookup(definition, 'type');
}

function parseObject(fields: readonly Field[], value: unknown): unknown {
  if (!isObject(value) || isArray(value)) return NotSimple;
  const object = makeBareObject();
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i];
    if (!field) continue;
    const { key, parse, isOptional } = field;
    if (!hasOwn(value, key)) {
      if (isOptional) continue;
      return NotSimple; // the field is missing, or has a default
    }
    const parsed = parse(lookup(value, key));
    if (parsed === NotSimple) return NotSimple;
    object[key] = parsed;
  }
  return setDetachedPrototype(object);
}
