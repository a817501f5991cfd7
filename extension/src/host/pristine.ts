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
  readonly builtInObject: object;
  readonly parent: object | null;
  readonly keys: readonly PropertyKey[];
  /**
   * The stored property descriptors have no prototype, so that fields on the page's Object.prototype have no effect.
   */
  readonly builtInDescriptors: readonly PropertyDescriptor[];
  readonly snapshotKeys: object;
}

/** The page's changes to built-in objects form a linked list, newest first. */
interface PageChange {
  readonly builtInObject: object;
  /** key is the property that the page changed, or undefined if the page replaced the object's prototype. */
  readonly key: PropertyKey | undefined;
  /** pageDescriptor is the property descriptor that the page set, or undefined if the page deleted the property. */
  readonly pageDescriptor: PropertyDescriptor | undefined;
  readonly parent: object | null;
  readonly nextChange: PageChange | undefined;
}

interface RestoreFailure {
  readonly lockedName: string;
  readonly changes: PageChange | undefined;
}

const builtInSnapshots = takeSnapshots();
let isRunning = false;

/**
 * withPristineBuiltIns runs synchronous code with the built-in functions of document_start, and returns the result of
 * `callback`. If `callback` calls withPristineBuiltIns, the nested call runs its callback without restoring built-ins
 * again. A built-in cannot be restored if the page has changed it and made it non-configurable. If a built-in cannot be
 * restored, `callback` does not run, and withPristineBuiltIns returns the result of onRestoreFailure(refusalReason).
 */
export function withPristineBuiltIns<T>(callback: () => T, onRestoreFailure: (refusalReason: string) => T): T {
  if (isRunning) return callback();
  const pageChanges = restoreBuiltIns();
  if (pageChanges === undefined) return runExclusively(callback);
  if ('lockedName' in pageChanges) {
    reapplyPageChanges(pageChanges.changes);
    return onRestoreFailure(
      `a script of the page has replaced ${pageChanges.lockedName} and locked it, so it could read and change the call`,
    );
  }
  try {
    return runExclusively(callback);
  } finally {
    reapplyPageChanges(pageChanges);
  }
}

function runExclusively<T>(callback: () => T): T {
  isRunning = true;
  try {
    return callback();
  } finally {
    isRunning = false;
  }
}

function restoreBuiltIns(): PageChange | RestoreFailure | undefined {
  let pageChanges: PageChange | undefined;
  for (let i = 0; i < builtInSnapshots.length; i++) {
    const snapshot = builtInSnapshots[i];
    if (snapshot === undefined) continue;
    const result = restoreBuiltIn(snapshot, pageChanges);
    if (result !== undefined && 'lockedName' in result) return result;
    pageChanges = result;
  }
  return pageChanges;
}

function restoreBuiltIn(
  snapshot: BuiltInSnapshot,
  previousChanges: PageChange | undefined,
): PageChange | RestoreFailure | undefined {
  const { builtInObject, keys, builtInDescriptors, name } = snapshot;
  let pageChanges = previousChanges;
  const parent = getPrototypeOf(builtInObject);
  if (parent !== snapshot.parent) {
    if (!setPrototypeOf(builtInObject, snapshot.parent))
      return makeRestoreFailure(`the prototype of ${name}`, pageChanges);
    pageChanges = makePageChange(builtInObject, undefined, undefined, parent, pageChanges);
  }
  const currentKeys = ownKeys(builtInObject);
  if (currentKeys.length !== keys.length) {
    const result = removeAddedProperties(snapshot, currentKeys, pageChanges);
    if (result !== undefined && 'lockedName' in result) return result;
    pageChanges = result;
  }
  let isMissing = false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const originalDescriptor = builtInDescriptors[i];
    if (key === undefined || originalDescriptor === undefined) continue;
    const pageDescriptor = getOwnPropertyDescriptor(builtInObject, key);
    if (pageDescriptor === undefined) isMissing = true;
    else if (isUnchangedProperty(pageDescriptor, originalDescriptor)) continue;
    else setPrototypeOf(pageDescriptor, null);
    if (!defineProperty(builtInObject, key, originalDescriptor))
      return makeRestoreFailure(`${name}.${formatPropertyName(key)}`, pageChanges);
    pageChanges = makePageChange(builtInObject, key, pageDescriptor, null, pageChanges);
  }
  // The page may have added properties even if the number of properties is unchanged.
  return isMissing ? removeAddedProperties(snapshot, ownKeys(builtInObject), pageChanges) : pageChanges;
}

function removeAddedProperties(
  { builtInObject, snapshotKeys, name }: BuiltInSnapshot,
  currentKeys: readonly PropertyKey[],
  previousChanges: PageChange | undefined,
): PageChange | RestoreFailure | undefined {
  let pageChanges = previousChanges;
  for (let i = 0; i < currentKeys.length; i++) {
    const key = currentKeys[i];
    if (key === undefined || hasOwn(snapshotKeys, key)) continue;
    const pageDescriptor = getOwnPropertyDescriptor(builtInObject, key);
    if (pageDescriptor === undefined) continue;
    setPrototypeOf(pageDescriptor, null);
    if (deleteProperty(builtInObject, key))
      pageChanges = makePageChange(builtInObject, key, pageDescriptor, null, pageChanges);
    else if (canChangeHostBehavior(builtInObject, key))
      return makeRestoreFailure(`${name}.${formatPropertyName(key)}`, pageChanges);
  }
  return pageChanges;
}

/**
 * canChangeHostBehavior reports whether a non-configurable property that the page added to a built-in can affect the
 * host's code. Some libraries add non-configurable methods to Array.prototype; such a method affects only code that
 * calls the method.
 */
function canChangeHostBehavior(changedObject: object, key: PropertyKey): boolean {
  if (changedObject === ObjectPrototype || typeof key === 'symbol') return true;
  return key === 'toJSON' || key === 'then' || startsWithDigit(`${key}`);
}

function startsWithDigit(key: string): boolean {
  const firstLetter = key[0];
  return firstLetter !== undefined && firstLetter >= '0' && firstLetter <= '9';
}

function reapplyPageChanges(pageChanges: PageChange | undefined): void {
  for (let pageChange = pageChanges; pageChange !== undefined; pageChange = pageChange.nextChange) {
    if (pageChange.key === undefined) setPrototypeOf(pageChange.builtInObject, pageChange.parent);
    else if (pageChange.pageDescriptor === undefined) deleteProperty(pageChange.builtInObject, pageChange.key);
    else defineProperty(pageChange.builtInObject, pageChange.key, pageChange.pageDescriptor);
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
  builtInObject: object,
  key: PropertyKey | undefined,
  pageDescriptor: PropertyDescriptor | undefined,
  parent: object | null,
  nextChange: PageChange | undefined,
): PageChange {
  const pageChange: PageChange = { builtInObject, key, pageDescriptor, parent, nextChange };
  setPrototypeOf(pageChange, null);
  return pageChange;
}

function makeRestoreFailure(lockedName: string, pageChanges: PageChange | undefined): RestoreFailure {
  const failure: RestoreFailure = { lockedName, changes: pageChanges };
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
  const builtInClasses: readonly (readonly [string, { readonly prototype: object }])[] = [
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
  const addSnapshot = (name: string, builtInObject: unknown) => {
    if (isObject(builtInObject))
      defineProperty(newSnapshots, newSnapshots.length, dataProperty(takeBuiltInSnapshot(name, builtInObject)));
  };
  for (let i = 0; i < builtInClasses.length; i++) {
    const name = builtInClasses[i]?.[0] ?? '';
    addSnapshot(name, builtInClasses[i]?.[1]);
    addSnapshot(`${name}.prototype`, builtInClasses[i]?.[1].prototype);
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

function takeBuiltInSnapshot(name: string, builtInObject: object): BuiltInSnapshot {
  const keys = ownKeys(builtInObject);
  const snapshotKeys = makeBareObject();
  const builtInDescriptors: PropertyDescriptor[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const descriptor: PropertyDescriptor = getOwnPropertyDescriptor(builtInObject, key) ?? dataProperty(undefined);
    setPrototypeOf(descriptor, null);
    defineProperty(builtInDescriptors, i, dataProperty(descriptor));
    snapshotKeys[key] = true;
  }
  return {
    name,
    builtInObject,
    parent: getPrototypeOf(builtInObject),
    keys,
    builtInDescriptors,
    snapshotKeys,
  };
}
