import {
  apply,
  findErrorKind,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  getSafeProperty,
  inheritsFromPromise,
  isFunction,
  isObject,
  listOwnKeys,
  MapPrototype,
  ObjectPrototype,
  ownKeys,
  SetPrototype,
  textIncludes,
} from './primordials.ts';

// Advice for plugin authors about common mistakes, for the plugin's log and for `opentabs plugin test`.

export function makeFailureHint(thrownValue: unknown, message: string): string {
  if (typeof thrownValue === 'string')
    return 'The tool threw a text, which has no stack trace and no code. Throw new ToolError(message, code) instead.';
  if (!isError(thrownValue))
    return 'The tool threw a value that is not an Error, so it has no stack trace and no code. Throw new ToolError(message, code) instead.';
  if (includesText(message, 'Failed to fetch') || includesText(message, 'NetworkError'))
    return 'The browser got no answer that the page may read: the server is unreachable, or the address has another origin and its server does not allow this page (CORS). Use an address that the site itself requests; the Network panel of DevTools lists them.';
  // Chrome's error message contains "mix BigInt"; the error message in a simulated page contains "convert bigint".
  if (includesText(message, 'mix BigInt') || includesText(message, 'convert bigint'))
    return 'A bigint and a number cannot be combined. Convert one of them: BigInt(value), or Number(value) if the bigint is small.';
  if (includesText(message, 'BigInt'))
    return 'JSON.stringify cannot write a bigint. Convert it with String(value), or return it: a result may contain a bigint.';
  if (includesText(message, 'circular structure') || includesText(message, 'circular reference'))
    return 'JSON.stringify cannot write an object that contains itself. Copy the fields that you need into a new object.';
  if (includesText(message, 'valid JSON') || includesText(message, 'nexpected token'))
    return includesText(message, '<')
      ? 'The answer is a web page (HTML), not JSON: often the page for logging in, or an address that does not exist. Check the address and response.ok, or use fetchJSON.'
      : 'The answer is not JSON. Check the address and response.ok, or use fetchJSON.';
  return '';
}

export function makeJsonLossHint(lostValue: object): string {
  if (isFunction(lostValue)) return 'is a function, which JSON leaves out. Call it, or leave it out.';
  if (inheritsFromPromise(lostValue) || isFunction(getSafeProperty(lostValue, 'then')))
    return 'is a promise, and the result has {} instead of its value. Add an await.';
  const nodeName = getSafeProperty(lostValue, 'nodeName');
  if (typeof nodeName === 'string' && typeof getSafeProperty(lostValue, 'nodeType') === 'number')
    return `is a DOM node (${nodeName}), which JSON cannot represent. Return its text or attributes, for example element.textContent.`;
  if (inheritsFrom(lostValue, MapPrototype))
    return 'is a Map, and the result has {} instead. Return Object.fromEntries(map) or [...map].';
  if (inheritsFrom(lostValue, SetPrototype)) return 'is a Set, and the result has {} instead. Return [...set].';
  if (findErrorKind(lostValue) !== '')
    return 'is an Error, and the result has {} instead. Return its message, or throw it.';
  return makeClassHint(lostValue);
}

function makeClassHint(lostValue: object): string {
  const prototype = getPrototypeOf(lostValue);
  if (prototype === null || prototype === ObjectPrototype) return '';
  const classFunction = getSafeProperty(prototype, 'constructor');
  const className = isObject(classFunction) ? getSafeProperty(classFunction, 'name') : undefined;
  const kind =
    typeof className === 'string' && className !== '' ? `an instance of ${className}` : 'an instance of a class';
  const getterNames = listGetterNames(prototype);
  if (getterNames !== '')
    return `is ${kind}: the result has its own fields, but not its getters (${getterNames}). Return a plain object with the fields that agents need.`;
  if (listOwnKeys(lostValue).length === 0)
    return `is ${kind} without public fields, and the result has {} instead. Return a plain object with the fields that agents need.`;
  return '';
}

function listGetterNames(prototype: object): string {
  const keys = ownKeys(prototype);
  let names = '';
  let count = 0;
  for (let i = 0; i < keys.length && count < 3; i++) {
    const key = keys[i];
    if (typeof key !== 'string' || key === '__proto__') continue;
    if (!isFunction(getOwnPropertyDescriptor(prototype, key)?.get)) continue;
    names += names === '' ? key : `, ${key}`;
    count++;
  }
  return names;
}

const outputTypesWithoutValue = 'void undefined any unknown optional default prefault catch';

export function makeMissingResultHint(outputSchema: unknown): string {
  const definition = isObject(outputSchema) ? getSafeProperty(outputSchema, 'def') : undefined;
  const type = isObject(definition) ? getSafeProperty(definition, 'type') : undefined;
  if (typeof type !== 'string' || includesText(outputTypesWithoutValue, type)) return '';
  return 'returned undefined, but the tool has an output schema. Is a return missing?';
}

function isError(thrownValue: unknown): boolean {
  if (!isObject(thrownValue)) return false;
  try {
    return findErrorKind(thrownValue) !== '' || typeof getSafeProperty(thrownValue, 'message') === 'string';
  } catch {
    return false; // reading a field of a revoked proxy throws
  }
}

function includesText(text: string, part: string): boolean {
  return apply(textIncludes, text, [part]) === true;
}

function inheritsFrom(lostValue: object, ancestorPrototype: object): boolean {
  let prototype = getPrototypeOf(lostValue);
  for (let depth = 0; depth < 64 && prototype !== null; depth++) {
    if (prototype === ancestorPrototype) return true;
    prototype = getPrototypeOf(prototype);
  }
  return false;
}
