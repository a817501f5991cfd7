// Defines the arguments and the result of the page script operation `storage`.

export interface StorageArguments {
  readonly action: 'list' | 'get' | 'set' | 'delete';
  readonly area: 'local' | 'session' | 'indexeddb';
  /**
   * `database` and `store` select an IndexedDB object store. Without `database`, the action "list" returns the
   * databases. Without `store`, the action "list" returns the object stores of the database.
   */
  readonly database?: string;
  readonly store?: string;
  /**
   * key is the key of the entry to read or change. For IndexedDB, the key is a string, or the JSON text of a number or
   * an array.
   */
  readonly key?: string;
  /** value is the new value of the entry; for IndexedDB, the value is JSON text. */
  readonly value?: string;
  /** from is the position at which the returned part of a list or value begins, 0 by default. */
  readonly from?: number;
}

export interface StorageResult {
  /** found is true if the storage area contained the entry before the operation. */
  readonly found: boolean;
  /** lines has one line per stored entry, with the entry's key and the size of its value. */
  readonly lines?: readonly string[];
  /** value is the requested part of the entry's value, which can be too long for one answer. */
  readonly value?: string;
  /** total is the number of all entries, or the number of characters in the complete value. */
  readonly total?: number;
  /** next is the position at which the next part of the list or value begins; absent after the last part. */
  readonly next?: number;
}
