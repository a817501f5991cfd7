import {
  ArrayPrototype,
  dataProperty,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isFrozen,
  isObject,
  makeBareObject,
  ObjectPrototype,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';

// An object literal inherits from the page's Object.prototype. If the page defined `limit` on Object.prototype, every
// call would have a limit, and a setter there would receive values that the host assigns. Arguments of calls inherit
// from frozen copies of the standard prototypes, which the page cannot change. The page cannot access the frozen copies
// of the standard prototypes unless a handler passes them to the page.

/**
 * MaxDetachDepth limits the depth to which detachFromPage processes nested arguments. JSON text that is nested deeper
 * than MaxDetachDepth is rejected before the arguments reach the host.
 */
const MaxDetachDepth = 500;

const objectMethods = [
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
];
const detachedObjectPrototype = copyOfPrototype(ObjectPrototype, objectMethods, null);
const detachedArrayPrototype = copyOfPrototype(ArrayPrototype, ownKeys(ArrayPrototype), detachedObjectPrototype);

/**
 * detachFromPage makes plain objects and arrays, at any depth, inherit from frozen copies of the standard prototypes.
 * detachFromPage replaces a frozen object with a copy. Instances of classes other than Object and Array stay unchanged.
 */
export function detachFromPage(pageValue: unknown): unknown {
  return detachToDepth(pageValue, 0);
}

function detachToDepth(pageValue: unknown, depth: number): unknown {
  if (!isObject(pageValue) || depth > MaxDetachDepth) return pageValue;
  const parent = getPrototypeOf(pageValue);
  if (parent !== ObjectPrototype && parent !== ArrayPrototype) return pageValue;
  const detachedPrototype = parent === ArrayPrototype ? detachedArrayPrototype : detachedObjectPrototype;
  if (setPrototypeOf(pageValue, detachedPrototype)) {
    copyDetachedFields(pageValue, pageValue, depth);
    return pageValue;
  }
  const copy: object = isArray(pageValue) ? [] : makeBareObject();
  setPrototypeOf(copy, detachedPrototype);
  copyDetachedFields(pageValue, copy, depth);
  return isFrozen(pageValue) ? freeze(copy) : copy;
}

/** The caller of setDetachedPrototype must already have detached the fields of the object or array. */
export function setDetachedPrototype(object: object): object {
  setPrototypeOf(object, isArray(object) ? detachedArrayPrototype : detachedObjectPrototype);
  return object;
}

function copyDetachedFields(sourceObject: object, into: object, depth: number): void {
  const keys = ownKeys(sourceObject);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor = getOwnPropertyDescriptor(sourceObject, key);
    if (descriptor === undefined) continue;
    setPrototypeOf(descriptor, null);
    if (hasOwn(descriptor, 'value')) {
      const detachedValue = detachToDepth(descriptor.value, depth + 1);
      if (sourceObject === into && detachedValue === descriptor.value) continue;
      defineProperty(descriptor, 'value', dataProperty(detachedValue));
    }
    if (sourceObject !== into || descriptor.writable === true) defineProperty(into, key, descriptor);
  }
}

/** copyOfPrototype must run before the first script of the page. */
function copyOfPrototype(prototype: object, keys: readonly PropertyKey[], parent: object | null): object {
  const copy = makeBareObject();
  setPrototypeOf(copy, parent);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor = key === 'length' ? undefined : getOwnPropertyDescriptor(prototype, key);
    if (descriptor === undefined) continue;
    setPrototypeOf(descriptor, null);
    defineProperty(copy, key, descriptor);
  }
  return freeze(copy);
}
