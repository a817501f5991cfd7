// The arguments and the result of the operation storage of operations.ts.

export interface StorageArguments {
  readonly action: 'list' | 'get' | 'set' | 'delete';
  readonly area: 'local' | 'session' | 'indexeddb';
  /** For indexeddb. Without a database, list returns the databases; without a store, list returns the stores. */
  readonly database?: string;
  readonly store?: string;
  /** The key of an entry; for indexeddb a text, or a number or a list in JSON. */
  readonly key?: string;
  /** For indexeddb, JSON. */
  readonly value?: string;
  /** Where the part of a list or of a value begins; default 0. */
  readonly from?: number;
}

export interface StorageResult {
  /** Whether the entry existed before. */
  readonly found: boolean;
  /** The keys with the sizes of their values. */
  readonly lines?: readonly string[];
  /** A part of the value. */
  readonly value?: string;
  /** The number of all entries, or of all characters of the value. */
  readonly total?: number;
  /** Where the next part begins; absent at the end. */
  readonly next?: number;
}
