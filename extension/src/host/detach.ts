import {
  ArrayPrototype,
  bare,
  dataProperty,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isFrozen,
  isObject,
  ObjectPrototype,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';

// An object literal inherits from the page's Object.prototype. A page that defines `limit` on this prototype would add
// a limit to every call, and a setter on this prototype would receive assigned values. Therefore arguments inherit from
// frozen copies of the standard methods, which the page cannot access unless a handler passes these copies on.

/**
 * MaxDepth limits how deep arguments are detached. JSON beyond this depth is rejected before the host receives the
 * arguments.
 */
const MaxDepth = 500;

const objectMethods = [
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
];
const detachedObject = copyOfPrototype(ObjectPrototype, objectMethods, null);
const detachedArray = copyOfPrototype(ArrayPrototype, ownKeys(ArrayPrototype), detachedObject);

/**
 * detach changes the plain objects and arrays in value, at any depth, to inherit from frozen copies of the standard
 * methods instead of the page's prototypes. Frozen objects are copied. Instances of other classes stay unchanged.
 */
export function detach(value: unknown): unknown {
  return detachBelow(value, 0);
}

function detachBelow(value: unknown, depth: number): unknown {
  if (!isObject(value) || depth > MaxDepth) return value;
  const parent = getPrototypeOf(value);
  if (parent !== ObjectPrototype && parent !== ArrayPrototype) return value;
  const copied = parent === ArrayPrototype ? detachedArray : detachedObject;
  if (setPrototypeOf(value, copied)) {
    detachFields(value, value, depth);
    return value;
  }
  const copy: object = isArray(value) ? [] : bare();
  setPrototypeOf(copy, copied);
  detachFields(value, copy, depth);
  return isFrozen(value) ? freeze(copy) : copy;
}

/** inheritDetached makes an object or array, with detached fields, inherit from the frozen copies. It returns the object. */
export function inheritDetached(object: object): object {
  setPrototypeOf(object, isArray(object) ? detachedArray : detachedObject);
  return object;
}

/** detachFields writes the detached fields of one object to another, which may be the same object. */
function detachFields(from: object, into: object, depth: number): void {
  const keys = ownKeys(from);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const found = getOwnPropertyDescriptor(from, key);
    if (found === undefined) continue;
    setPrototypeOf(found, null);
    if (hasOwn(found, 'value')) {
      const detached = detachBelow(found.value, depth + 1);
      if (from === into && detached === found.value) continue;
      defineProperty(found, 'value', dataProperty(detached));
    }
    if (from !== into || found.writable === true) defineProperty(into, key, found);
  }
}

/** copyOfPrototype returns a frozen copy of a prototype. copyOfPrototype runs before the first script of the page. */
function copyOfPrototype(prototype: object, keys: readonly PropertyKey[], parent: object | null): object {
  const copy = bare();
  setPrototypeOf(copy, parent);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const found = key === 'length' ? undefined : getOwnPropertyDescriptor(prototype, key);
    if (found === undefined) continue;
    setPrototypeOf(found, null);
    defineProperty(copy, key, found);
  }
  return freeze(copy);
}
