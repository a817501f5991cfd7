// Reads and changes the data that a page stores: localStorage, sessionStorage and IndexedDB.
import { PageFailure } from './failure.ts';

import type { PageContext } from './state.ts';
import type { StorageArguments, StorageResult } from './storage-operation.ts';

const MaxListedEntries = 200;
/** MaxValueChars is the maximum length of one part of a stored value, in UTF-16 code units. */
const MaxValueChars = 20_000;
const DatabaseTimeoutMs = 5000;

export async function runStorageOperation(args: StorageArguments, { signal }: PageContext): Promise<StorageResult> {
  if (args.area === 'indexeddb') return await runDatabaseAction(args, signal);
  if (args.database !== undefined || args.store !== undefined)
    throw new PageFailure('invalid_arguments', 'database and store are for the area indexeddb only.');
  return runAreaAction(args, getStorageArea(args.area));
}

function getStorageArea(storageArea: 'local' | 'session'): Storage {
  try {
    return storageArea === 'local' ? localStorage : sessionStorage;
  } catch {
    throw new PageFailure(
      'rejected',
      'The browser gives this page no storage: the page is sandboxed, or cookies are blocked.',
    );
  }
}

function runAreaAction(args: StorageArguments, storageArea: Storage): StorageResult {
  if (args.action === 'list') {
    const keys = Object.keys(storageArea).sort();
    return makeListPage(args, keys, (key) => formatEntry(key, storageArea.getItem(key) ?? ''));
  }
  const key = requireKey(args);
  const oldValue = storageArea.getItem(key);
  if (args.action === 'get') return oldValue === null ? notFound : makeValuePage(args, oldValue);
  if (args.action === 'delete') {
    storageArea.removeItem(key);
    return oldValue === null ? notFound : { found: true };
  }
  const value = requireValue(args);
  try {
    storageArea.setItem(key, value);
  } catch (error) {
    throw new PageFailure('rejected', `The browser did not store the value: ${describeError(error)}.`);
  }
  return { found: oldValue !== null };
}

const notFound: StorageResult = { found: false };

function requireKey({ key, action }: StorageArguments): string {
  if (key === undefined) throw new PageFailure('invalid_arguments', `The action ${action} needs a key.`);
  return key;
}

function requireValue({ value }: StorageArguments): string {
  if (value === undefined) throw new PageFailure('invalid_arguments', 'The action set needs a value.');
  return value;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

function formatEntry(key: string, value: string): string {
  return `${JSON.stringify(key)} ${formatLength(value)}`;
}

function formatLength(value: string): string {
  return value.length === 1 ? '1 character' : `${value.length} characters`;
}

function makeListPage<T>(
  { from = 0 }: StorageArguments,
  allEntries: readonly T[],
  formatEntryLine: (item: T) => string,
): StorageResult {
  const entryLines = allEntries.slice(from, from + MaxListedEntries).map(formatEntryLine);
  const next = from + MaxListedEntries;
  return { found: true, lines: entryLines, total: allEntries.length, ...(next < allEntries.length ? { next } : {}) };
}

function makeValuePage({ from = 0 }: StorageArguments, value: string): StorageResult {
  const next = from + MaxValueChars;
  const valuePart = value.slice(from, next);
  return { found: true, value: valuePart, total: value.length, ...(next < value.length ? { next } : {}) };
}

// ---- IndexedDB ----

async function runDatabaseAction(args: StorageArguments, signal: AbortSignal): Promise<StorageResult> {
  const names = (await indexedDB.databases()).flatMap(({ name }) => (name === undefined ? [] : [name])).sort();
  const { database: name, store: storeName, action } = args;
  if (name === undefined) {
    if (action !== 'list')
      throw new PageFailure('invalid_arguments', `The action ${action} needs a database and a store.`);
    return await listDatabases(args, names, signal);
  }
  // Check first whether the database exists, because opening a missing database would create the database.
  if (!names.includes(name))
    throw new PageFailure(
      'invalid_arguments',
      `There is no database ${JSON.stringify(name)}. List the databases first.`,
    );
  const database = await openDatabase(name, signal);
  try {
    if (storeName === undefined) {
      if (action !== 'list') throw new PageFailure('invalid_arguments', `The action ${action} needs a store.`);
      return makeListPage(args, await describeStores(database, signal), (line) => line);
    }
    if (!database.objectStoreNames.contains(storeName)) {
      const storeNames = [...database.objectStoreNames]
        .map((objectStoreName) => JSON.stringify(objectStoreName))
        .join(', ');
      throw new PageFailure(
        'invalid_arguments',
        `The database has no store ${JSON.stringify(storeName)}.`,
        `the stores: ${storeNames}`,
      );
    }
    return await runStoreAction(args, database, storeName, signal);
  } finally {
    database.close();
  }
}

async function openDatabase(name: string, signal: AbortSignal): Promise<IDBDatabase> {
  const request = indexedDB.open(name);
  // The page could have deleted the database since the check that the database exists.
  request.onupgradeneeded = () => request.transaction?.abort();
  const database = await awaitRequest(request, signal);
  database.onversionchange = () => database.close();
  return database;
}

async function listDatabases(
  args: StorageArguments,
  names: readonly string[],
  signal: AbortSignal,
): Promise<StorageResult> {
  const entryLines: string[] = [];
  for (const name of names) {
    const database = await openDatabase(name, signal);
    const storesText = await describeStores(database, signal).finally(() => database.close());
    entryLines.push(
      `database ${JSON.stringify(name)} ${storesText.length === 0 ? 'without stores' : storesText.join(', ')}`,
    );
  }
  return makeListPage(args, entryLines, (line) => line);
}

async function describeStores(database: IDBDatabase, signal: AbortSignal): Promise<string[]> {
  const entryLines: string[] = [];
  for (const name of database.objectStoreNames) {
    const objectStore = database.transaction(name, 'readonly').objectStore(name);
    const count = await awaitRequest(objectStore.count(), signal);
    entryLines.push(`store ${JSON.stringify(name)} (${count} ${count === 1 ? 'record' : 'records'})`);
  }
  return entryLines;
}

async function runStoreAction(
  args: StorageArguments,
  database: IDBDatabase,
  name: string,
  signal: AbortSignal,
): Promise<StorageResult> {
  const isWriteAction = args.action === 'set' || args.action === 'delete';
  const objectStore = database.transaction(name, isWriteAction ? 'readwrite' : 'readonly').objectStore(name);
  if (args.action === 'list') {
    const keys = await awaitRequest(objectStore.getAllKeys(), signal);
    const { from = 0 } = args;
    const values = new Map<number, unknown>();
    for (let i = from; i < Math.min(keys.length, from + MaxListedEntries); i++) {
      const key = keys[i];
      if (key !== undefined) values.set(i, await awaitRequest(objectStore.get(key), signal));
    }
    const entries = keys.map((key, i) => ({ key, i }));
    return makeListPage(args, entries, ({ key, i }) => `${toJSON(key)} ${formatLength(toJSON(values.get(i)))}`);
  }
  const { key, old: oldValue } = await findRecord(objectStore, requireKey(args), signal);
  if (args.action === 'get') return oldValue === undefined ? notFound : makeValuePage(args, toJSON(oldValue));
  if (args.action === 'delete') {
    await awaitRequest(objectStore.delete(key), signal);
    await awaitCommit(objectStore.transaction);
    return { found: oldValue !== undefined };
  }
  await putRecord(objectStore, key, parseJSON(requireValue(args)), signal);
  return { found: oldValue !== undefined };
}

async function putRecord(
  objectStore: IDBObjectStore,
  key: IDBValidKey,
  value: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { transaction, keyPath } = objectStore;
  let storedKey: IDBValidKey;
  try {
    // An object store with a key path reads the key from the value itself.
    storedKey = await awaitRequest(keyPath === null ? objectStore.put(value, key) : objectStore.put(value), signal);
    if (indexedDB.cmp(storedKey, key) !== 0) transaction.abort();
    else await awaitCommit(transaction);
  } catch (error) {
    throw new PageFailure('rejected', `The database did not store the value: ${describeError(error)}.`);
  }
  if (indexedDB.cmp(storedKey, key) !== 0)
    throw new PageFailure(
      'invalid_arguments',
      'The key differs from the key in the value, so nothing was stored. This store reads the key from the value.',
      `the key in the value: ${toJSON(storedKey)}, at ${JSON.stringify(keyPath)}`,
    );
}

/** A database can abort a transaction after its requests have succeeded, for example if the disk is full. */
async function awaitCommit(transaction: IDBTransaction): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('the database aborted the transaction'));
  });
}

/**
 * findRecord looks up the key first as a plain string, and then as JSON, because the action "list" shows other keys as
 * JSON.
 */
async function findRecord(
  objectStore: IDBObjectStore,
  text: string,
  signal: AbortSignal,
): Promise<{ key: IDBValidKey; old: unknown }> {
  const textKeyRecord: unknown = await awaitRequest(objectStore.get(text), signal);
  const parsed = parseJSON(text);
  const isKey = typeof parsed === 'number' || typeof parsed === 'string' || Array.isArray(parsed);
  if (textKeyRecord !== undefined || !isKey) return { key: text, old: textKeyRecord };
  try {
    return { key: parsed, old: await awaitRequest(objectStore.get(parsed), signal) };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'DataError') return { key: text, old: undefined };
    throw error;
  }
}

async function awaitRequest<T>(request: IDBRequest<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const rejectWithTimeout = () =>
      reject(new PageFailure('timeout', 'The database does not answer. The page may use it; try again.'));
    const timer = setTimeout(rejectWithTimeout, DatabaseTimeoutMs);
    const end = (settlePromise: () => void) => {
      clearTimeout(timer);
      settlePromise();
    };
    signal.addEventListener('abort', () => end(() => reject(signal.reason)), { once: true });
    request.onsuccess = () => end(() => resolve(request.result));
    request.onerror = () => end(() => reject(request.error ?? new Error('the request failed')));
  });
}

function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** toJSON converts a stored value to JSON text, and describes values without a JSON form, such as a Blob. */
function toJSON(value: unknown): string {
  const replacer = (_: string, nestedValue: unknown) => {
    if (typeof nestedValue === 'bigint') return `${nestedValue}n`;
    if (nestedValue instanceof Map) return { Map: [...nestedValue] };
    if (nestedValue instanceof Set) return { Set: [...nestedValue] };
    if (nestedValue instanceof Blob)
      return { [nestedValue instanceof File ? 'File' : 'Blob']: `${nestedValue.size} bytes`, type: nestedValue.type };
    if (nestedValue instanceof ArrayBuffer || ArrayBuffer.isView(nestedValue)) return { bytes: nestedValue.byteLength };
    return nestedValue;
  };
  try {
    return JSON.stringify(value, replacer) ?? 'undefined';
  } catch {
    return '"(a value with a cycle)"';
  }
}
