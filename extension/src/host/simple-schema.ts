import { detachFromPagePrototypes, setDetachedPrototype } from './detach.ts';
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

/** NotSimpleValue is the result of a ValueParser for a value that only the code of the schema can handle. */
export const NotSimpleValue: unknown = freeze(makeBareObject());

export type ValueParser = (value: unknown) => unknown;

type ValueCheck = (value: unknown) => boolean;

interface SchemaField {
  readonly key: string;
  readonly parseValue: ValueParser;
  readonly isOptional: boolean;
}

/** CompilationBudget limits how many nested schemas compileParser compiles, because a schema can contain itself. */
interface CompilationBudget {
  remainingSchemas: number;
}
const MaxSchemas = 200;

/** parserCache maps each known schema to its parser, or to null if the schema is not simple. */
const parserCache = construct(NativeWeakMap, []);

export function findParser(schema: object): ValueParser | undefined {
  const parser = apply(weakMapGet, parserCache, [schema]);
  return isParser(parser) ? parser : undefined;
}

/** compileParser runs getters of the schema, so the caller must provide unmodified built-in functions. */
export function compileParser(schema: object): void {
  if (apply(weakMapGet, parserCache, [schema]) !== undefined) return;
  apply(weakMapSet, parserCache, [schema, null]); // if a getter of the schema throws, the cache keeps null
  apply(weakMapSet, parserCache, [schema, compileSchema(schema, { remainingSchemas: MaxSchemas }) ?? null]);
}

function isParser(value: unknown): value is ValueParser {
  return typeof value === 'function';
}

function compileSchema(schema: unknown, compilationBudget: CompilationBudget): ValueParser | undefined {
  const schemaDefinition = readDefinition(schema);
  if (!schemaDefinition || --compilationBudget.remainingSchemas < 0 || lookup(schemaDefinition, 'coerce') === true)
    return undefined;
  const meetsConstraints = compileChecks(schemaDefinition);
  const parseValue = compileType(schemaDefinition, compilationBudget);
  if (!meetsConstraints || !parseValue) return undefined;
  return meetsConstraints === acceptAnyValue
    ? parseValue
    : (value) => (meetsConstraints(value) ? parseValue(value) : NotSimpleValue);
}

function compileType(schemaDefinition: object, compilationBudget: CompilationBudget): ValueParser | undefined {
  const compileSubschema = (name: string) => compileSchema(lookup(schemaDefinition, name), compilationBudget);
  switch (lookup(schemaDefinition, 'type')) {
    case 'string':
      if (lookup(schemaDefinition, 'format') !== undefined) return undefined;
      return (value) => (typeof value === 'string' ? value : NotSimpleValue);
    case 'number':
      return (value) => (isFiniteNumber(value) ? value : NotSimpleValue);
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : NotSimpleValue);
    case 'enum':
      return compileEnum(lookup(schemaDefinition, 'entries'));
    case 'array':
      return compileList(compileSubschema('element'));
    case 'object':
      return compileObject(schemaDefinition, compilationBudget);
    case 'nullable': {
      const parseValue = compileSubschema('innerType');
      return parseValue && ((value) => (value === null ? null : parseValue(value)));
    }
    case 'optional':
    case 'default':
      return compileSubschema('innerType');
    case 'unknown':
    case 'any':
      return detachFromPagePrototypes;
    default:
      return undefined;
  }
}

/** readDefinition returns the definition that zod 4 stores in a schema or a check. */
function readDefinition(value: unknown): object | undefined {
  const zodInternals = isObject(value) ? lookup(value, '_zod') : undefined;
  const schemaDefinition = isObject(zodInternals) ? lookup(zodInternals, 'def') : undefined;
  return isObject(schemaDefinition) ? schemaDefinition : undefined;
}

function compileChecks(schemaDefinition: object): ValueCheck | undefined {
  // In zod, the definition of an integer schema also has the form of a check.
  let checkValue = lookup(schemaDefinition, 'check') === undefined ? acceptAnyValue : compileCheck(schemaDefinition);
  const checkDefinitions = lookup(schemaDefinition, 'checks');
  if (checkDefinitions === undefined) return checkValue;
  if (!isObject(checkDefinitions) || !isArray(checkDefinitions)) return undefined;
  for (let i = 0; i < checkDefinitions.length; i++) {
    const checkDefinition = readDefinition(lookup(checkDefinitions, i));
    const nextCheck = checkDefinition && compileCheck(checkDefinition);
    const previousCheck = checkValue;
    if (!nextCheck || !previousCheck) return undefined;
    checkValue = previousCheck === acceptAnyValue ? nextCheck : (value) => previousCheck(value) && nextCheck(value);
  }
  return checkValue;
}

const acceptAnyValue: ValueCheck = () => true;

function compileCheck(checkDefinition: object): ValueCheck | undefined {
  const readLimit = (name: string): number => {
    const value = lookup(checkDefinition, name);
    // Every comparison with NaN is false, so a missing limit matches no number.
    return typeof value === 'number' ? value : Number.NaN;
  };
  const isInclusive = lookup(checkDefinition, 'inclusive') === true;
  switch (lookup(checkDefinition, 'check')) {
    case 'min_length': {
      const minimum = readLimit('minimum');
      return (value) =>
        readLength(value) >= minimum && (readLength(value) > 2 * (minimum - 1) || hasSameCodePointLength(value));
    }
    case 'max_length': {
      const maximum = readLimit('maximum');
      return (value) => readLength(value) <= maximum;
    }
    case 'length_equals': {
      const exactLength = readLimit('length');
      return (value) => readLength(value) === exactLength && hasSameCodePointLength(value);
    }
    case 'greater_than': {
      const limitValue = readLimit('value');
      return (value) => typeof value === 'number' && (value > limitValue || (isInclusive && value === limitValue));
    }
    case 'less_than': {
      const limitValue = readLimit('value');
      return (value) => typeof value === 'number' && (value < limitValue || (isInclusive && value === limitValue));
    }
    case 'number_format':
      return lookup(checkDefinition, 'format') === 'safeint' ? isSafeInteger : undefined;
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

function compileEnum(enumEntries: unknown): ValueParser | undefined {
  if (!isObject(enumEntries)) return undefined;
  const allowedValues = makeBareObject();
  const keys = ownKeys(enumEntries);
  for (let i = 0; i < keys.length; i++) {
    const value = lookup(enumEntries, keys[i] ?? '');
    if (typeof value !== 'string') return undefined;
    allowedValues[value] = true;
  }
  return (value) => (typeof value === 'string' && allowedValues[value] === true ? value : NotSimpleValue);
}

function compileList(parseValue: ValueParser | undefined): ValueParser | undefined {
  if (!parseValue) return undefined;
  return (value) => {
    if (!isArray(value)) return NotSimpleValue;
    const parsedItems: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const parsedItem = parseValue(value[i]);
      if (parsedItem === NotSimpleValue) return NotSimpleValue;
      defineProperty(parsedItems, i, dataProperty(parsedItem));
    }
    return setDetachedPrototype(parsedItems);
  };
}

function compileObject(schemaDefinition: object, compilationBudget: CompilationBudget): ValueParser | undefined {
  const objectShape = lookup(schemaDefinition, 'shape');
  // The catchall of an object schema allows or rejects unknown fields. An object schema without a catchall drops
  // unknown fields.
  if (!isObject(objectShape) || lookup(schemaDefinition, 'catchall') !== undefined) return undefined;
  const keys = ownKeys(objectShape);
  const schemaFields: SchemaField[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key !== 'string' || key === '__proto__') return undefined;
    const schema = lookup(objectShape, key);
    const parseValue = compileSchema(schema, compilationBudget);
    if (!parseValue) return undefined;
    const schemaField = { key, parseValue, isOptional: readType(schema) === 'optional' };
    defineProperty(schemaFields, i, dataProperty(schemaField));
  }
  return (value) => parseObject(schemaFields, value);
}

function readType(schema: unknown): unknown {
  const schemaDefinition = readDefinition(schema);
  return schemaDefinition && lookup(schemaDefinition, 'type');
}

function parseObject(schemaFields: readonly SchemaField[], value: unknown): unknown {
  if (!isObject(value) || isArray(value)) return NotSimpleValue;
  const parsedObject = makeBareObject();
  for (let i = 0; i < schemaFields.length; i++) {
    const schemaField = schemaFields[i];
    if (!schemaField) continue;
    const { key, parseValue, isOptional } = schemaField;
    if (!hasOwn(value, key)) {
      if (isOptional) continue;
      return NotSimpleValue; // the field is missing or has a default, so the code of the schema must run
    }
    const parsed = parseValue(lookup(value, key));
    if (parsed === NotSimpleValue) return NotSimpleValue;
    parsedObject[key] = parsed;
  }
  return setDetachedPrototype(parsedObject);
}
