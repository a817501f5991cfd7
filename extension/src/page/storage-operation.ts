// Defines the arguments and the result of the page script operation storage.

export interface StorageArguments {
  readonly action: 'list' | 'get' | 'set' | 'delete';
  readonly area: 'local' | 'session' | 'indexeddb';
  /**
   * database and store select an IndexedDB store. Without database, the action list returns the databases; without
   * store, it returns the stores.
   */
  readonly database?: string;
  readonly store?: string;
  /** key is the key of an entry. A key of IndexedDB is a text, or a number or a list in JSON. */
  readonly key?: string;
  /** value is the new value of the entry, for IndexedDB as JSON. */
  readonly value?: string;
  /** from is where the returned part of a list or of a value begins; 0 by default. */
  readonly from?: number;
}

export interface StorageResult {
  /** found reports whether the entry existed before the operation. */
  readonly found: boolean;
  /** lines contains the keys with the sizes of their values. */
  readonly lines?: readonly string[];
  /** value is one part of the stored value. */
  readonly value?: string;
  /** total is the number of all entries, or of all characters of the value. */
  readonly total?: number;
  /** next is the position of the next part; absent at the end. */
  readonly next?: number;
}
