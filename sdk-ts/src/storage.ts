import { log } from './log.ts';
import { withPristineBuiltIns } from './runtime/pristine.ts';
import { readMessage } from './runtime/value.ts';

type StorageKind = 'localStorage' | 'sessionStorage';

/** If the page deleted `localStorage` from its window, an invisible iframe gives access to the same data. */
function withStorage<T>(kind: StorageKind, callback: (storage: Storage) => T): T {
  const pageStorage: Storage | undefined = window[kind];
  if (pageStorage) return callback(pageStorage);
  const frame = document.createElement('iframe');
  frame.style.display = 'none';
  document.documentElement.append(frame);
  try {
    // The localStorage of a removed iframe is unusable, so `callback` runs before the iframe is removed.
    const frameStorage = frame.contentWindow?.[kind];
    if (!frameStorage) throw new Error(`this page has no ${kind}`);
    return callback(frameStorage);
  } finally {
    frame.remove();
  }
}

function readItem(kind: StorageKind, key: string): string | null {
  try {
    return withStorage(kind, (storage) => storage.getItem(key));
  } catch {
    return null;
  }
}

function changeStorage(kind: StorageKind, operation: string, callback: (storage: Storage) => void): void {
  try {
    withStorage(kind, callback);
  } catch (error) {
    log.warn(`${operation} failed: ${readMessage(error)}`);
  }
}

/** Returns an item of the page's localStorage, or null if the item or the storage does not exist. */
export function getLocalStorage(key: string): string | null {
  return readItem('localStorage', key);
}

/**
 * Sets an item of the page's localStorage. If localStorage is full or not available, logs a warning instead of
 * throwing.
 */
export function setLocalStorage(key: string, value: string): void {
  changeStorage('localStorage', `setLocalStorage(${key})`, (storage) => storage.setItem(key, value));
}

/** Removes an item of the page's localStorage. If localStorage is not available, logs a warning instead of throwing. */
export function removeLocalStorage(key: string): void {
  changeStorage('localStorage', `removeLocalStorage(${key})`, (storage) => storage.removeItem(key));
}

/** Returns an item of the tab's sessionStorage, or null if the item or the storage does not exist. */
export function getSessionStorage(key: string): string | null {
  return readItem('sessionStorage', key);
}

/**
 * Sets an item of the tab's sessionStorage. If sessionStorage is full or not available, logs a warning instead of
 * throwing.
 */
export function setSessionStorage(key: string, value: string): void {
  changeStorage('sessionStorage', `setSessionStorage(${key})`, (storage) => storage.setItem(key, value));
}

/**
 * Removes an item of the tab's sessionStorage. If sessionStorage is not available, logs a warning instead of throwing.
 */
export function removeSessionStorage(key: string): void {
  changeStorage('sessionStorage', `removeSessionStorage(${key})`, (storage) => storage.removeItem(key));
}

/**
 * Returns the first item of the page's localStorage for whose key `predicate` returns true, or null if there is none.
 */
export function findLocalStorageEntry(predicate: (key: string) => boolean): { key: string; value: string } | null {
  let storageEntries: { key: string; value: string }[] = [];
  try {
    storageEntries = withStorage('localStorage', listEntries);
  } catch {
    return null;
  }
  return storageEntries.find(({ key }) => predicate(key)) ?? null;
}

function listEntries(storage: Storage): { key: string; value: string }[] {
  const storageEntries: { key: string; value: string }[] = [];
  for (let i = 0; i < storage.length; i++) {
    const key = storage.key(i);
    const value = key === null ? null : storage.getItem(key);
    if (key !== null && value !== null) storageEntries.push({ key, value });
  }
  return storageEntries;
}

/**
 * Returns the value of a cookie from `document.cookie`, URI-decoded if possible, or null if there is no such cookie.
 * Cookies with the attribute HttpOnly are not in `document.cookie`.
 */
export function getCookie(name: string): string | null {
  const cookies = document.cookie;
  return withPristineBuiltIns(() => {
    const cookiePrefixes = [`${name}=`, `${encodeURIComponent(name)}=`];
    for (const cookie of cookies.split(';')) {
      const cookieText = cookie.trim();
      const prefix = cookiePrefixes.find((start) => cookieText.startsWith(start));
      if (prefix !== undefined) return decodeIfValid(cookieText.slice(prefix.length));
    }
    return null;
  });
}

function decodeIfValid(cookieText: string): string {
  try {
    return decodeURIComponent(cookieText);
  } catch {
    return cookieText;
  }
}
