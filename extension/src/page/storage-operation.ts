// Defines the arguments and the result of the page script operation `storage`.

export interface StorageArguments {
  readonly action: 'list' | 'get' | 'set' | 'delete';
  readonly area: 'local' | 'session' | 'indexeddb';
  /**
   * Without `database`, the action "list" of the operation `storage` returns the databases. Without `store`, the action
   * "list" of the operation `storage` returns the object stores of the database.
   */
  readonly database?: string;
  readonly store?: string;
  /** For IndexedDB, `key` is a string, or the JSON text of a number or an array. */
  readonly key?: string;
  readonly value?: string;
  readonly from?: number;
}

export interface StorageResult {
  readonly found: boolean;
  readonly lines?: readonly string[];
  readonly value?: string;
  readonly total?: number;
  /**
   * The field `next` is the position at which the next part of the list or value begins; absent after the last part.
   */
  readonly next?: number;
}
