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

// Code that was not written for a hostile page, such as zod, looks up shared
// built-ins while it runs. A page that replaced one of them would see and
// change what the code works on. So the host runs it with the built-ins as
// they were at document_start, and then puts back what the page had made of
// them. The code must be synchronous: the page then notices nothing.

/** Snapshot is one shared object as it was at document_start. */
interface Snapshot {
  readonly name: string;
  readonly on: object;
  readonly parent: object | null;
  readonly keys: readonly PropertyKey[];
  /** descriptors are those of keys, without prototypes. */
  readonly descriptors: readonly PropertyDescriptor[];
  /** known has the keys as its own. */
  readonly known: object;
}

/** Change is one thing to put back; the changes are a list, the last one first. */
interface Change {
  readonly on: object;
  /** key is undefined where the prototype was changed. */
  readonly key: PropertyKey | undefined;
  /** found is the page's descriptor, or undefined where the page had deleted the property. */
  readonly found: PropertyDescriptor | undefined;
  readonly parent: object | null;
  readonly next: Change | undefined;
}

/** Failure says what could not be restored. */
interface Failure {
  readonly locked: string;
  readonly changes: Change | undefined;
}

const snapshots = takeSnapshots();
let running = false;

/**
 * withPristineBuiltIns runs synchronous code with the shared built-ins of the language as they were at document_start, and
 * returns what work returns. A call inside another one runs work as it is. If the page has locked a changed built-in, so
 * that nothing can restore it, work does not run and the result is that of refuse, which gets a sentence that says so.
 */
export function withPristineBuiltIns<T>(work: () => T, refuse: (why: string) => T): T {
  if (running) return work();
  const changes = restore();
  if (changes === undefined) return run(work);
  if ('locked' in changes) {
    putBack(changes.changes);
    return refuse(
      `a script of the page has replaced ${changes.locked} and locked it, so it could read and change the call`,
    );
  }
  try {
    return run(work);
  } finally {
    putBack(changes);
  }
}

function run<T>(work: () => T): T {
  running = true;
  try {
    return work();
  } finally {
    running = false;
  }
}

/** restore undoes what the page has changed and returns the changes, if there are any. */
function restore(): Change | Failure | undefined {
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
    if (!setPrototypeOf(on, snapshot.parent)) return failure(`the prototype of ${name}`, changes);
    changes = change(on, undefined, undefined, parent, changes);
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
    if (!defineProperty(on, key, wanted)) return failure(`${name}.${nameOf(key)}`, changes);
    changes = change(on, key, found, null, changes);
  }
  // As many may have been added as were deleted.
  return isMissing ? removeAdded(snapshot, ownKeys(on), changes) : changes;
}

/** removeAdded removes what the page has added. */
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
    if (deleteProperty(on, key)) changes = change(on, key, found, null, changes);
    else if (isHarmful(on, key)) return failure(`${name}.${nameOf(key)}`, changes);
  }
  return changes;
}

/**
 * isHarmful reports whether a locked property that a page added to a built-in can reach code that never asks for it by name.
 * Libraries lock methods that they add to Array.prototype and the like; those reach only code that calls them.
 */
function isHarmful(on: object, key: PropertyKey): boolean {
  if (on === ObjectPrototype || typeof key === 'symbol') return true;
  return key === 'toJSON' || key === 'then' || isIndex(`${key}`);
}

function isIndex(key: string): boolean {
  const first = key[0];
  return first !== undefined && first >= '0' && first <= '9';
}

function putBack(changes: Change | undefined): void {
  for (let at = changes; at !== undefined; at = at.next) {
    if (at.key === undefined) setPrototypeOf(at.on, at.parent);
    else if (at.found === undefined) deleteProperty(at.on, at.key);
    else defineProperty(at.on, at.key, at.found);
  }
}

function isUnchanged(found: PropertyDescriptor, wanted: PropertyDescriptor): boolean {
  // A descriptor has all its fields itself. One of the other kind lacks the fields, which the page may supply: so its kind
  // is compared first.
  if (hasOwn(wanted, 'value')) return hasOwn(found, 'value') && isSame(found.value, wanted.value);
  return hasOwn(found, 'get') && found.get === wanted.get && found.set === wanted.set;
}

function change(
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

function failure(locked: string, changes: Change | undefined): Failure {
  const made: Failure = { locked, changes };
  setPrototypeOf(made, null);
  return made;
}

function nameOf(key: PropertyKey): string {
  return typeof key === 'symbol' ? 'a symbol' : `${key}`;
}

/** takeSnapshots uses nothing that intact.ts has not compared: another page may have had this window before. */
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
  const take = (name: string, on: unknown) => {
    if (isObject(on)) defineProperty(taken, taken.length, dataProperty(snapshotOf(name, on)));
  };
  for (let i = 0; i < classes.length; i++) {
    const name = classes[i]?.[0] ?? '';
    take(name, classes[i]?.[1]);
    take(`${name}.prototype`, classes[i]?.[1].prototype);
  }
  take('the prototype of typed arrays', getPrototypeOf(Uint8Array.prototype));
  take('JSON', JSON);
  take('Math', Math);
  take('Reflect', Reflect);
  const list: object = [][Symbol.iterator]();
  take('the prototype of array iterators', getPrototypeOf(list));
  take('the prototype of iterators', getPrototypeOf(getPrototypeOf(list) ?? list));
  take('the prototype of map iterators', getPrototypeOf(apply(Map.prototype.entries, new Map(), [])));
  take('the prototype of set iterators', getPrototypeOf(new Set().values()));
  take('the prototype of string iterators', getPrototypeOf(''[Symbol.iterator]()));
  take('the prototype of matches', getPrototypeOf(apply(RegExp.prototype[Symbol.matchAll], /./g, [''])));
  const generator = getPrototypeOf(function* () {});
  take('the prototype of generator functions', generator);
  take('the prototype of generators', generator && getOwnPropertyDescriptor(generator, 'prototype')?.value);
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
