import {
  apply,
  dataProperty,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isObject,
  isSame,
  makeBareObject,
  ObjectPrototype,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';

// Libraries such as zod look up shared built-in functions while they run. A page that replaces a built-in function can
// read and change the values that the library processes. The host restores the built-in functions of document_start,
// runs the library's code, and then reapplies the changes of the page. The library code must be synchronous, so that no
// code of the page runs with the restored built-in functions.

/** BuiltInSnapshot is the state of one built-in object at document_start. */
interface BuiltInSnapshot {
  readonly name: string;
  readonly object: object;
  readonly parent: object | null;
  readonly keys: readonly PropertyKey[];
  /**
   * The stored property descriptors have no prototype, so that fields on the page's Object.prototype have no effect.
   */
  readonly descriptors: readonly PropertyDescriptor[];
  readonly knownKeys: object;
}

/** The page's changes to built-in objects form a linked list, newest first. */
interface PageChange {
  readonly object: object;
  /**
   * The field `key` is the property that the page changed, or undefined if the page replaced the object's prototype.
   */
  readonly key: PropertyKey | undefined;
  /** pageDescriptor is the property descriptor that the page set; undefined if the page deleted the property. */
  readonly pageDescriptor: PropertyDescriptor | undefined;
  readonly parent: object | null;
  readonly next: PageChange | undefined;
}

interface RestoreFailure {
  readonly lockedName: string;
  readonly changes: PageChange | undefined;
}

const builtInSnapshots = takeSnapshots();
let isRunning = false;

/**
 * withPristineBuiltIns runs synchronous code with the built-in functions of document_start, and returns the result of
 * `work`. If `work` calls withPristineBuiltIns, the nested call runs its own function without restoring built-ins
 * again. A built-in cannot be restored if the page has changed and locked the built-in. If a built-in cannot be
 * restored, `work` does not run, and withPristineBuiltIns returns the result of refuse(reason).
 */
export function withPristineBuiltIns<T>(work: () => T, refuse: (why: string) => T): T {
  if (isRunning) return work();
  const changes = restoreBuiltIns();
  if (changes === undefined) return runExclusively(work);
  if ('lockedName' in changes) {
    reapplyPageChanges(changes.changes);
    return refuse(
      `a script of the page has replaced ${changes.lockedName} and locked it, so it could read and change the call`,
    );
  }
  try {
    return runExclusively(work);
  } finally {
    reapplyPageChanges(changes);
  }
}

function runExclusively<T>(work: () => T): T {
  isRunning = true;
  try {
    return work();
  } finally {
    isRunning = false;
  }
}

function restoreBuiltIns(): PageChange | RestoreFailure | undefined {
  let changes: PageChange | undefined;
  for (let i = 0; i < builtInSnapshots.length; i++) {
    const snapshot = builtInSnapshots[i];
    if (snapshot === undefined) continue;
    const result = restoreBuiltIn(snapshot, changes);
    if (result !== undefined && 'lockedName' in result) return result;
    changes = result;
  }
  return changes;
}

function restoreBuiltIn(
  snapshot: BuiltInSnapshot,
  previousChanges: PageChange | undefined,
): PageChange | RestoreFailure | undefined {
  const { object, keys, descriptors, name } = snapshot;
  let changes = previousChanges;
  const parent = getPrototypeOf(object);
  if (parent !== snapshot.parent) {
    if (!setPrototypeOf(object, snapshot.parent)) return makeRestoreFailure(`the prototype of ${name}`, changes);
    changes = makePageChange(object, undefined, undefined, parent, changes);
  }
  const currentKeys = ownKeys(object);
  if (currentKeys.length !== keys.length) {
    const result = removeAddedProperties(snapshot, currentKeys, changes);
    if (result !== undefined && 'lockedName' in result) return result;
    changes = result;
  }
  let isMissing = false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const originalDescriptor = descriptors[i];
    if (key === undefined || originalDescriptor === undefined) continue;
    const pageDescriptor = getOwnPropertyDescriptor(object, key);
    if (pageDescriptor === undefined) isMissing = true;
    else if (isUnchangedProperty(pageDescriptor, originalDescriptor)) continue;
    else setPrototypeOf(pageDescriptor, null);
    if (!defineProperty(object, key, originalDescriptor))
      return makeRestoreFailure(`${name}.${formatPropertyName(key)}`, changes);
    changes = makePageChange(object, key, pageDescriptor, null, changes);
  }
  // The page may have added properties even if the number of properties is unchanged.
  return isMissing ? removeAddedProperties(snapshot, ownKeys(object), changes) : changes;
}

function removeAddedProperties(
  { object, knownKeys, name }: BuiltInSnapshot,
  currentKeys: readonly PropertyKey[],
  previousChanges: PageChange | undefined,
): PageChange | RestoreFailure | undefined {
  let changes = previousChanges;
  for (let i = 0; i < currentKeys.length; i++) {
    const key = currentKeys[i];
    if (key === undefined || hasOwn(knownKeys, key)) continue;
    const pageDescriptor = getOwnPropertyDescriptor(object, key);
    if (pageDescriptor === undefined) continue;
    setPrototypeOf(pageDescriptor, null);
    if (deleteProperty(object, key)) changes = makePageChange(object, key, pageDescriptor, null, changes);
    else if (affectsHostCode(object, key)) return makeRestoreFailure(`${name}.${formatPropertyName(key)}`, changes);
  }
  return changes;
}

/**
 * affectsHostCode reports whether a locked property that the page added to a built-in affects code that does not use
 * it. Some libraries lock methods that they add to Array.prototype; such a method affects only code that calls it.
 */
function affectsHostCode(on: object, key: PropertyKey): boolean {
  if (on === ObjectPrototype || typeof key === 'symbol') return true;
  return key === 'toJSON' || key === 'then' || isIndex(`${key}`);
}

function isIndex(key: string): boolean {
  const first = key[0];
  return first !== undefined && first >= '0' && first <= '9';
}

function reapplyPageChanges(changes: PageChange | undefined): void {
  for (let change = changes; change !== undefined; change = change.next) {
    if (change.key === undefined) setPrototypeOf(change.object, change.parent);
    else if (change.pageDescriptor === undefined) deleteProperty(change.object, change.key);
    else defineProperty(change.object, change.key, change.pageDescriptor);
  }
}

function isUnchangedProperty(pageDescriptor: PropertyDescriptor, originalDescriptor: PropertyDescriptor): boolean {
  // isUnchangedProperty reads only own fields of a descriptor, because the page can define the missing fields on
  // Object.prototype.
  if (hasOwn(originalDescriptor, 'value'))
    return hasOwn(pageDescriptor, 'value') && isSame(pageDescriptor.value, originalDescriptor.value);
  return (
    hasOwn(pageDescriptor, 'get') &&
    pageDescriptor.get === originalDescriptor.get &&
    pageDescriptor.set === originalDescriptor.set
  );
}

function makePageChange(
  object: object,
  key: PropertyKey | undefined,
  pageDescriptor: PropertyDescriptor | undefined,
  parent: object | null,
  next: PageChange | undefined,
): PageChange {
  const change: PageChange = { object, key, pageDescriptor, parent, next };
  setPrototypeOf(change, null);
  return change;
}

function makeRestoreFailure(lockedName: string, changes: PageChange | undefined): RestoreFailure {
  const failure: RestoreFailure = { lockedName, changes };
  setPrototypeOf(failure, null);
  return failure;
}

function formatPropertyName(key: PropertyKey): string {
  return typeof key === 'symbol' ? 'a symbol' : `${key}`;
}

/**
 * takeSnapshots uses only built-in functions that intact.ts has checked, because an earlier page may have changed the
 * window's built-in functions.
 */
function takeSnapshots(): readonly BuiltInSnapshot[] {
  const classes: readonly (readonly [string, { readonly prototype: object }])[] = [
    ['Object', Object],
    ['Function', Function],
    ['Array', Array],
    ['String', String],
    ['Number', Number],
    ['Boolean', Boolean],
    ['Symbol', Symbol],
    ['BigInt', BigInt],
    ['RegExp', RegExp],
    ['Date', Date],
    ['Map', Map],
    ['Set', Set],
    ['WeakMap', WeakMap],
    ['WeakSet', WeakSet],
    ['Promise', Promise],
    ['Error', Error],
    ['TypeError', TypeError],
    ['RangeError', RangeError],
    ['SyntaxError', SyntaxError],
    ['URL', URL],
    ['URLSearchParams', URLSearchParams],
  ];
  const newSnapshots: BuiltInSnapshot[] = [];
  const addSnapshot = (name: string, object: unknown) => {
    if (isObject(object))
      defineProperty(newSnapshots, newSnapshots.length, dataProperty(takeBuiltInSnapshot(name, object)));
  };
  for (let i = 0; i < classes.length; i++) {
    const name = classes[i]?.[0] ?? '';
    addSnapshot(name, classes[i]?.[1]);
    addSnapshot(`${name}.prototype`, classes[i]?.[1].prototype);
  }
  addSnapshot('the prototype of typed arrays', getPrototypeOf(Uint8Array.prototype));
  addSnapshot('JSON', JSON);
  addSnapshot('Math', Math);
  addSnapshot('Reflect', Reflect);
  const arrayIterator: object = [][Symbol.iterator]();
  addSnapshot('the prototype of array iterators', getPrototypeOf(arrayIterator));
  addSnapshot('the prototype of iterators', getPrototypeOf(getPrototypeOf(arrayIterator) ?? arrayIterator));
  addSnapshot('the prototype of map iterators', getPrototypeOf(apply(Map.prototype.entries, new Map(), [])));
  addSnapshot('the prototype of set iterators', getPrototypeOf(new Set().values()));
  addSnapshot('the prototype of string iterators', getPrototypeOf(''[Symbol.iterator]()));
  addSnapshot('the prototype of matches', getPrototypeOf(apply(RegExp.prototype[Symbol.matchAll], /./g, [''])));
  const generator = getPrototypeOf(function* () {});
  addSnapshot('the prototype of generator functions', generator);
  addSnapshot('the prototype of generators', generator && getOwnPropertyDescriptor(generator, 'prototype')?.value);
  return newSnapshots;
}

function takeBuiltInSnapshot(name: string, object: object): BuiltInSnapshot {
  const keys = ownKeys(object);
  const known = makeBareObject();
  const descriptors: PropertyDescriptor[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor: PropertyDescriptor = getOwnPropertyDescriptor(object, key) ?? dataProperty(undefined);
    setPrototypeOf(descriptor, null);
    defineProperty(descriptors, i, dataProperty(descriptor));
    known[key] = true;
  }
  return { name, object, parent: getPrototypeOf(object), keys, descriptors, knownKeys: known };
}
