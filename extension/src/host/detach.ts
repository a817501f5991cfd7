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
 * MaxDetachDepth limits the depth to which detachFromPagePrototypes processes nested arguments. JSON text that is
 * nested deeper than MaxDetachDepth is rejected before the arguments reach the host.
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
 * detachFromPagePrototypes makes plain objects and arrays, at any depth, inherit from frozen copies of the standard
 * prototypes. detachFromPagePrototypes replaces a frozen object with a copy. Instances of classes other than Object and
 * Array stay unchanged.
 */
export function detachFromPagePrototypes(pageValue: unknown): unknown {
  return copyDetached(pageValue, 0);
}

function copyDetached(pageValue: unknown, depth: number): unknown {
  if (!isObject(pageValue) || depth > MaxDetachDepth) return pageValue;
  const parent = getPrototypeOf(pageValue);
  if (parent !== ObjectPrototype && parent !== ArrayPrototype) return pageValue;
  const detachedPrototype = parent === ArrayPrototype ? detachedArrayPrototype : detachedObjectPrototype;
  if (setPrototypeOf(pageValue, detachedPrototype)) {
    copyDetachedFields(pageValue, pageValue, depth);
    return pageValue;
  }
  const detachedCopy: object = isArray(pageValue) ? [] : makeBareObject();
  setPrototypeOf(detachedCopy, detachedPrototype);
  copyDetachedFields(pageValue, detachedCopy, depth);
  return isFrozen(pageValue) ? freeze(detachedCopy) : detachedCopy;
}

/** The caller of setDetachedPrototype must already have detached the fields of the object or array. */
export function setDetachedPrototype(object: object): object {
  setPrototypeOf(object, isArray(object) ? detachedArrayPrototype : detachedObjectPrototype);
  return object;
}

function copyDetachedFields(sourceObject: object, targetObject: object, depth: number): void {
  const keys = ownKeys(sourceObject);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const sourceDescriptor = getOwnPropertyDescriptor(sourceObject, key);
    if (sourceDescriptor === undefined) continue;
    setPrototypeOf(sourceDescriptor, null);
    if (hasOwn(sourceDescriptor, 'value')) {
      const detachedValue = copyDetached(sourceDescriptor.value, depth + 1);
      if (sourceObject === targetObject && detachedValue === sourceDescriptor.value) continue;
      defineProperty(sourceDescriptor, 'value', dataProperty(detachedValue));
    }
    if (sourceObject !== targetObject || sourceDescriptor.writable === true)
      defineProperty(targetObject, key, sourceDescriptor);
  }
}

/** copyOfPrototype must run before the first script of the page. */
function copyOfPrototype(copyPrototype: object, keys: readonly PropertyKey[], parent: object | null): object {
  const detachedCopy = makeBareObject();
  setPrototypeOf(detachedCopy, parent);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const sourceDescriptor = key === 'length' ? undefined : getOwnPropertyDescriptor(copyPrototype, key);
    if (sourceDescriptor === undefined) continue;
    setPrototypeOf(sourceDescriptor, null);
    defineProperty(detachedCopy, key, sourceDescriptor);
  }
  return freeze(detachedCopy);
}
