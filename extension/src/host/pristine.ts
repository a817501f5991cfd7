import {
  apply,
  bare,
  dataProperty,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isObject,
  isSame,
  ObjectPrototype,
  ownKeys,
  setPrototypeOf,
} from './primordials.ts';

// Libraries such as zod look up shared built-ins while they run. A page that replaces a built-in can read and change
// the values that the library processes. Therefore the host restores the built-ins of document_start, runs the code of
// the library, and then restores the changes of the page. The code must be synchronous, so that no code of the page
// runs in between.

/** Snapshot is the state of one shared object at document_start. */
interface Snapshot {
  readonly name: string;
  readonly on: object;
  readonly parent: object | null;
  readonly keys: readonly PropertyKey[];
  /** descriptors are the descriptors of keys, in the same order, without prototypes. */
  readonly descriptors: readonly PropertyDescriptor[];
  /** known has an own property for each key. */
  readonly known: object;
}

/** Change is one change of the page, to restore later. Changes form a linked list that begins with the last change. */
interface Change {
  readonly on: object;
  /** key is undefined for a changed prototype. */
  readonly key: PropertyKey | undefined;
  /** found is the page's descriptor; undefined if the page has deleted the property. */
  readonly found: PropertyDescriptor | undefined;
  readonly parent: object | null;
  readonly next: Change | undefined;
}

/** Failure has the name of a built-in that cannot be restored, and the changes that were undone before the failure. */
interface Failure {
  readonly locked: string;
  readonly changes: Change | undefined;
}

const snapshots = takeSnapshots();
let isRunning = false;

/**
 * withPristineBuiltIns runs synchronous code with the language built-ins of document_start, and returns the result of
 * work. A nested call of withPristineBuiltIns only runs work. If the page has changed and locked a built-in, the
 * built-in cannot be restored. In this case work does not run, refuse is called with the reason, and
 * withPristineBuiltIns returns the result of refuse.
 */
export function withPristineBuiltIns<T>(work: () => T, refuse: (why: string) => T): T {
  if (isRunning) return work();
  const changes = restoreBuiltIns();
  if (changes === undefined) return runMarked(work);
  if ('locked' in changes) {
    reapplyChanges(changes.changes);
    return refuse(
      `a script of the page has replaced ${changes.locked} and locked it, so it could read and change the call`,
    );
  }
  try {
    return runMarked(work);
  } finally {
    reapplyChanges(changes);
  }
}

function runMarked<T>(work: () => T): T {
  isRunning = true;
  try {
    return work();
  } finally {
    isRunning = false;
  }
}

/** restoreBuiltIns undoes all changes of the page and returns them. */
function restoreBuiltIns(): Change | Failure | undefined {
  let changes: Change | undefined;
  for (let i = 0; i < snapshots.length; i++) {
    const snapshot = snapshots[i];
    if (snapshot === undefined) continue;
    const done = restoreOne(snapshot, changes);
    if (done !== undefined && 'locked' in done) return done;
    changes = done;
  }
  return changes;
}

function restoreOne(snapshot: Snapshot, before: Change | undefined): Change | Failure | undefined {
  const { on, keys, descriptors, name } = snapshot;
  let changes = before;
  const parent = getPrototypeOf(on);
  if (parent !== snapshot.parent) {
    if (!setPrototypeOf(on, snapshot.parent)) return makeFailure(`the prototype of ${name}`, changes);
    changes = makeChange(on, undefined, undefined, parent, changes);
  }
  const now = ownKeys(on);
  if (now.length !== keys.length) {
    const removed = removeAdded(snapshot, now, changes);
    if (removed !== undefined && 'locked' in removed) return removed;
    changes = removed;
  }
  let isMissing = false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const wanted = descriptors[i];
    if (key === undefined || wanted === undefined) continue;
    const found = getOwnPropertyDescriptor(on, key);
    if (found === undefined) isMissing = true;
    else if (isUnchanged(found, wanted)) continue;
    else setPrototypeOf(found, null);
    if (!defineProperty(on, key, wanted)) return makeFailure(`${name}.${nameOf(key)}`, changes);
    changes = makeChange(on, key, found, null, changes);
  }
  // If the page deleted and added the same number of properties, the comparison of lengths did not detect the added
  // properties.
  return isMissing ? removeAdded(snapshot, ownKeys(on), changes) : changes;
}

/** removeAdded removes properties that the page has added. */
function removeAdded(
  { on, known, name }: Snapshot,
  now: readonly PropertyKey[],
  before: Change | undefined,
): Change | Failure | undefined {
  let changes = before;
  for (let i = 0; i < now.length; i++) {
    const key = now[i];
    if (key === undefined || hasOwn(known, key)) continue;
    const found = getOwnPropertyDescriptor(on, key);
    if (found === undefined) continue;
    setPrototypeOf(found, null);
    if (deleteProperty(on, key)) changes = makeChange(on, key, found, null, changes);
    else if (isHarmful(on, key)) return makeFailure(`${name}.${nameOf(key)}`, changes);
  }
  return changes;
}

/**
 * isHarmful reports whether a locked property that a page added to a built-in affects code that does not use its name.
 * Some libraries lock methods that they add to Array.prototype; such methods affect only code that calls them.
 */
function isHarmful(on: object, key: PropertyKey): boolean {
  if (on === ObjectPrototype || typeof key === 'symbol') return true;
  return key === 'toJSON' || key === 'then' || isIndex(`${key}`);
}

function isIndex(key: string): boolean {
  const first = key[0];
  return first !== undefined && first >= '0' && first <= '9';
}

function reapplyChanges(changes: Change | undefined): void {
  for (let at = changes; at !== undefined; at = at.next) {
    if (at.key === undefined) setPrototypeOf(at.on, at.parent);
    else if (at.found === undefined) deleteProperty(at.on, at.key);
    else defineProperty(at.on, at.key, at.found);
  }
}

function isUnchanged(found: PropertyDescriptor, wanted: PropertyDescriptor): boolean {
  // Checks the kind first (data or accessor), because a descriptor of the other kind lacks these fields, and a page may
  // define the fields on the prototype.
  if (hasOwn(wanted, 'value')) return hasOwn(found, 'value') && isSame(found.value, wanted.value);
  return hasOwn(found, 'get') && found.get === wanted.get && found.set === wanted.set;
}

function makeChange(
  on: object,
  key: PropertyKey | undefined,
  found: PropertyDescriptor | undefined,
  parent: object | null,
  next: Change | undefined,
): Change {
  const made: Change = { on, key, found, parent, next };
  setPrototypeOf(made, null);
  return made;
}

function makeFailure(locked: string, changes: Change | undefined): Failure {
  const made: Failure = { locked, changes };
  setPrototypeOf(made, null);
  return made;
}

function nameOf(key: PropertyKey): string {
  return typeof key === 'symbol' ? 'a symbol' : `${key}`;
}

/** takeSnapshots uses only built-ins that intact.ts has checked, because another page may have had this window before. */
function takeSnapshots(): readonly Snapshot[] {
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
  const taken: Snapshot[] = [];
  const add = (name: string, on: unknown) => {
    if (isObject(on)) defineProperty(taken, taken.length, dataProperty(snapshotOf(name, on)));
  };
  for (let i = 0; i < classes.length; i++) {
    const name = classes[i]?.[0] ?? '';
    add(name, classes[i]?.[1]);
    add(`${name}.prototype`, classes[i]?.[1].prototype);
  }
  add('the prototype of typed arrays', getPrototypeOf(Uint8Array.prototype));
  add('JSON', JSON);
  add('Math', Math);
  add('Reflect', Reflect);
  const list: object = [][Symbol.iterator]();
  add('the prototype of array iterators', getPrototypeOf(list));
  add('the prototype of iterators', getPrototypeOf(getPrototypeOf(list) ?? list));
  add('the prototype of map iterators', getPrototypeOf(apply(Map.prototype.entries, new Map(), [])));
  add('the prototype of set iterators', getPrototypeOf(new Set().values()));
  add('the prototype of string iterators', getPrototypeOf(''[Symbol.iterator]()));
  add('the prototype of matches', getPrototypeOf(apply(RegExp.prototype[Symbol.matchAll], /./g, [''])));
  const generator = getPrototypeOf(function* () {});
  add('the prototype of generator functions', generator);
  add('the prototype of generators', generator && getOwnPropertyDescriptor(generator, 'prototype')?.value);
  return taken;
}

function snapshotOf(name: string, on: object): Snapshot {
  const keys = ownKeys(on);
  const known = bare();
  const descriptors: PropertyDescriptor[] = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? '';
    const found: PropertyDescriptor = getOwnPropertyDescriptor(on, key) ?? dataProperty(undefined);
    setPrototypeOf(found, null);
    defineProperty(descriptors, i, dataProperty(found));
    known[key] = true;
  }
  return { name, on, parent: getPrototypeOf(on), keys, descriptors, known };
}
